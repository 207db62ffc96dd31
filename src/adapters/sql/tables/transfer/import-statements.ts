import { type SQL, sql } from 'drizzle-orm'
import { isLong } from '../../../../domain/entry/long-text'
import type { Caller } from '../../../../domain/identity/scope'
import type { IncomingEntry } from '../../../../domain/transfer/incoming'
import type { ImportBatch, TakenEntry, TakenVersion } from '../../../../ports/import-store'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/json-groups'
import { changeable } from '../../core/visibility'
import { changedSince } from '../changes/change-rows'
import { heldInRow } from '../texts/long-texts'
import { keepMarksOf } from '../texts/text-marks'
import { insertVectorsOf } from '../vectors/insert-vectors'
import { rememberedStatements, waitingStatements } from './import-beside'

/** The statements of a batch of entries that come in: rows as one JSON value each, since a statement takes few parameters. */
interface Context {
  readonly dialect: SqlDialect
  readonly caller: Caller
  readonly now: number
}

const NUMBERS: ReadonlySet<string> = new Set(
  (
    'id version layer created_at updated_at work_item diary captured named_weight given_weight named_pinned given_pinned ' +
    'named_expires_at layer_expires_at archived accessed_at access_count bytes image_count text_words restored ' +
    'entry_id ended_at ended_version changed deleted size'
  ).split(' '),
)

type Cells = Readonly<Record<string, string | number | null>>

/** The rows as a table `r` of typed columns, in groups that fit into a value. */
function tables(
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

const columnsOf = (names: readonly string[]): SQL => sql.raw(names.join(', '))
const valuesOf = (names: readonly string[]): SQL =>
  sql.raw(
    names
      .map((name) => (name === 'confidence' ? 'CAST(r.confidence AS double precision) AS confidence' : `r.${name}`))
      .join(', '),
  )

const linksJson = (links: TakenVersion['state']['links']): string | null => {
  const named = links.filter(({ origin }) => origin === 'metadata').map(({ relation, to }) => [relation, to])
  return named.length === 0 ? null : JSON.stringify(named)
}

const entryRow = ({ id, version, entry, links }: TakenEntry, org: string): Cells => ({
  id,
  org,
  version,
  ...entry.columns,
  links: linksJson(links),
  text: heldInRow(entry.text),
  text_words: 0,
  restored: 0,
})

/** Writes rows of entries, in the place of those that stand under their ids. */
function entryStatements({ dialect, caller }: Context, entries: readonly TakenEntry[]): SQL[] {
  return tables(
    dialect,
    entries.map((one) => entryRow(one, caller.org)),
  ).map(({ names, from }) => {
    const replaced = names.filter((name) => name !== 'id' && name !== 'org').map((name) => `${name} = excluded.${name}`)
    return sql`INSERT INTO entries (${columnsOf(names)}) SELECT ${valuesOf(names)} FROM ${from} WHERE 1 = 1
      ON CONFLICT (id) DO UPDATE SET ${sql.raw(replaced.join(', '))}`
  })
}

const longTexts = (org: string, states: readonly IncomingEntry[]): SQL[] =>
  [...new Map(states.filter(({ text }) => isLong(text)).map(({ textHash, text }) => [textHash, text]))].map(
    ([hash, text]) =>
      sql`INSERT INTO long_texts (org, hash, text) VALUES (${org}, ${hash}, ${text}) ON CONFLICT (org, hash) DO NOTHING`,
  )

/** Columns of an entry that a kept state has not. */
const NOT_KEPT = ['captured', 'accessed_at', 'access_count']

function versionRow({ id, state }: TakenVersion, org: string, next: string | null): Cells {
  const { ended, links, columns, textHash, text, bytes } = state
  const kept = Object.fromEntries(Object.entries(columns).filter(([name]) => !NOT_KEPT.includes(name)))
  const own = next !== textHash
  const edges = links.filter(({ origin }) => origin !== 'metadata')
  const metadata = columns.metadata
  return {
    entry_id: id,
    org,
    version: state.version,
    ...kept,
    links: linksJson(links),
    text: own ? heldInRow(text) : null,
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

const queue = ({ dialect, now }: Context, topic: 'index' | 'embed', ids: readonly number[], due: number): SQL[] =>
  ids.length === 0
    ? []
    : [
        sql`INSERT INTO outbox (org, topic, key, created_at, due_at)
          SELECT e.org, ${topic}, CAST(e.id AS TEXT), ${now}, ${due} FROM entries e
          WHERE e.id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} AS given`)}
          ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = excluded.due_at`,
      ]

/** Refuses the batch unless what it replaces stands at its version and is the caller's to change, and nothing stands where it adds. */
export function importGuard({ dialect, caller }: Context, { entries, deleted }: ImportBatch): SQL {
  const replaced = [
    ...entries.flatMap(({ id, replaces }) => (replaces === null ? [] : [[id, replaces]])),
    ...deleted.map(({ id, version }) => [id, version]),
  ]
  const added = entries.filter(({ replaces }) => replaces === null).map(({ id }) => id)
  const expected = dialect.jsonTable(sql`${JSON.stringify(replaced)}`, { id: 'integer', version: 'integer' })
  return sql`INSERT INTO guards (holds) SELECT (SELECT count(*) FROM ${expected} expected
      ${dialect.plan.follow('entries', 'e', sql`e.id = expected.id`)}
      WHERE e.version = expected.version AND ${changeable(dialect, caller, 0)}) = ${replaced.length}
    AND NOT EXISTS (SELECT 1 FROM entries e
      WHERE e.id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(added)}`)} AS added`)})`
}

/** Links that no metadata name. */
function linkStatements({ dialect, caller }: Context, entries: readonly TakenEntry[]): SQL[] {
  const rows = entries.flatMap(({ id, links }) =>
    links.filter(({ origin }) => origin !== 'metadata').map(({ relation, to, origin }) => [id, relation, to, origin]),
  )
  const replaced = JSON.stringify(entries.filter(({ replaces }) => replaces !== null).map(({ id }) => id))
  const columns = { from_id: 'integer', relation: 'text', to_id: 'integer', origin: 'text' } as const
  return [
    sql`DELETE FROM links WHERE org = ${caller.org} AND origin <> 'metadata'
      AND from_id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${replaced}`)} AS given`)}`,
    ...jsonGroups(rows).map(
      (json) => sql`INSERT INTO links (org, from_id, relation, to_id, origin)
        SELECT ${caller.org}, r.from_id, r.relation, r.to_id, r.origin
        FROM ${dialect.jsonTable(sql`${json}`, columns)} r WHERE 1 = 1 ON CONFLICT DO NOTHING`,
    ),
  ]
}

/** Everything of a batch of entries but its guards, its audit row and what depends on images. */
export function takeStatements(
  context: Context,
  batch: ImportBatch,
  since: SQL,
): {
  readonly before: readonly SQL[]
  readonly versions: readonly SQL[]
  readonly after: readonly SQL[]
} {
  const { dialect, caller, now } = context
  const { entries, deleted, versions, vectors } = batch
  const ids = (list: readonly number[]) =>
    dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(list)}`)} AS given`)
  const states = [...entries.map(({ entry }) => entry), ...versions.map(({ state }) => state)]
  const ended = [
    ...entries.flatMap(({ id, replaces }) => (replaces === null ? [] : [[id, replaces]])),
    ...deleted.map(({ id, version }) => [id, version]),
  ]
  const told = new Set(versions.map(({ id, state }) => `${id} ${state.version}`))
  const ofFile = JSON.stringify(ended.filter(([id, version]) => told.has(`${id} ${version}`)))
  const anew = entries.filter(
    ({ vectors: made, queueVectors, replaces }) => replaces !== null && (made !== null || queueVectors),
  )
  const given = [
    ...entries.flatMap(({ id, version, vectors: made }) => (made === null ? [] : [{ id, version, vectors: made }])),
    ...vectors,
  ]
  const embed = entries.filter(({ queueVectors }) => queueVectors).map(({ id }) => id)
  const owners = [
    ...new Set(states.flatMap(({ columns }) => (typeof columns.owner === 'string' ? [columns.owner] : []))),
  ]
  return {
    before: [
      ...entryStatements(context, entries),
      ...longTexts(caller.org, states),
      ...keepMarksOf(
        dialect,
        entries.map(({ id, entry }) => ({ id, text: entry.text, textHash: entry.textHash })),
      ),
      ...(deleted.length === 0
        ? []
        : [sql`DELETE FROM entries WHERE org = ${caller.org} AND id ${ids(deleted.map(({ id }) => id))}`]),
      // How a state ended stands in the file too, more exactly than the import knows it.
      ...(told.size === 0
        ? []
        : [
            sql`DELETE FROM entry_versions WHERE id ${dialect.plan.oneOf(sql`SELECT v.id
              FROM ${dialect.jsonTable(sql`${ofFile}`, { id: 'integer', version: 'integer' })} r
              ${dialect.plan.follow('entry_versions', 'v', sql`v.entry_id = r.id AND v.version = r.version`)}`)}`,
            ...longTexts(caller.org, states),
          ]),
    ],
    versions: versions.length === 0 ? [] : versionStatements(context, versions),
    after: [
      ...(entries.length === 0
        ? []
        : [
            ...linkStatements(context, entries),
            ...waitingStatements(context, batch),
            sql`DELETE FROM dangling_links WHERE entry_id ${ids(entries.map(({ id }) => id))}`,
            ...entries.filter(({ replaces }) => replaces !== null).map(({ id }) => dialect.unindexEntry(id)),
          ]),
      ...(anew.length === 0 ? [] : [sql`DELETE FROM entry_vectors WHERE entry_id ${ids(anew.map(({ id }) => id))}`]),
      ...insertVectorsOf(dialect, given),
      ...(vectors.length === 0
        ? []
        : [
            sql`DELETE FROM outbox WHERE org = ${caller.org} AND topic = 'embed' AND state = 'pending'
              AND key ${dialect.among(sql`${JSON.stringify(vectors.map(({ id }) => String(id)))}`)}`,
          ]),
      ...queue(
        context,
        'index',
        entries.map(({ id }) => id),
        now + INDEXED_SOON,
      ),
      ...queue(context, 'embed', embed, now),
      ...rememberedStatements(context, batch),
      ...(owners.length === 0
        ? []
        : [
            sql`INSERT INTO owners (org, name) SELECT ${caller.org}, value FROM ${dialect.jsonRows(sql`${JSON.stringify(owners)}`)} AS given
              WHERE 1 = 1 ON CONFLICT DO NOTHING`,
          ]),
      // The feed tells what happened here and now, whenever the entries were written.
      sql`UPDATE changes SET at = ${now}, key_id = ${caller.keyId}
        WHERE seq ${dialect.plan.oneOf(sql`SELECT c.seq FROM changes c WHERE ${changedSince(dialect, caller.org, since)}`)}`,
    ],
  }
}

/** The writer makes words searchable right behind its commit; where it dies, the schedule does. */
const INDEXED_SOON = 60_000
