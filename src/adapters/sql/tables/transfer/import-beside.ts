import { type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../../../../domain/identity/scope'
import type { ImportBatch } from '../../../../ports/import-store'
import type { SqlDialect } from '../../core/dialect'
import { jsonGroups } from '../../core/json-groups'
import { keeperOf } from './import-memory'

/** The rows that belong to imported entries. */
interface Context {
  readonly dialect: SqlDialect
  readonly caller: Caller
}

/** What is remembered of what came. */
export function rememberedStatements({ dialect, caller }: Context, batch: ImportBatch): SQL[] {
  const rows = [
    ...batch.entries.map(({ theirId, id, version }) => [theirId, id, version]),
    ...batch.gone.map(({ theirId, id, version }) => [theirId, id, version]),
  ]
  const columns = { their_id: 'text', entry_id: 'integer', version: 'integer' } as const
  return jsonGroups(rows).map(
    (json) => sql`
      INSERT INTO imported (org, store, their_id, owner, entry_id, version, at)
      SELECT ${caller.org}, ${batch.store}, r.their_id,
        coalesce((SELECT m.owner FROM imported m WHERE m.org = ${caller.org} AND m.store = ${batch.store}
          AND m.their_id = r.their_id AND m.entry_id = r.entry_id ORDER BY m.owner LIMIT 1), ${keeperOf(caller)}),
        r.entry_id, r.version, ${batch.at}
      FROM ${dialect.jsonTable(sql`${json}`, columns)} r WHERE 1 = 1
      ON CONFLICT (org, store, their_id, owner) DO UPDATE
        SET entry_id = excluded.entry_id, version = excluded.version,
          at = CASE WHEN excluded.at > imported.at THEN excluded.at ELSE imported.at END`,
  )
}

/** What entries say of ones that have not come, in the place of what they said before. */
export function waitingStatements({ dialect, caller }: Context, { store, entries }: ImportBatch): SQL[] {
  const rows = entries.flatMap(({ id, waiting }) =>
    waiting.map(({ theirId, link }) => [theirId, id, link?.relation ?? '', link?.origin ?? '']),
  )
  const columns = { their_id: 'text', entry_id: 'integer', relation: 'text', origin: 'text' } as const
  const ids = JSON.stringify(entries.map(({ id }) => id))
  return [
    sql`DELETE FROM import_references
      WHERE entry_id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${ids}`)} AS given`)}`,
    ...jsonGroups(rows).map(
      (json) => sql`
        INSERT INTO import_references (org, store, their_id, entry_id, relation, origin)
        SELECT ${caller.org}, ${store}, r.their_id, r.entry_id, r.relation, r.origin
        FROM ${dialect.jsonTable(sql`${json}`, columns)} r WHERE 1 = 1 ON CONFLICT DO NOTHING`,
    ),
  ]
}
