// What captured entries are somebody's to look through?

import { type SQL, sql } from 'drizzle-orm'
import { isFields, textOf } from '../../../../domain/capture/fields'
import type { ReviewedEntry, ReviewQuery } from '../../../../domain/capture/review'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { num, numOrNull, str, strOrNull } from '../../core/rows'
import { changeable, inProject } from '../../core/visibility'
import { beginningOf } from '../texts/long-texts'

const PREVIEW = 300

/** Threads of sessions are named by their clients, `session:<client>:<id>`, so that a client's stand next to each other. */
const ofClient = (client: string): SQL =>
  sql` AND e.thread_id >= ${`session:${client}:`} AND e.thread_id < ${`session:${client};`}`

export function reviewStatement(
  { dialect, scope, now }: { readonly dialect: SqlDialect; readonly scope: Scope; readonly now: Millis },
  { project, client, after, limit }: ReviewQuery,
): SQL {
  const ofProject = project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`e.project`)}`
  const behind =
    after === null
      ? sql``
      : sql` AND e.updated_at <= ${after.updatedAt} AND (e.updated_at < ${after.updatedAt} OR e.id < ${after.id})`
  return sql`
    SELECT e.id, e.title, e.kind, e.thread_id, e.project, e.updated_at, e.expires_at, e.version, e.metadata,
      ${beginningOf(dialect, PREVIEW)} AS preview
    FROM entries e
    WHERE ${changeable(dialect, scope, now)} AND e.captured = 1${ofProject}${client === null ? sql`` : ofClient(client)}${behind}
    ORDER BY e.updated_at DESC, e.id DESC LIMIT ${limit}`
}

export function toReviewed(row: Row): ReviewedEntry {
  const parsed: unknown = typeof row.metadata === 'string' ? JSON.parse(row.metadata) : null
  const metadata = isFields(parsed) ? parsed : {}
  return {
    id: num(row, 'id'),
    title: strOrNull(row, 'title'),
    kind: str(row, 'kind'),
    threadId: str(row, 'thread_id'),
    quote: textOf(metadata, 'quote'),
    project: strOrNull(row, 'project'),
    branch: textOf(metadata, 'branch'),
    client: textOf(metadata, 'client'),
    updatedAt: num(row, 'updated_at'),
    expiresAt: numOrNull(row, 'expires_at'),
    version: num(row, 'version'),
    preview: str(row, 'preview'),
  }
}
