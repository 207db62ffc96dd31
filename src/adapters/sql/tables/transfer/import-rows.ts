import { type SQL, sql } from 'drizzle-orm'
import { isLong } from '../../../../domain/entry/long-text'
import type { Caller } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { IncomingEntry } from '../../../../domain/transfer/incoming'
import { addressesAgent } from '../../../../domain/trust/agent-directed'
import type { ImportedEntry, ImportedVersion } from '../../../../ports/import-store'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/rows'
import { inlineText } from '../texts/long-texts'

/** Imported records as JSON rows, which a statement reads as a table. */

const NUMBERS: ReadonlySet<string> = new Set(
  (
    'id version layer created_at updated_at work_item diary captured named_weight given_weight named_pinned given_pinned ' +
    'named_expires_at layer_expires_at archived accessed_at access_count bytes image_count text_words restored ' +
    'addresses_agent approved_version ' +
    'entry_id ended_at ended_version changed deleted size'
  ).split(' '),
)

type Cells = Readonly<Record<string, string | number | null>>

/** Returns the rows as tables `r` with typed columns, in groups that fit into a value. */
export function tables(
  dialect: SqlDialect,
  rows: readonly Cells[],
): { readonly names: readonly string[]; readonly from: SQL }[] {
  const names = Object.keys(rows[0] ?? {})
  const columns = Object.fromEntries(names.map((name) => [name, NUMBERS.has(name) ? 'integer' : 'text'] as const))
  return jsonGroups(rows.map((row) => names.map((name) => row[name] ?? null))).map((json) => ({
    names,
    from: sql`${dialect.jsonTable(sql`${json}`, columns)} r`,
  }))
}

export const columnsOf = (names: readonly string[]): SQL => sql.raw(names.join(', '))

export const valuesOf = (names: readonly string[]): SQL =>
  sql.raw(
    names
      .map((name) => (name === 'confidence' ? 'CAST(r.confidence AS double precision) AS confidence' : `r.${name}`))
      .join(', '),
  )

const linksJson = (links: ImportedVersion['state']['links']): string | null => {
  const named = links.filter(({ origin }) => origin === 'metadata').map(({ relation, to }) => [relation, to])
  return named.length === 0 ? null : JSON.stringify(named)
}

export const entryRow = ({ id, version, entry, links }: ImportedEntry, org: string): Cells => ({
  id,
  org,
  version,
  ...entry.columns,
  links: linksJson(links),
  text: inlineText(entry.text),
  text_words: 0,
  restored: 0,
  addresses_agent: Number(addressesAgent({ text: entry.text, title: (entry.columns.title ?? null) as string | null })),
  // People approve entries of one deployment; an imported entry needs a new approval.
  approved_by: null,
  approved_version: null,
})

export const longTexts = (org: string, states: readonly IncomingEntry[]): SQL[] =>
  [...new Map(states.filter(({ text }) => isLong(text)).map(({ textHash, text }) => [textHash, text]))].map(
    ([hash, text]) =>
      sql`INSERT INTO long_texts (org, hash, text) VALUES (${org}, ${hash}, ${text}) ON CONFLICT (org, hash) DO NOTHING`,
  )

/** Columns of an entry that a retained version does not have. */
const NOT_RETAINED = ['captured', 'accessed_at', 'access_count']

export function versionRow({ id, state }: ImportedVersion, org: string, next: string | null): Cells {
  const { ended, links, columns, textHash, text, bytes } = state
  const kept = Object.fromEntries(Object.entries(columns).filter(([name]) => !NOT_RETAINED.includes(name)))
  const own = next !== textHash
  const edges = links.filter(({ origin }) => origin !== 'metadata')
  const metadata = columns.metadata
  return {
    entry_id: id,
    org,
    version: state.version,
    ...kept,
    links: linksJson(links),
    text: own ? inlineText(text) : null,
    text_words: 0,
    restored: 0,
    ended_at: ended.at,
    ended_version: ended.version,
    changed: ended.changed,
    deleted: ended.deleted ? 1 : 0,
    ended_by: ended.by,
    ended_agent: ended.agent,
    change_id: ended.changeId,
    edges:
      ended.deleted && edges.length > 0
        ? JSON.stringify(edges.map(({ relation, to, origin }) => [id, relation, to, origin]))
        : null,
    size: own || ended.deleted ? bytes : typeof metadata === 'string' ? metadata.length : 0,
  }
}

/** Writes imported entries and their retained versions. */

/** Context of a batch of imported entries. Rows are one JSON value each, since a statement has few parameters. */
export interface Context {
  readonly dialect: SqlDialect
  readonly caller: Caller
  readonly now: Millis
}

/** Writes entries, replacing those with the same IDs. */
export function entryStatements({ dialect, caller }: Context, entries: readonly ImportedEntry[]): SQL[] {
  return tables(
    dialect,
    entries.map((one) => entryRow(one, caller.org)),
  ).map(({ names, from }) => {
    const replaced = names.filter((name) => name !== 'id' && name !== 'org').map((name) => `${name} = excluded.${name}`)
    return sql`INSERT INTO entries (${columnsOf(names)}) SELECT ${valuesOf(names)} FROM ${from} WHERE 1 = 1
      ON CONFLICT (id) DO UPDATE SET ${sql.raw(replaced.join(', '))}`
  })
}

/** Writes retained versions, except existing ones. Each statement returns the IDs of new rows. */
export function versionStatements({ dialect, caller }: Context, versions: readonly ImportedVersion[]): SQL[] {
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
