import { afterAll } from 'vitest'
import { createPostgresVectorIndex } from '../../src/adapters/postgres/vector-index'
import { changeFeedContract } from '../contracts/change-feed'
import { changesContract } from '../contracts/changes'
import { directoryContract } from '../contracts/directory'
import { entryLifeContract } from '../contracts/entry-life'
import { entrySizesContract } from '../contracts/entry-sizes'
import { entryStoreContract } from '../contracts/entry-store'
import { entryTextsContract } from '../contracts/entry-texts'
import { fullTextContract } from '../contracts/full-text'
import { fullTextLanguagesContract } from '../contracts/full-text-languages'
import { identityContract } from '../contracts/identity'
import { longTextsContract } from '../contracts/long-texts'
import { packCostsContract } from '../contracts/pack-costs'
import { quotaContract } from '../contracts/quotas'
import { recallContract } from '../contracts/recall'
import { recallWordsContract } from '../contracts/recall-words'
import { summarizeContract } from '../contracts/summarize'
import { visibilityContract } from '../contracts/visibility'
import { postgresAdapters } from '../support/bindings-postgres'
import { TestClock } from '../support/scope'

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

changeFeedContract('PostgreSQL', make)

entryLifeContract('PostgreSQL', make)

entrySizesContract('PostgreSQL', make)

visibilityContract('PostgreSQL', make)

recallWordsContract('PostgreSQL', () => make())
directoryContract('PostgreSQL', make)

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
quotaContract('PostgreSQL', make)

entryStoreContract('PostgreSQL', () => {
  const { entries, clock, connection } = make()
  return { store: entries, clock, connection }
})

entryTextsContract('PostgreSQL', make)

fullTextContract('tsvector', make)

fullTextLanguagesContract('tsvector', (language) => make(language))

identityContract('PostgreSQL', make)
