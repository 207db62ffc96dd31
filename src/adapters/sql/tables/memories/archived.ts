import { type SQL, sql } from 'drizzle-orm'
import type { MemoryQuery } from '../../../../ports/memories'
import type { SqlDialect } from '../../core/dialect'
import { archived, inProject } from '../../core/visibility'
import { textOf } from '../texts/long-texts'
import { fitting, type MemoryContext, memoryColumns, sizedPage } from './memory-statements'

/** Memories that decay and summaries have put out of sight (fabric contract §2.4): by an index of their own. */
const among = (dialect: SqlDialect, values: readonly string[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(values)}`)})`

function admitted({ dialect, scope, now, project }: MemoryContext, { layer, kinds, tags }: MemoryQuery): SQL {
  const ofProject =
    project === null || layer === 3 ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`e.project`)}`
  const ofKind = kinds === null ? sql`` : sql` AND e.kind IN ${among(dialect, kinds)}`
  const tagged =
    tags.length === 0
      ? sql``
      : sql` AND ${dialect.plan.exists(sql`SELECT 1 FROM ${dialect.jsonRows(sql`e.tags`)} own WHERE own.value IN ${among(dialect, tags)}`)}`
  return sql`${archived(dialect, scope, now)} AND e.layer = ${sql.raw(String(layer))}${ofProject}${ofKind}${tagged}`
}

/** A page, newest first, and the total. */
export function archivedStatements(
  context: MemoryContext,
  query: MemoryQuery,
  maxBytes: number,
): { page: SQL; total: SQL } {
  const { dialect } = context
  const from = sql`FROM ${dialect.plan.entriesBy('entries_archived_idx')} WHERE ${admitted(context, query)}`
  return {
    page: sql`WITH page AS (
        SELECT e.id, e.created_at ${from} ORDER BY e.created_at DESC, e.id DESC LIMIT ${query.limit} OFFSET ${query.offset}
      ), ${sizedPage(dialect)}
      SELECT sized.id AS wanted_id, ${memoryColumns(context)}, ${textOf()} AS text FROM sized ${fitting(dialect, maxBytes)}
      ORDER BY sized.created_at DESC, sized.id DESC`,
    total: sql`SELECT count(*) AS total ${from}`,
  }
}

/** How many there are of each sort. */
export const archivedCountStatement = ({ dialect, scope, now, project }: MemoryContext): SQL => {
  const place =
    project === null ? sql`` : sql` AND (e.layer = 3 OR ${inProject(dialect, scope, project, sql`e.project`)})`
  return sql`
    SELECT e.layer, e.kind, e.pinned, count(*) AS count FROM ${dialect.plan.entriesBy('entries_archived_idx')}
    WHERE ${archived(dialect, scope, now)}${place}
    GROUP BY e.layer, e.kind, e.pinned`
}
