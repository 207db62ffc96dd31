import { type SQL, sql } from 'drizzle-orm'
import type { ImportBatch, TakenEntry } from '../../../../ports/import-store'
import { jsonGroups } from '../../core/json-groups'
import { changedSince } from '../changes/change-rows'
import { countedLater } from '../counts/counted-later'
import { keepMarksOf } from '../texts/text-marks'
import { insertVectorsOf } from '../vectors/insert-vectors'
import { rememberedStatements, waitingStatements } from './import-beside'
import { longTexts } from './import-rows'
import { type Context, entryStatements, versionStatements } from './import-states'

const queue = ({ dialect, now }: Context, topic: 'index' | 'embed', ids: readonly number[], due: number): SQL[] =>
  ids.length === 0
    ? []
    : [
        sql`INSERT INTO outbox (org, topic, key, created_at, due_at)
          SELECT e.org, ${topic}, CAST(e.id AS TEXT), ${now}, ${due} FROM entries e
          WHERE e.id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} AS given`)}
          ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = excluded.due_at`,
      ]

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
  const ofVersions = new Set(versions.map(({ id, state }) => `${id} ${state.version}`))
  const ofFile = JSON.stringify(ended.filter(([id, version]) => ofVersions.has(`${id} ${version}`)))
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
  const counting = countedLater(dialect, caller.org, entries.filter(({ replaces }) => replaces === null).length)
  return {
    before: [
      ...counting.before,
      ...entryStatements(context, entries),
      ...counting.after,
      ...longTexts(caller.org, states),
      ...keepMarksOf(
        dialect,
        entries.map(({ id, entry }) => ({ id, text: entry.text, textHash: entry.textHash })),
      ),
      ...(deleted.length === 0
        ? []
        : [sql`DELETE FROM entries WHERE org = ${caller.org} AND id ${ids(deleted.map(({ id }) => id))}`]),
      // How a state ended stands in the file too, more exactly than the import knows it.
      ...(ofVersions.size === 0
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
        WHERE ${dialect.plan.filterOnly(sql`org = ${caller.org}`)}
          AND seq ${dialect.plan.oneOf(sql`SELECT c.seq FROM changes c WHERE ${changedSince(dialect, caller.org, since)}`)}`,
    ],
  }
}

/** The writer makes words searchable right behind its commit; where it dies, the schedule does. */
const INDEXED_SOON = 60_000
