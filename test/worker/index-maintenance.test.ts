import { beforeAll, expect, it } from 'vitest'
import { createD1Connection } from '../../src/adapters/d1/connection'
import { createD1Dialect } from '../../src/adapters/d1/dialect'
import { createD1FullText } from '../../src/adapters/d1/full-text'
import { createSqlEntryStore } from '../../src/adapters/sql/entries/entry-store'
import { createSqlIndexMaintenance } from '../../src/adapters/sql/search/index-maintenance'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { EVERYTHING } from '../../src/domain/search/filter'
import { createSearchText } from '../../src/services/search-text'
import { bindings, migrate } from '../support/bindings'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

const clock = new TestClock()
function speaking(language: string) {
  const analyzer = createAnalyzer(language)
  const connection = createD1Connection(bindings.DB, createD1Dialect(analyzer))
  const entries = createSqlEntryStore(connection, analyzer, clock, new Set())
  const fullText = createD1FullText(connection, analyzer, clock)
  return {
    entries,
    search: createSearchText({ fullText, analyzer }),
    index: createSqlIndexMaintenance(connection, analyzer),
  }
}

beforeAll(migrate)

it('rewrites the index step by step when the language changes, and only then', async () => {
  const ada = freshPrincipal()
  const english = speaking('english')
  const simple = speaking('simple')
  const drafts = await Promise.all(['running', 'the runs', 'walking'].map((text) => entryOf(ada, { text })))
  await english.entries.save(ada, drafts)
  const found = async ({ search }: typeof simple, query: string) =>
    (await search(ada, query, 'match', EVERYTHING)).ordering.length

  expect(await english.index.isCurrent()).toBe(true)
  expect(await english.index.rebuild(2)).toEqual({ written: 0, more: false })
  expect(await found(english, 'run')).toBe(2)

  expect(await simple.index.isCurrent()).toBe(false)
  expect(await simple.index.rebuild(2)).toEqual({ written: 2, more: true })
  expect(await simple.index.isCurrent()).toBe(false)
  expect(await simple.index.rebuild(2)).toEqual({ written: 1, more: false })
  expect(await simple.index.isCurrent()).toBe(true)
  expect(await found(simple, 'run')).toBe(0)
  expect(await found(simple, 'running')).toBe(1)

  expect(await english.index.isCurrent()).toBe(false)
})
