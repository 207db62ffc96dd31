/** A test file once more in the same process, as a module of its own: there it plays on PostgreSQL. */
declare module '*?postgres' {}
