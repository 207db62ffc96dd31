import { beforeAll, expect, it } from 'vitest'
import { composeServices } from '../../src/composition/worker'
import { EVERYTHING } from '../../src/domain/search/filter'
import { bindings, config, migrate } from '../support/bindings'
import { freshPrincipal } from '../support/scope'

beforeAll(migrate)

it('rebuilds search data with each request, reports that meanwhile, and finds all entries by words and meaning', async () => {
  const ada = freshPrincipal()
  // As a store whose index another analysis wrote, and whose vectors another model made.
  await bindings.DB.batch([
    bindings.DB.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 230)
         INSERT INTO entries (org, thread_id, source, layer, created_at, updated_at, owner, created_by, text_hash, bytes, text_words, text)
         SELECT ?1, 't', 'user', 2, 1000 * i, 0, 'ada', 'key-1', 'h' || i, 20, 2, 'glacier running ' || i FROM n`,
    ).bind(ada.org),
    bindings.DB.prepare(
      `INSERT INTO settings (name, value) VALUES ('full_text', '{"analysis":"another/1","upTo":null}')`,
    ),
  ])

  const { catchUp, rankedSearches } = composeServices(bindings, config, { log: () => {}, waitUntil: () => {} })
  const page = {
    query: 'glacier run 7',
    filter: EVERYTHING,
    previewLength: 20,
    limit: 100,
    offset: 0,
    mode: 'match',
    highlight: false,
  } as const
  const total = async () => {
    const [words, meaning] = [await rankedSearches.byWords(ada, page), await rankedSearches.byMeaning(ada, page)]
    return [words.total, words.warnings.length, meaning.total, meaning.warnings.length]
  }
  await catchUp.begin()
  expect(catchUp.missed()).toEqual(['words', 'vectors'])
  expect(await total()).toEqual([100, 1, 0, 1])
  await catchUp.begin()
  expect(catchUp.missed()).toEqual(['words', 'vectors'])
  for (let requests = 0; requests < 10 && catchUp.missed().length > 0; requests++) await catchUp.further()
  expect(catchUp.missed()).toEqual([])
  expect(await total()).toEqual([100, 0, 100, 0])
})
