import { DatabaseSync } from 'node:sqlite'
import { sql } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { TRUE } from '../../src/adapters/sql/core/compile-filter'
import { brevity, SAMPLED_BY, stepOf } from '../../src/adapters/sql/tables/search/candidates'
import { lengthTerm, sampleTerm } from '../../src/adapters/sql/tables/search/scope-terms'
import { toQuery } from '../../src/adapters/sqlite/match'
import { byLength, classesOf } from '../../src/adapters/sqlite/term-combinations'

const isSampled = (id: number): boolean =>
  ((id % SAMPLED_BY.range) * SAMPLED_BY.golden) % SAMPLED_BY.range < SAMPLED_BY.below

/**
 * Index reads of a search by term combinations, counted in an in-process SQLite: a lookup without hits reads no row,
 * but takes time.
 */
const ORG = 'org'
const ENTRIES = 600
const LENGTHS = [10, 40]
let db: DatabaseSync
let asked: string[]

beforeEach(() => {
  db = new DatabaseSync(':memory:')
  asked = []
  db.function('noted', (expression) => {
    asked.push(String(expression))
    return expression
  })
  db.exec(
    'CREATE TABLE entries (id INTEGER PRIMARY KEY, text_words INTEGER); CREATE VIRTUAL TABLE entries_fts USING fts5 (scope, body)',
  )
  for (let id = 1; id <= ENTRIES; id++) {
    const words = LENGTHS[id % 2] as number
    const scope = ['everyone', lengthTerm(ORG, stepOf(words)), ...(isSampled(id) ? [sampleTerm(ORG)] : [])].join(' ')
    const body = ['a', ...(id % 2 ? ['b'] : []), ...(id % 3 ? ['c'] : []), ...(id % 5 ? ['d'] : [])].join(' ')
    db.prepare('INSERT INTO entries VALUES (?, ?)').run(id, words)
    db.prepare('INSERT INTO entries_fts (rowid, scope, body) VALUES (?, ?, ?)').run(id, scope, body)
  }
})

/** The ids that are found, best first. @param counts number of entries with each word */
function search(counts: Record<string, number>, most = ENTRIES): number[] {
  const words = Object.keys(counts).map((word) => `body : "${word}"`)
  const tables = byLength({
    ...{ org: ORG, classes: classesOf(words, 'scope : "everyone"'), plain: true, admitted: TRUE },
    ...{ shortness: brevity(sql`e.text_words`), short: 20_000, most, complete: { most: 0, held: 0 } },
  })
  const given = JSON.stringify(Object.values(counts))
  const statement = sql`WITH held (entries) AS (SELECT ${ENTRIES}), fits (yes) AS (SELECT 1),
    counts AS (SELECT key AS place, json_array(value) AS count FROM json_each(${given})), ${sql.join(tables, sql`, `)}
    SELECT id FROM admitted ORDER BY key DESC, id DESC`
  const { sql: text, params } = toQuery(statement)
  const noting = text.replaceAll(/MATCH ((?:classes|steps)\.words)/g, 'MATCH noted($1)')
  const named = Object.fromEntries(params.map((value, i) => [`?${i + 1}`, value as string | number]))
  return db
    .prepare(noting)
    .all(named)
    .map(({ id }) => Number(id))
}

it('scans only the lengths that the org has', () => {
  expect(search({ a: ENTRIES, b: 300 })).toHaveLength(ENTRIES)
  // Two classes of two lengths, and the rest.
  expect(asked).toHaveLength(2 * (LENGTHS.length + 1))
})

it('reads no combination with an unknown word, and finds the same', () => {
  const found = search({ a: ENTRIES, b: 300 })
  const without = asked.length
  asked = []
  expect(search({ a: ENTRIES, b: 300, nowhere: 0 })).toEqual(found)
  expect(asked).toHaveLength(without)
})

it('looks through each class of four words once in a scope of few entries, dense or not', () => {
  expect(search({ a: ENTRIES, b: 300, c: 400, d: 480 })).toHaveLength(ENTRIES)
  expect(asked).toHaveLength(2 ** 4 - 1)
  expect(asked.every((expression) => !expression.includes(lengthTerm(ORG, stepOf(LENGTHS[0] as number))))).toBe(true)
})
