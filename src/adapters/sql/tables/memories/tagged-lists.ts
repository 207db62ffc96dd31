import { type SQL, sql } from 'drizzle-orm'
import { limitExceeded } from '../../../../domain/errors'
import type { MemoryQuery } from '../../../../ports/memories'
import { LISTED_COLUMNS, rowsOfTags, taggedMemories } from '../pages/tags'
import { textOf } from '../texts/long-texts'
import { fitting, type MemoryContext, memoryColumns, sizedPage } from './memory-statements'

/**
 * Memories listed by tags. What has one is gathered once, to be ordered and counted; on a database that serves nobody while a statement
 * goes on up to so many times the rows of another statement, which are read in the order of their index (platform contract §6).
 */
const TIMES = 10

/**
 * A page with its total; of memories beyond the bytes the id alone, as `wanted_id`. A row without `wanted_id` stands for an empty page; a
 * total of NULL says that these tags stand too often (`tooManyTagged`).
 */
export function taggedListStatement(context: MemoryContext, query: MemoryQuery, maxBytes: number): SQL {
  const { dialect } = context
  const most = dialect.bounded === null ? null : TIMES * dialect.bounded.entries
  const isShort = sql`(SELECT count(*) FROM walked) <= ${most}`
  const [matching, total] =
    most === null
      ? [sql`matching AS MATERIALIZED (${taggedMemories(context, query)})`, sql`count(*)`]
      : [
          sql`walked AS MATERIALIZED (SELECT ${LISTED_COLUMNS} FROM ${rowsOfTags(context, query)} LIMIT ${most + 1}),
            matching AS MATERIALIZED (${taggedMemories(context, query, sql`walked t`)} AND ${isShort})`,
          sql`CASE WHEN ${isShort} THEN count(*) END`,
        ]
  return sql`
  WITH ${matching}, page AS (
    SELECT id, created_at FROM matching ORDER BY created_at DESC, id DESC LIMIT ${query.limit} OFFSET ${query.offset}
  ), ${sizedPage(dialect)}
  SELECT sized.id AS wanted_id, ${memoryColumns(context)}, ${textOf()} AS text, counted.total
  FROM (SELECT ${total} AS total FROM matching) AS counted LEFT JOIN sized ON 1 = 1 ${fitting(dialect, maxBytes)}
  ORDER BY sized.created_at DESC, sized.id DESC`
}

export const tooManyTagged = () =>
  limitExceeded('These tags are on too many memories to be gone through at once; ask for fewer tags, or for a project')
