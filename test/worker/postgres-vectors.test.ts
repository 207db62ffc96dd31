// Semantic search over PostgreSQL returns exactly the same as comparing one by one, with and without the HNSW index.

import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createPostgresVectorIndex } from '../../src/adapters/postgres/vector-index'
import { createSqlVectorRows } from '../../src/adapters/sql/stores/search/vector-rows'
import { numbersFor, toVectorRow } from '../../src/adapters/sql/tables/vectors/vector-lookup'
import { createObjectVectorIndex } from '../../src/adapters/vector-object'
import { dot, quantize, squaresOf, toBase64 } from '../../src/domain/meaning/vector'
import { EVERYTHING } from '../../src/domain/search/filter'
import { semanticSearchContract } from '../contracts/semantic-search'
import { bindings } from '../support/bindings'
import { postgresAdapters } from '../support/bindings-postgres'
import { onIndexedPgvector } from '../support/indexed-vectors'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'
import { seeded } from '../support/seeded'

const elapse = () => {}

// Compared one by one alone, by the index among 6,000 and with thousands of hits, and a Durable Object with PostgreSQL: test/nightly. By
// the index, the first five of an org are compared one by one.
semanticSearchContract(
  'pgvector, by its HNSW index,',
  (_, connection) => ({ index: createPostgresVectorIndex(connection, { few: 0 }), elapse, crowd: 600 }),
  onIndexedPgvector,
  false,
)

describe('pgvector', () => {
  const add = async (model: string, ...vectors: readonly number[][]) => {
    const { connection, costs } = postgresAdapters(new TestClock())
    const { org } = freshPrincipal()
    const rows = vectors.map((vector, chunk) => [chunk, toBase64(quantize(Float32Array.from(vector)))])
    await connection.batch([
      sql`INSERT INTO entry_vectors (org, entry_id, model, chunk, start, length, data) SELECT ${org},
        -1 - floor(random() * 1e15), ${model}, (value ->> 0)::int, 0, 1, value ->> 1
        FROM jsonb_array_elements(${JSON.stringify(rows)}::jsonb) AS given (value)`,
    ])
    return { connection, org, costs }
  }

  it('returns the first of equally similar entries, also after rewrites', async () => {
    const clock = new TestClock()
    const { connection, entries } = postgresAdapters(clock)
    const ada = freshPrincipal()
    const drafts = Array.from({ length: 50 }, (_, i) => entryOf(ada, { text: `entry ${i}` }))
    const ids = (await entries.save(ada, await Promise.all(drafts))).map(({ id }) => id)
    const query = quantize(Float32Array.from([1, 0]))
    await connection.batch([
      sql`INSERT INTO entry_vectors (org, entry_id, model, chunk, start, length, data)
        SELECT org, id, 'same#2', 0, 0, 1, ${toBase64(query)} FROM entries WHERE org = ${ada.org} ORDER BY id DESC`,
    ])
    const { eligible } = await createSqlVectorRows(connection, clock).lookUp(ada, {
      ...{ model: 'same#2', filter: EVERYTHING, query, enough: 1, hits: [], further: [], hitData: false },
      ...{ confirmedUpTo: Number.MAX_SAFE_INTEGER, unconfirmedLimit: 1, eligibleLimit: 30 },
    })
    expect(eligible?.map(({ entryId }) => entryId).sort((a, b) => a - b)).toEqual(ids.slice(0, 21))
    await connection.close()
  })

  it('keeps models and sizes apart in one table', async () => {
    const { connection, org } = await add('m#3', [1, 0, 0], [0, 1, 0])
    const index = createPostgresVectorIndex(connection)
    const ask = (model: string, ...vector: number[]) =>
      index.search({ org, model, dimensions: vector.length }, quantize(Float32Array.from(vector)), 10)
    expect((await ask('m#3', 1, 0, 0)).hits.map(({ cosine }) => Math.round(cosine * 1e4) / 1e4)).toEqual([1, 0])
    expect((await ask('other#3', 1, 0, 0)).hits).toEqual([])
    expect((await ask('m#4', 1, 0, 0, 0)).hits).toEqual([])
    await connection.close()
  })

  it('takes 4,000 dimensions, by comparison and by the index', async () => {
    const unit = (at: number) => Array.from({ length: 4_000 }, (_, i) => (i === at ? 1 : 0.001))
    const { connection, org } = await add('large#4000', unit(1), unit(2), unit(3))
    for (const few of [10, 0]) {
      const index = createPostgresVectorIndex(connection, { few })
      const query = quantize(Float32Array.from(unit(2)))
      const { hits } = await index.search({ org, model: 'large#4000', dimensions: 4_000 }, query, 2)
      expect(hits).toHaveLength(2)
      expect(hits[0]?.cosine).toBeCloseTo(1, 4)
    }
    await connection.close()
  })

  it('returns the parts of a cosine where its floats are exact, and the numbers where they are not', async () => {
    const dimensions = 1_536
    const of = (number: (i: number) => number) => Array.from({ length: dimensions }, (_, i) => number(i))
    const vectors = [of((i) => Math.sin(i * i)), of((i) => (i % 3) - 1), of(() => 1), of((i) => (i < 9 ? i : 0))]
    const { connection, org } = await add(`exact#${dimensions}`, ...vectors)
    const [long, ...short] = [2, 1, 3].map((i) => quantize(Float32Array.from(vectors[i] as number[])))
    expect(squaresOf(long as NonNullable<typeof long>)).toBeGreaterThan(2 ** 24)
    for (const query of [...short, long]) {
      const { columns } = numbersFor(connection.dialect, query ?? null)
      const [rows = []] = await connection.read([
        sql`SELECT v.id, 1 AS layer, ${columns} FROM entry_vectors v WHERE v.org = ${org} ORDER BY v.chunk`,
      ])
      const told = rows.map(toVectorRow).map(({ data, compared }) => ({ data, compared }))
      const expected = vectors.map((vector) => {
        const own = quantize(Float32Array.from(vector))
        const compared = { product: dot(own.values, query?.values as Int8Array), squares: squaresOf(own) }
        return query === long || compared.squares >= 2 ** 24
          ? { data: toBase64(own), compared: null }
          : { data: null, compared }
      })
      expect(told).toEqual(expected)
    }
    await connection.close()
  })

  it('answers if the external index lacks more than the newest 200, without checking that each time', async () => {
    const query = quantize(Float32Array.from([1, 0]))
    const searched = async (count: number) => {
      const vectors = Array.from({ length: count }, (_, i) => [1, i])
      const { connection, org, costs } = await add('beside#2', ...vectors)
      const index = createPostgresVectorIndex(connection, { auxiliary: createObjectVectorIndex(bindings.VECTORS) })
      const space = { org, model: 'beside#2', dimensions: 2 }
      const found = []
      for (let n = 0; n < 2; n++) {
        costs.roundTrips = 0
        const { hits, confirmedUpTo } = await index.search(space, query, 3)
        found.push({ hits: hits.length, isHeard: confirmedUpTo > 0, roundTrips: costs.roundTrips })
      }
      await connection.close()
      return found
    }
    // So few are compared by the search itself, as all are that an index has not confirmed.
    const few = { hits: 0, isHeard: false, roundTrips: 1 }
    expect(await searched(200)).toEqual([few, few])
    expect(await searched(201)).toEqual([
      { hits: 3, isHeard: true, roundTrips: 2 },
      { hits: 3, isHeard: true, roundTrips: 1 },
    ])
  })

  it('finds what is near in one layer of a project by the index as by comparison, without what others keep', async () => {
    const random = seeded(7)
    const vector = () => toBase64(quantize(Float32Array.from({ length: 64 }, () => random() - 0.5)))
    const { connection } = postgresAdapters(new TestClock())
    const { org } = freshPrincipal()
    const rows = Array.from({ length: 300 }, (_, i) => ({
      ...{ entry: -1 - Math.floor(random() * 1e15), data: vector() },
      ...{ layer: 1 + (i % 3), project: ['', 'a', 'b'][i % 5] ?? 'a', reader: i % 7 === 0 ? 'eve' : '' },
    }))
    await connection.batch([
      sql`INSERT INTO entry_vectors (org, entry_id, model, chunk, start, length, data, layer, project, reader)
        SELECT ${org}, entry, 'near#64', 0, 0, 1, data, layer, project, reader
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          AS given (entry bigint, data text, layer integer, project text, reader text)`,
      // As of an org that has just become large: the next one that is added takes one of these into the index with it.
      sql`UPDATE entry_vectors SET is_indexed = false WHERE id IN (SELECT id FROM entry_vectors WHERE org = ${org} ORDER BY id LIMIT 9)`,
    ])
    const query = vector()
    for (const [layer, project, open] of [
      [1, 'a', null],
      [2, 'b', null],
      [2, null, '{a}'],
      [3, 'a', null],
    ]) {
      const found = async (few: number) => {
        const [near = []] = await connection.read([
          sql`SELECT entry_id, round(cosine::numeric, 6) AS cosine FROM nearest_entries(
            ${org}, 'near#64', ${query}, ${layer}::integer, ${project}::text, 'ada', ${open}::text[], 1e-300, 10, ${few}
          )`,
        ])
        return near
      }
      expect(await found(0)).toEqual(await found(10_000))
      expect((await found(0)).length).toBeGreaterThan(5)
    }
    const apart = async () => {
      const [rows = []] = await connection.read([
        sql`SELECT count(*) AS n FROM entry_vectors WHERE org = ${org} AND NOT is_indexed`,
      ])
      return rows[0]?.n
    }
    expect(await apart()).toBe(9)
    await connection.batch([
      sql`INSERT INTO entry_vectors (org, entry_id, model, chunk, start, length, data)
        SELECT ${org}, -1 - floor(random() * 1e15), 'near#64', n, 0, 1, ${query} FROM generate_series(1, 2) AS n`,
    ])
    expect(await apart()).toBe(7)
    await connection.close()
  })

  it('holds a zero vector at right angles to everything', async () => {
    const { connection, org } = await add('zero#2', [0, 0], [1, 0], [-1, 0])
    const index = createPostgresVectorIndex(connection)
    const { hits } = await index.search({ org, model: 'zero#2', dimensions: 2 }, quantize(Float32Array.from([1, 0])), 9)
    expect(hits.map(({ cosine }) => cosine)).toEqual([1, 0, -1])
    await connection.close()
  })
})
