import { type SQL, sql } from 'drizzle-orm'
import type { JsonObject, JsonValue } from '../../../../domain/entry/metadata'
import { jsonText } from '../../../../domain/json/write'
import { utf8Length } from '../../../../domain/text'
import { withIds } from '../../../../domain/transfer/content'
import { parseKept } from '../../../../domain/transfer/line'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { readByAllOf } from '../../core/visibility'

/** Links of imported entries to entries of a later batch are made when these arrive. */

/** Entries of which one batch lets links follow. */
const AT_ONCE = 100

/**
 * References to what has come, of some entries, with these as they stand where nobody has changed them since.
 *
 * @param theirs a JSON list of what has come
 */
export const settledStatement = (dialect: SqlDialect, org: string, store: string, theirs: string): SQL => {
  // Of those that came under this id: one by the same hand, or one whose readers are the waiting entry's, or everybody.
  const come = sql`SELECT max(m.entry_id) FROM imported m
    WHERE m.org = ${org} AND m.store = ${store} AND m.their_id = w.their_id AND m.version > 0 AND (
      EXISTS (SELECT 1 FROM imported o WHERE o.entry_id = w.entry_id AND o.org = ${org} AND o.owner = m.owner)
      OR EXISTS (SELECT 1 FROM entries t WHERE t.id = m.entry_id AND ${readByAllOf('t', sql`w.entry_id`)}))`
  const untouched = sql`EXISTS (SELECT 1 FROM imported o WHERE o.entry_id = e.id AND o.org = ${org} AND o.version = e.version)`
  return sql`
    SELECT w.entry_id, w.their_id, w.relation, w.origin, (${come}) AS to_id, e.version, e.metadata, e.links, e.bytes
    FROM (
      SELECT DISTINCT w.entry_id FROM import_references w
      WHERE w.org = ${org} AND w.store = ${store} AND w.their_id ${dialect.among(sql`${theirs}`)} AND (${come}) IS NOT NULL
      ORDER BY w.entry_id LIMIT ${AT_ONCE}
    ) heads
    ${dialect.plan.follow('import_references', 'w', sql`w.entry_id = heads.entry_id AND w.org = ${org} AND w.store = ${store}`)}
    ${dialect.plan.followLeft('entries', 'e', sql`e.id = w.entry_id AND e.org = ${org} AND ${untouched}`)}
    WHERE (${come}) IS NOT NULL
    ORDER BY w.entry_id`
}

interface Settled {
  readonly statements: SQL[]
  readonly links: number
  readonly entries: number
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Ids as they were told, a text as a text. */
const mapped = (metadata: JsonObject, ours: ReadonlyMap<string, number>): JsonObject =>
  withIds(metadata, (id): JsonValue => {
    const here = ours.get(String(id))
    return here === undefined ? id : typeof id === 'string' ? String(here) : here
  })

export function settlements(dialect: SqlDialect, org: string, store: string, rows: readonly Row[]): Settled {
  const statements: SQL[] = []
  let links = 0
  const groups = Map.groupBy(rows, (row) => Number(row.entry_id))
  for (const [id, all] of groups) {
    const [first] = all
    if (first?.version !== null && first?.version !== undefined) {
      const ours = new Map(all.map((row) => [String(row.their_id), Number(row.to_id)]))
      const before: unknown = typeof first.metadata === 'string' ? parseKept(first.metadata) : null
      const after = isObject(before) ? mapped(before, ours) : null
      const old = typeof first.metadata === 'string' ? first.metadata : ''
      const text = after === null ? null : jsonText(after)
      const known: unknown = typeof first.links === 'string' ? JSON.parse(first.links) : []
      const named = all
        .filter(({ origin }) => origin === 'metadata')
        .map(({ relation, to_id: to }): [string, number] => [String(relation), Number(to)])
      const both = [...(Array.isArray(known) ? known : []), ...named]
      const bytes = Number(first.bytes) - utf8Length(old) + utf8Length(text ?? '')
      statements.push(
        sql`UPDATE entries SET metadata = ${text}, links = ${both.length === 0 ? null : JSON.stringify(both)}, bytes = ${bytes}
          WHERE id = ${id} AND org = ${org} AND version = ${Number(first.version)}`,
      )
      for (const { relation, to_id: to, origin } of all) {
        if (relation === '') continue
        links++
        if (origin === 'metadata') continue
        statements.push(
          sql`INSERT INTO links (org, from_id, relation, to_id, origin)
            SELECT e.org, e.id, ${String(relation)}, ${Number(to)}, ${String(origin)} FROM entries e WHERE e.id = ${id} AND e.org = ${org}
            ON CONFLICT DO NOTHING`,
        )
      }
    }
    const done = JSON.stringify([...new Set(all.map((row) => String(row.their_id)))])
    statements.push(doneStatement(dialect, org, store, id, done))
  }
  return { statements, links, entries: groups.size }
}

const doneStatement = (dialect: SqlDialect, org: string, store: string, id: number, theirs: string): SQL =>
  sql`DELETE FROM import_references WHERE org = ${org} AND store = ${store} AND entry_id = ${id}
    AND their_id ${dialect.among(sql`${theirs}`)}`
