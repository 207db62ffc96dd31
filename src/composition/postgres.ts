/** The adapters of PostgreSQL, which Workers on D1 do not load. */
export { createPostgresConnection, type PostgresOptions } from '../adapters/postgres/connection'
export { createPostgresDialect } from '../adapters/postgres/dialect'
export { createPostgresFullText } from '../adapters/postgres/full-text'
export { analyzingGrown, checkPostgresSchema } from '../adapters/postgres/schema'
export { createPostgresVectorIndex } from '../adapters/postgres/vector-index'
export { workerSocketsTo } from '../adapters/postgres/worker-socket'
