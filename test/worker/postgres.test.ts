import { sql } from 'drizzle-orm'
import { afterAll, expect, it } from 'vitest'
import { createPostgresVectorIndex } from '../../src/adapters/postgres/vector-index'
import { createSqlChangeFeed } from '../../src/adapters/sql/history/change-feed'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { WHOLE_FEED } from '../../src/domain/history/feed'
import { changeFeedContract } from '../contracts/change-feed'
import { changesContract } from '../contracts/changes'
import { currentContract } from '../contracts/current'
import { directoryContract } from '../contracts/directory'
import { entryLifeContract } from '../contracts/entry-life'
import { entrySizesContract } from '../contracts/entry-sizes'
import { entryStoreContract } from '../contracts/entry-store'
import { entryTextsContract } from '../contracts/entry-texts'
import { erasingContract } from '../contracts/erasing'
import { fullTextContract } from '../contracts/full-text'
import { fullTextLanguagesContract } from '../contracts/full-text-languages'
import { historyStoreContract } from '../contracts/history-store'
import { identityContract } from '../contracts/identity'
import { largeDeletesContract } from '../contracts/large-deletes'
import { longTextsContract } from '../contracts/long-texts'
import { lostAnswersContract } from '../contracts/lost-answers'
import { packCostsContract } from '../contracts/pack-costs'
import { quotaContract } from '../contracts/quotas'
import { recallContract } from '../contracts/recall'
import { recallWordsContract } from '../contracts/recall-words'
import { restoringContract } from '../contracts/restoring'
import { statisticsContract } from '../contracts/statistics'
import { summarizeContract } from '../contracts/summarize'
import { textsAheadContract } from '../contracts/texts-ahead'
import { visibilityContract } from '../contracts/visibility'
import { bindings } from '../support/bindings'
import { postgresAdapters } from '../support/bindings-postgres'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

// One connection a test run of workerd may use from many tests: each test makes its adapters anew.
const opened: { close(): Promise<void> }[] = []
afterAll(async () => {
  await Promise.all(opened.map((connection) => connection.close()))
})

const make = (language?: string) => {
  const clock = new TestClock()
  const made = postgresAdapters(clock, language)
  opened.push(made.connection)
  return { ...made, clock }
}

changesContract('PostgreSQL', make)

historyStoreContract('PostgreSQL', make)

erasingContract('PostgreSQL', make)

restoringContract('PostgreSQL', make)

lostAnswersContract('PostgreSQL', () => ({ vars: { STORAGE_BACKEND: 'postgresql' }, bindings }))

largeDeletesContract('PostgreSQL', make)

changeFeedContract('PostgreSQL', make)

entryLifeContract('PostgreSQL', make)

entrySizesContract('PostgreSQL', make)

visibilityContract('PostgreSQL', make)

statisticsContract('PostgreSQL', make)

recallWordsContract('PostgreSQL', () => make())
directoryContract('PostgreSQL', make)

currentContract('PostgreSQL', () => {
  const made = make()
  const beside = createObjectVectorIndex(bindings.VECTORS)
  return { ...made, index: createPostgresVectorIndex(made.connection, { beside }) }
})

summarizeContract('PostgreSQL', () => {
  const made = make()
  return { ...made, index: createPostgresVectorIndex(made.connection) }
})

recallContract('PostgreSQL', () => {
  const made = make()
  return { ...made, index: createPostgresVectorIndex(made.connection) }
})

packCostsContract('PostgreSQL', () => {
  const made = make()
  return { ...made, index: createPostgresVectorIndex(made.connection) }
})

longTextsContract('PostgreSQL', () => make())

textsAheadContract('PostgreSQL', () => make())
quotaContract('PostgreSQL', make)

entryStoreContract('PostgreSQL', () => {
  const { entries, clock, connection } = make()
  return { store: entries, clock, connection }
})

entryTextsContract('PostgreSQL', make)

fullTextContract('tsvector', make)

fullTextLanguagesContract('tsvector', (language) => make(language))

identityContract('PostgreSQL', make)

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
  const { next } = await feed.page(ada, WHOLE_FEED, 'now', 1)
  const [, second] = await Promise.all([late, writing])
  const { changes } = await feed.page(ada, WHOLE_FEED, next, 50)
  expect(changes.map(({ action, entryId }) => `${action} ${entryId}`)).toEqual([`updated ${first}`, `stored ${second}`])
})
