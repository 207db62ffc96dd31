import type { Bounded, SqlDialect } from '../../src/adapters/sql/core/dialect'

/** A dialect whose statements may read fewer entries; unchanged for a dialect without a limit. */
export const narrowed = (dialect: SqlDialect, limits: Partial<Pick<Bounded, 'entries' | 'metadata'>>): SqlDialect => ({
  ...dialect,
  bounded: dialect.bounded && { ...dialect.bounded, ...limits },
})
