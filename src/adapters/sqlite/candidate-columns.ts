// What does a search by words bring of each candidate?

import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../domain/identity/scope'
import type { Analyzer } from '../../domain/search/analysis'
import type { Millis } from '../../domain/time'
import { SCORED_LENGTH } from '../../ports/full-text'
import type { SqlDialect } from '../sql/core/dialect'
import { packedColumns } from '../sql/core/packed'
import { listed } from '../sql/core/visibility'
import { momentColumns } from '../sql/tables/memories/moment'
import type { AnySearch } from '../sql/tables/search/candidates'
import { ALIASES_LENGTH, CANDIDATE_NAMES } from '../sql/tables/search/candidates'
import { beginningOf } from '../sql/tables/texts/long-texts'
import { dateWords } from './full-text-index'

/** Where metadata hold code and the path of a file. */
const CODE_PATHS = ['$.codeBlock.code', '$.fileContext.path'] as const

/** The code of an entry `e` and the path of its file; and its other names, as the JSON of their list. */
export const CODE_COLUMNS = sql`${sql.join(
  CODE_PATHS.map(
    (path) => sql`CASE WHEN json_type(e.metadata, ${path}) = 'text'
      THEN substr(json_extract(e.metadata, ${path}), 1, ${SCORED_LENGTH}) ELSE '' END`,
  ),
  sql` || char(10) || `,
)} AS code, CASE WHEN json_type(e.metadata, '$.aliases') = 'array' AND length(json_extract(e.metadata, '$.aliases')) <= ${ALIASES_LENGTH}
  THEN json_extract(e.metadata, '$.aliases') END AS aliases`

interface Asked {
  readonly dialect: SqlDialect
  readonly analyzer: Analyzer
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Of an entry `e`, with the counts of all terms beside it. */
export function candidateColumns({ dialect, analyzer, scope, now }: Asked, request: AnySearch): (counts: SQL) => SQL {
  const { columns, moment, units, rare } = request
  const neighbours = units === undefined && rare === undefined
  const next = !neighbours
    ? sql`'[]'`
    : sql`(
      SELECT json_group_array(id) FROM (
        SELECT n.id FROM entries n
        WHERE ${listed(dialect, scope, now, 'n')} AND n.thread_id = e.thread_id AND n.id > e.id
        ORDER BY n.id LIMIT 2
      )
    )`
  const context = sql`${dateWords(analyzer, sql`e.created_at`)} || ' ' || coalesce(e.agent, '')`
  const wanted = [
    ...(columns.includes('context') ? [sql`, ${context} AS context`] : []),
    ...(columns.includes('code') ? [sql`, ${CODE_COLUMNS}`] : []),
    ...(moment === undefined ? [] : [sql`, ${momentColumns(dialect, moment)}`]),
  ]
  return (counts) => sql`${packedColumns(CANDIDATE_NAMES, 'e')}, ${beginningOf(dialect, SCORED_LENGTH)} AS text,
    ${next} AS following, ${counts} AS counts${sql.join(wanted)}`
}
