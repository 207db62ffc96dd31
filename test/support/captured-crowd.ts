import { sql } from 'drizzle-orm'
import { atOnce } from '../../src/domain/scheduler'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { indexText } from '../../src/domain/search/indexed-text'
import { d1Adapters } from './bindings'
import { postgresAdapters } from './bindings-postgres'
import { onPostgres } from './direct-sql'
import type { Key, World } from './isolation'

/** The number of sessions in the capture contract (§7). */
export const CROWD = 10_000

/**
 * Adds 10,000 captured sessions of a key's owner to the entries of an organization in one statement, in the form that
 * capture creates.
 * @param words text of each session, common enough for unbounded searches to match all
 */
export async function crowd(
  { clock, config }: World,
  { org, id, owner }: Key,
  { project, words, title }: { readonly project: string; readonly words: string; readonly title: string },
): Promise<void> {
  const adapters = onPostgres() ? postgresAdapters(clock) : d1Adapters(clock)
  const { connection } = adapters
  const at = clock.now()
  const thread = 'session:codex:crowd'
  const indexed = atOnce(indexText(createAnalyzer(config.fts.language), { text: words, metadata: null }))
  const content = {
    ...{ captured: true, text: '', threadId: thread, title, project, agent: null },
    ...{ reader: owner, layer: 2 as const, metadata: null },
  }
  const metadata = JSON.stringify({ captured: true, kind: 'session', project, audience: 'private', branch: 'x' })
  const added = sql`e.org = ${org} AND e.captured = 1`
  await connection.batch(
    [
      sql`
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.raw(String(CROWD))})
        INSERT INTO entries (org, thread_id, source, layer, named_kind, title, project, audience, owner, archived, captured,
          created_at, updated_at, created_by, text_hash, bytes, text_words, tags, metadata, text)
        SELECT CAST(${org} AS TEXT), ${thread} || i, 'agent', 2, 'session', CAST(${title} AS TEXT), CAST(${project} AS TEXT), 'private',
          CAST(${owner} AS TEXT), 1, 1, CAST(${at} AS bigint) - i, CAST(${at} AS bigint) - i, CAST(${id} AS TEXT), 'h' || i, 300, 8, '[]',
          CAST(${metadata} AS TEXT), CAST(${words} AS TEXT) || ' ' || i FROM n`,
      connection.dialect.indexEntry({ org, content, indexed }, added),
    ],
    { org },
  )
  if ('close' in connection) await (connection as { close(): Promise<void> }).close()
}
