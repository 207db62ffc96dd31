import { type SQL, sql } from 'drizzle-orm'
import { isLong } from '../../../../domain/entry/long-text'
import type { Caller } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { TakenEntry, TakenVersion } from '../../../../ports/import-store'
import type { SqlDialect } from '../../core/dialect'
import { columnsOf, entryRow, tables, valuesOf, versionRow } from './import-rows'

/** Entries that come in and their kept states, written as rows. */

/** The statements of a batch of entries that come in: rows as one JSON value each, since a statement takes few parameters. */
export interface Context {
  readonly dialect: SqlDialect
  readonly caller: Caller
  readonly now: Millis
}

/** Writes rows of entries, in the place of those that stand under their ids. */
export function entryStatements({ dialect, caller }: Context, entries: readonly TakenEntry[]): SQL[] {
  return tables(
    dialect,
    entries.map((one) => entryRow(one, caller.org)),
  ).map(({ names, from }) => {
    const replaced = names.filter((name) => name !== 'id' && name !== 'org').map((name) => `${name} = excluded.${name}`)
    return sql`INSERT INTO entries (${columnsOf(names)}) SELECT ${valuesOf(names)} FROM ${from} WHERE 1 = 1
      ON CONFLICT (id) DO UPDATE SET ${sql.raw(replaced.join(', '))}`
  })
}

/** Kept states, but those that are there. Each returns the ids of new rows. */
export function versionStatements({ dialect, caller }: Context, versions: readonly TakenVersion[]): SQL[] {
  const sorted = versions.toSorted((a, b) => a.id - b.id || a.state.version - b.state.version)
  const rows = sorted.map((one, i) => {
    const next = sorted[i + 1]
    return versionRow(one, caller.org, next?.id === one.id && !isLong(one.state.text) ? next.state.textHash : null)
  })
  return tables(dialect, rows).map(
    ({ names, from }) => sql`
      INSERT INTO entry_versions (${columnsOf(names)}) SELECT ${valuesOf(names)} FROM ${from} WHERE 1 = 1
      ON CONFLICT (entry_id, version) DO NOTHING RETURNING id`,
  )
}
