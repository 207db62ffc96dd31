import type { Bounded, SqlDialect } from '../../src/adapters/sql/core/dialect'

/** The same database, whose statements may go through less; unchanged where they may go through any number. */
export const narrowed = (dialect: SqlDialect, limits: Partial<Pick<Bounded, 'entries' | 'metadata'>>): SqlDialect => ({
  ...dialect,
  bounded: dialect.bounded && { ...dialect.bounded, ...limits },
})
