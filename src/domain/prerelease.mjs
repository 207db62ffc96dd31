// Plain JavaScript, because the migration runner of PostgreSQL reads it in Node without types.

/** The first migration of 1.0.0-rc.1, which has another schema. No release migrates from it. */
const FIRST_OF_RC_1 = '0001_entries.sql'

/** Refuses a store of 1.0.0-rc.1. */
export const PRERELEASE_STORE =
  'This database was made by Commonplace 1.0.0-rc.1, whose schema later releases do not read: run `commonplace export` with that release, ' +
  'then `commonplace import` into an empty database'

/**
 * Whether 1.0.0-rc.1 made the store.
 *
 * @param {Iterable<string>} journal names of the migrations that were applied
 */
export const isPrerelease = (journal) => [...journal].includes(FIRST_OF_RC_1)
