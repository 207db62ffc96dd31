import { type SQL, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createCodeParser } from '../../src/adapters/code/parser'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlCodeIndex } from '../../src/adapters/sql/stores/code/code-index'
import type { Caller } from '../../src/domain/identity/scope'
import { WORKING_CAPACITY } from '../../src/domain/recall/layers'
import type { Memory } from '../../src/domain/recall/memory'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { createIndexCode, createPrepareCode } from '../../src/services/writing/code/index-code'
import { createReportEvent } from '../../src/services/writing/events/report-event'
import { freshPrincipal, type TestClock } from '../support/scope'
import type { Ground } from './keeping/world'
import { Fragile, worldOf } from './memory-life'

/** A memory before its metadata were checked. */
const uncounted = (memory: Memory | null) => memory && { ...memory, accessCount: memory.accessCount - 1 }

/** Counts its requests; texts of another length have another vector. */
class Counting extends Fragile {
  calls = 0
  override async embed(texts: readonly string[]): Promise<Float32Array[]> {
    this.calls++
    await super.embed(texts)
    return texts.map(({ length }) => Float32Array.from([Math.cos(length), Math.sin(length)]))
  }
}

const never = async (): Promise<never> => {
  throw new Error('nothing of this kind was reported')
}

/** Costs of memories for the database and the embedder (fabric contract §12). */
export function memoryCostContract(name: string, make: () => Promise<Pick<Ground, 'connection' | 'clock'>>): void {
  describe(`${name} has minimal costs for memories`, () => {
    let connection: SqlConnection
    let clock: TestClock
    let embedder: Counting
    let memories: ReturnType<typeof worldOf>
    let ada: Caller
    const spent = { reads: 0, commits: 0 }
    beforeEach(async () => {
      ;({ connection, clock } = await make())
      embedder = new Counting()
      const counted: SqlConnection = {
        ...connection,
        batch: (statements, lock) => {
          spent[lock === undefined ? 'reads' : 'commits']++
          return connection.batch(statements, lock)
        },
      }
      memories = worldOf(counted, clock, embedder, 'fail')
      ada = freshPrincipal()
    })

    const costOf = async (step: () => Promise<unknown>) => {
      Object.assign(spent, { reads: 0, commits: 0 })
      await step()
      return [spent.reads, spent.commits]
    }
    const store = (layer: 1 | 2 | 3) =>
      memories.store(ada, { type: 'decision', content: 'a memory', layer, metadata: { projectPath: 'p', tags: ['t'] } })

    it('[FABRIC-163] stores a memory in one commit, and reads of every kind commit only their bookkeeping', async () => {
      for (const layer of [1, 2, 3] as const) expect(await costOf(() => store(layer))).toEqual([0, 1])
      const { id } = await store(2)
      const kept = () =>
        connection.batch([
          sql`SELECT count(*) AS n FROM changes WHERE org = ${ada.org}`,
          sql`SELECT count(*) AS n FROM audit WHERE org = ${ada.org}`,
          sql`SELECT version, updated_at FROM entries WHERE org = ${ada.org} ORDER BY id`,
        ])
      const before = await kept()
      clock.advance(1_000)
      // A get notes the access in the same commit as it reads; a list and a count commit nothing.
      expect(await costOf(() => memories.get(ada, 'p', id))).toEqual([0, 1])
      const query = { layer: 2, kinds: null, tags: [], limit: 100, offset: 0 } as const
      expect(await costOf(() => memories.list(ada, 'p', query, 1_000_000))).toEqual([1, 0])
      expect(await costOf(() => memories.count(ada, 'p'))).toEqual([1, 0])
      expect(await kept()).toEqual(before)
      // The answer for a changed memory is returned with its commit.
      expect(await costOf(() => memories.update(ada, 'p', id, { tags: ['u'] }))).toEqual([1, 1])
      expect(await memories.update(ada, 'p', id, { content: 'anew' })).toEqual(
        await memories.get(ada, 'p', id).then(uncounted),
      )
    })

    it('[FABRIC-26, FABRIC-162] makes vectors again when the content or title of a memory changes, and only then', async () => {
      const { id } = await store(3)
      const calls = async (step: () => Promise<unknown>) => {
        embedder.calls = 0
        await step()
        return embedder.calls
      }
      for (const change of [{ tags: ['u'] }, { weight: 5 }, { pinned: true }, { metadata: { ticket: 'T' } }])
        expect([change, await calls(() => memories.update(ada, null, id, change))]).toEqual([change, 0])
      expect(await calls(() => memories.update(ada, null, id, { content: 'a memory' }))).toBe(0)
      expect(await calls(() => memories.update(ada, null, id, { content: 'another' }))).toBe(1)
      expect(await calls(() => memories.update(ada, null, id, { metadata: { title: 'T' } }))).toBe(1)
      const { id: risen } = await store(1)
      expect(await calls(() => memories.promote(ada, null, risen, 2))).toBe(0)
    })

    it('[FABRIC-92] calls the embedder once for an event of a file, for its memory and code together', async () => {
      const code = (onEmbeddingFailure: 'fail' | 'defer') => {
        const [analyzer, parser] = [createAnalyzer('english'), createCodeParser()]
        const prepareCode = createPrepareCode({ parser, analyzer, embedder, onEmbeddingFailure })
        return createIndexCode({
          ...{ index: createSqlCodeIndex(connection, clock), prepareCode, clock },
        })
      }
      const content = Array.from({ length: 150 }, (_, i) => `export const constant${i} = ${i}\n`).join('')
      const opened = async (path: string, onFailure: 'fail' | 'defer' = 'fail') => {
        embedder.calls = 0
        const payload = { path, content }
        const event = { type: 'file_opened', payload, at: clock.ms, sessionId: 's', reporter: 'generic' } as const
        const report = createReportEvent({ memories, similarMemories: never, code: code(onFailure), clock }).report
        return { ...(await report(ada, 'p', event)), calls: embedder.calls }
      }
      const rows = async (query: SQL) => (await connection.batch([query]))[0] ?? []
      const vectorsOf = (project: string) =>
        rows(
          sql`SELECT first, count, data FROM code_vectors WHERE org = ${ada.org} AND project = ${project} ORDER BY first`,
        )
      const vectorOf = async (id: number) => rows(sql`SELECT chunk, data FROM entry_vectors WHERE entry_id = ${id}`)
      const { calls, memoryIds, warnings } = await opened('src/a.ts')
      expect([calls, warnings]).toEqual([1, []])
      // Each has its own, as if they had been requested one by one.
      await code('fail').put(ada, 'q', { files: [{ path: 'src/a.ts', content }], deleted: [] })
      expect([(await vectorsOf('p')).length > 0, await vectorsOf('p')]).toEqual([true, await vectorsOf('q')])
      const alone = { type: 'decision', content: 'src/a.ts', metadata: { projectPath: 'q' } } as const
      expect(await vectorOf(memoryIds[0])).toEqual(await vectorOf((await memories.store(ada, alone)).id))
      // Entries already in the index are not embedded again; entries that cannot be indexed cause no second request.
      expect([(await opened('src/a.ts')).calls, (await opened('/etc/hosts')).calls]).toEqual([1, 1])
      embedder.broken = true
      const failed = await opened('src/b.ts')
      const told = [
        expect.stringContaining('Some vectors are not ready yet'),
        expect.stringContaining('no vectors today'),
      ]
      expect([failed.calls, failed.warnings]).toEqual([1, told])
      expect((await opened('src/c.ts', 'defer')).actions).toContain('indexed_file')
      const waiting = await rows(sql`SELECT path FROM code_files WHERE org = ${ada.org} AND model IS NULL`)
      expect([waiting, await vectorOf(failed.memoryIds[0])]).toEqual([[{ path: 'src/c.ts' }], []])
    })

    it('[FABRIC-97, FABRIC-161, FABRIC-168] names the working memory that was evicted for an event', async () => {
      const report = createReportEvent({ memories, similarMemories: never, code: { open: never }, clock }).report
      const started = { type: 'session_start', payload: {}, at: clock.ms, sessionId: 's', reporter: 'generic' } as const
      const { memoryIds } = await report(ada, 'p', started)
      clock.advance(1)
      await connection.batch(
        [
          sql`
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.raw(String(WORKING_CAPACITY - 1))})
            INSERT INTO entries (org, thread_id, source, layer, project, created_at, updated_at, created_by, text_hash,
              bytes, text_words, text, layer_expires_at)
            SELECT CAST(${ada.org} AS TEXT), 'project:p', 'agent', 1, 'p', CAST(${clock.ms} AS bigint),
              CAST(${clock.ms} AS bigint), 'key-1', 'h', 1, 1, 'x', CAST(${clock.ms + 86_400_000} AS bigint) FROM n`,
        ],
        { org: ada.org },
      )
      clock.advance(1)
      const crowded = await report(ada, 'p', { ...started, type: 'session_end' })
      expect(crowded.evicted).toEqual(memoryIds)
      expect(await memories.get(ada, null, crowded.memoryIds[0])).not.toBeNull()
    })
  })
}
