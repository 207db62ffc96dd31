import { sql } from 'drizzle-orm'
import { afterAll, expect, it } from 'vitest'
import { createPostgresVectorIndex } from '../../src/adapters/postgres/vector-index'
import { createSqlChangeFeed } from '../../src/adapters/sql/stores/history/change-feed'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { UNFILTERED_FEED } from '../../src/domain/history/feed'
import { auditContract } from '../contracts/audit'
import { capturedEntriesContract } from '../contracts/captured-entries'
import { changeFeedContract } from '../contracts/change-feed'
import { changesContract } from '../contracts/changes'
import { currentContract } from '../contracts/current'
import { directoryContract } from '../contracts/directory'
import { endedSessionsContract } from '../contracts/ended-sessions'
import { entryLifeContract } from '../contracts/entry-life'
import { entrySizesContract } from '../contracts/entry-sizes'
import { entryStoreContract } from '../contracts/entry-store'
import { entryTextsContract } from '../contracts/entry-texts'
import { erasingContract } from '../contracts/erasing'
import { fullTextContract } from '../contracts/full-text'
import { fullTextLanguagesContract } from '../contracts/full-text-languages'
import { historyStoreContract } from '../contracts/history-store'
import { identityContract } from '../contracts/identity'
import { projectDirectoryContract } from '../contracts/project-directory'
import { quotaContract } from '../contracts/quotas'
import { recallContract } from '../contracts/recall'
import { recallWordsContract } from '../contracts/recall-words'
import { restoringContract } from '../contracts/restoring'
import { statisticsContract } from '../contracts/statistics'
import { storeOverviewContract } from '../contracts/store-overview'
import { visibilityContract } from '../contracts/visibility'
import { bindings } from '../support/bindings'
import { postgresAdapters } from '../support/bindings-postgres'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

// One connection of workerd that many tests may use: each test makes its own adapters.
const opened: { close(): Promise<void> }[] = []
afterAll(async () => {
  await Promise.all(opened.map((connection) => connection.close()))
})

// Behavior of services above the stores, recall in thousands, and large deletions: test/nightly/worker/postgres, large-deletes-postgres.
const make = (language?: string) => {
  const clock = new TestClock()
  const made = postgresAdapters(clock, language)
  opened.push(made.connection)
  return { ...made, clock }
}

changesContract('PostgreSQL', make)

capturedEntriesContract('PostgreSQL', make)

historyStoreContract('PostgreSQL', make)

erasingContract('PostgreSQL', make)

restoringContract('PostgreSQL', make)

changeFeedContract('PostgreSQL', make)

entryLifeContract('PostgreSQL', make)

entrySizesContract('PostgreSQL', make)

visibilityContract('PostgreSQL', make)

statisticsContract('PostgreSQL', make)

recallWordsContract('PostgreSQL', () => make())
directoryContract('PostgreSQL', make)
storeOverviewContract('PostgreSQL', make)

currentContract('PostgreSQL', () => {
  const made = make()
  const auxiliary = createObjectVectorIndex(bindings.VECTORS)
  return { ...made, index: createPostgresVectorIndex(made.connection, { auxiliary }) }
})

const onPgvector = () => {
  const made = make()
  return { ...made, index: createPostgresVectorIndex(made.connection) }
}
recallContract('PostgreSQL', onPgvector, false)

quotaContract('PostgreSQL', make)

entryStoreContract('PostgreSQL', () => {
  const { entries, clock, connection } = make()
  return { store: entries, clock, connection }
})

entryTextsContract('PostgreSQL', make)

fullTextContract('tsvector', make)

fullTextLanguagesContract('tsvector', (language) => make(language))

auditContract('PostgreSQL', make)
identityContract('PostgreSQL', make)
projectDirectoryContract('PostgreSQL', make)
endedSessionsContract('PostgreSQL', make)

it('gives out no cursor behind a commit that is not visible yet', async () => {
  const [slow, quick, reader] = [make(), make(), make()]
  const ada = freshPrincipal()
  const save = async ({ entries }: typeof quick) => (await entries.save(ada, [await entryOf(ada)]))[0]?.id as number
  const first = await save(quick)
  const feed = createSqlChangeFeed(reader.connection, reader.clock)
  // Its change has its number, and is not committed for a while.
  const late = slow.connection.batch(
    [
      sql`UPDATE entries SET version = version + 1 WHERE org = ${ada.org} AND id = ${first} RETURNING id`,
      sql`SELECT pg_sleep(0.6)`,
    ],
    { org: ada.org },
  )
  await quick.connection.batch([sql`SELECT pg_sleep(0.2)`])
  const writing = save(quick)
  const { next } = await feed.page(ada, UNFILTERED_FEED, 'now', 1)
  const [, second] = await Promise.all([late, writing])
  const { changes } = await feed.page(ada, UNFILTERED_FEED, next, 50)
  expect(changes.map(({ action, entryId }) => `${action} ${entryId}`)).toEqual([`updated ${first}`, `stored ${second}`])
})

it('counts what one statement stores once in each row of counters, exactly', async () => {
  const { connection } = make()
  const { org } = freshPrincipal()
  // Every mixture of threads, projects, readers and layers; some end, some are not listed, all have seconds and sizes of their own.
  const insert = (count: number) => sql`
    INSERT INTO entries (
      org, thread_id, project, audience, owner, diary, archived, layer, source, named_kind, named_pinned, layer_expires_at,
      image_count, summary, bytes, text_words, created_at, updated_at, created_by, text_hash, text
    )
    SELECT ${org}, 't' || i % 3, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN 'a' ELSE 'b' END,
      CASE WHEN i % 5 = 0 THEN 'private' ELSE 'org' END, 'o' || i % 2, (i % 11 = 0)::int, (i % 13 = 0)::int, 1 + i % 3,
      CASE WHEN i % 2 = 0 THEN 'user' ELSE 'agent' END, CASE WHEN i % 7 = 0 THEN 'decision' END, CASE WHEN i % 9 = 0 THEN 1 END,
      CASE WHEN i % 8 = 0 THEN 9000000000000 END, i % 3, CASE WHEN i % 6 = 0 THEN 'in short' ELSE '' END, i, i * 2,
      (i * 7919 % 1000) * 1000, 0, 'k', i::text, 'text ' || i
    FROM generate_series(1, ${count}::int) i`
  const counted = {
    entry_counters: sql`SELECT org, coalesce(project, '') AS project, reader, listed, count(*), count(*) FILTER (WHERE source = 'user'),
        count(*) FILTER (WHERE image_count > 0), sum(bytes), sum(image_count), count(*) FILTER (WHERE summary <> '')
      FROM entries WHERE org = ${org} GROUP BY 1, 2, 3, 4`,
    thread_counters: sql`SELECT org, thread_id, coalesce(project, '') AS project, reader, count(*),
        count(*) FILTER (WHERE source = 'user'), count(*) FILTER (WHERE image_count > 0), sum(bytes), sum(text_words),
        min(created_second), max(created_second), min(id), max(id)
      FROM entries WHERE listed = 1 AND org = ${org} GROUP BY 1, 2, 3, 4`,
    layer_counters: sql`SELECT org, layer, coalesce(project, '') AS project, reader, kind, pinned, count(*), sum(text_words), min(id), max(id)
      FROM entries WHERE listed = 1 AND expires_at IS NULL AND org = ${org} GROUP BY 1, 2, 3, 4, 5, 6`,
  }
  // A shared session also reports unreported reads of others.
  const told = sql`SELECT relname, n_tup_ins + n_tup_upd AS writes FROM pg_stat_xact_user_tables
    WHERE schemaname = current_schema() AND relname LIKE '%counters'`
  const [before = [], , , after = []] = await connection.batch([told, insert(300), insert(200), told], { org })
  const writesOf = (rows: typeof after, table: string) =>
    Number(rows.find(({ relname }) => relname === table)?.writes ?? 0)
  for (const [table, plain] of Object.entries(counted)) {
    const kept = sql`SELECT * FROM ${sql.raw(table)} WHERE org = ${org}`
    const [rows = [], ...differing] = await connection.batch([
      kept,
      sql`(${kept}) EXCEPT (${plain})`,
      sql`(${plain}) EXCEPT (${kept})`,
    ])
    expect([table, ...differing]).toEqual([table, [], []])
    expect(rows.length).toBeGreaterThan(5)
    const writes = writesOf(after, table) - writesOf(before, table)
    expect(writes).toBeGreaterThan(0)
    expect(writes).toBeLessThanOrEqual(2 * rows.length)
  }
})
