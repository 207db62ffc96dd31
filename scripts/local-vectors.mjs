// Makes the servers of tests, benches and the demo compute vectors without a model: loading this module sets the
// environment that they inherit. A configured provider is not changed.
process.env.EMBEDDING_PROVIDER ||= 'local'
