import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createCodeParser } from '../../src/adapters/code/parser'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlCodeIndex } from '../../src/adapters/sql/stores/code/code-index'
import { unavailable } from '../../src/domain/errors'
import { createAnalyzer } from '../../src/domain/search/analysis'
import type { Embedder } from '../../src/ports/models'
import { createSearchCode } from '../../src/services/searching/code/search-code'
import { createIndexCode, createPrepareCode } from '../../src/services/writing/code/index-code'
import { freshPrincipal, type TestClock } from '../support/scope'
import type { Ground } from './keeping/world'

/** Searches of code by meaning with an embedder of given vectors, and when it fails (fabric contract §12, 14). */
const analyzer = createAnalyzer('english')
const state = { fails: false }

/** Of the given vectors: 0 is nothing in common, and 1 an answer. */
const levels = async () => ({ nothing: 0, answer: 1 })

/** Texts about signing in lie in one direction, all others in another. */
const embedder: Embedder = {
  provider: 'test',
  model: 'given',
  dimensions: 2,
  embed: async (texts) => {
    if (state.fails) throw unavailable('the model is away')
    return texts.map((text) =>
      Float32Array.from(/password|credentials|how do people get in/.test(text) ? [1, 0] : [0, 1]),
    )
  },
}

function madeOf(connection: SqlConnection, clock: TestClock, onEmbeddingFailure: 'fail' | 'defer') {
  const index = createSqlCodeIndex(connection, clock)
  const parser = createCodeParser()
  const prepareCode = createPrepareCode({ parser, analyzer, embedder, onEmbeddingFailure })
  return {
    ...createIndexCode({ index, prepareCode, clock }),
    search: createSearchCode({ index, embedder, analyzer, levels, clock }),
  }
}
const QUERY = { project: 'p', language: null, filePattern: null, symbolKind: null, limit: 10, threshold: 0.5 }
const FILES = [
  { path: 'login.ts', content: 'export const check = (credentials: string) => credentials.length\n' },
  { path: 'sum.ts', content: 'export const add = (a: number, b: number) => a + b\n' },
]

/** @param make a database of its own: the schedule makes the vectors of every org */
export function codeMeaningContract(name: string, make: () => Promise<Pick<Ground, 'connection' | 'clock'>>): void {
  describe(`${name} finds code by meaning`, () => {
    let ground: Pick<Ground, 'connection' | 'clock'>
    const made = (onFailure: 'fail' | 'defer') => madeOf(ground.connection, ground.clock, onFailure)
    beforeEach(async () => {
      ground = await make()
    })

    it('[FABRIC-166] finds code by a question without any of its words, and nothing else', async () => {
      const ada = freshPrincipal()
      const code = made('fail')
      await code.put(ada, 'p', { files: FILES, deleted: [] })
      const found = await code.search(ada, 'semantic', { ...QUERY, query: 'how do people get in' })
      expect(found.chunks.map(({ chunk, similarity }) => [chunk.path, similarity])).toEqual([
        ['login.ts', expect.closeTo(0.82, 2)],
      ])
      expect([found.total, found.warnings]).toEqual([1, []])
    })

    it('[FABRIC-116] is stale a day after the last upload, and limits the files of a project, the bytes of a call and the lines of a hit', async () => {
      const ada = freshPrincipal()
      const code = made('fail')
      const { indexStatus } = await code.put(ada, 'p', { files: FILES, deleted: [] })
      expect(indexStatus.isStale).toBe(false)
      ground.clock.advance(86_400_000)
      const fresh = async () => (await code.search(ada, 'symbol', { ...QUERY, query: 'add' })).indexStatus.isStale
      expect(await fresh()).toBe(false)
      ground.clock.advance(1)
      expect(await fresh()).toBe(true)
      // As many files as a project holds, but for one, are there already.
      await ground.connection.batch(
        [sql`UPDATE code_projects SET files = 9998 WHERE org = ${ada.org} AND project = 'p'`],
        { org: ada.org },
      )
      const more = (count: number) =>
        Array.from({ length: count }, (_, i) => ({ path: `more${i}.ts`, content: `const x${i} = 1` }))
      await expect(code.put(ada, 'p', { files: more(3), deleted: [] })).rejects.toMatchObject({
        code: 'limit_exceeded',
        message: expect.stringContaining('10000 files'),
      })
      expect((await code.list(ada, 'p')).map(({ path }) => path)).toEqual(['login.ts', 'sum.ts'])
      const lines = Array.from({ length: 60 }, (_, i) => `const needle${i} = ${i}`).join('\n')
      expect((await code.put(ada, 'p', { files: [{ path: 'm.ts', content: lines }], deleted: [] })).stored).toBe(1)
      const { chunks } = await code.search(ada, 'text', { ...QUERY, query: 'needle' })
      expect(chunks[0]?.matchLines).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
      const large = Array.from({ length: 21 }, (_, i) => ({ path: `l${i}.txt`, content: 'x'.repeat(1_048_576) }))
      await expect(code.put(ada, 'p', { files: large, deleted: [] })).rejects.toMatchObject({ code: 'limit_exceeded' })
    })

    it('[FABRIC-118] refuses an upload whose vectors cannot be made, and stores nothing of it', async () => {
      const ada = freshPrincipal()
      const code = made('fail')
      state.fails = true
      await expect(code.put(ada, 'p', { files: FILES, deleted: [] })).rejects.toMatchObject({ code: 'unavailable' })
      await expect(code.search(ada, 'semantic', { ...QUERY, query: 'x' })).rejects.toMatchObject({
        code: 'unavailable',
      })
      state.fails = false
      expect(await code.list(ada, 'p')).toEqual([])
      expect((await code.put(ada, 'p', { files: FILES, deleted: [] })).stored).toBe(2)
    })

    it('[FABRIC-118] finds code by words at once with deferred vectors, and by meaning when the schedule has made them', async () => {
      const ada = freshPrincipal()
      const code = made('defer')
      state.fails = true
      const report = await code.put(ada, 'p', { files: FILES, deleted: [] })
      state.fails = false
      expect(report.indexStatus).toMatchObject({ totalFiles: 2, pending: 2, isStale: true })
      expect((await code.search(ada, 'text', { ...QUERY, query: 'credentials.length' })).total).toBe(1)
      const asked = { ...QUERY, query: 'how do people get in' }
      expect((await code.search(ada, 'semantic', asked)).total).toBe(0)
      expect(await code.embedPending(20)).toBeGreaterThanOrEqual(2)
      const found = await code.search(ada, 'semantic', asked)
      expect([found.chunks.map(({ chunk }) => chunk.path), found.indexStatus.pending]).toEqual([['login.ts'], 0])
    })
  })
}
