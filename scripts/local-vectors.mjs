// The one place where tests, benches and the demo decide that their servers make vectors without a model: loading this module sets the
// environment that they inherit. A provider that is already set stays.
process.env.EMBEDDING_PROVIDER ||= 'local'
