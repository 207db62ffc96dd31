import { sql } from 'drizzle-orm'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlMemories } from '../../src/adapters/sql/stores/memories/memories'
import { createSqlVectorRows } from '../../src/adapters/sql/stores/search/vector-rows'
import { unavailable } from '../../src/domain/errors'
import type { Caller } from '../../src/domain/identity/scope'
import { modelKey, quantize, toBase64 } from '../../src/domain/meaning/vector'
import { recallFilter } from '../../src/domain/recall/recall-filter'
import { RETRIEVER_LIMIT } from '../../src/domain/recall/similarity'
import type { Analyzer } from '../../src/domain/search/analysis'
import { EVERYTHING } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText } from '../../src/ports/full-text'
import type { Embedder } from '../../src/ports/models'
import type { VectorIndex } from '../../src/ports/vector-index'
import { createSyncVectors } from '../../src/services/maintenance/sync-vectors'
import { createRankMemories } from '../../src/services/searching/memories/rank-memories'
import { createRecall } from '../../src/services/searching/memories/recall'
import { createRecallWords } from '../../src/services/searching/memories/recall-words'
import { createSearchSemantic } from '../../src/services/searching/ranked/search-semantic'
import { createGenerate } from '../../src/services/writing/entries/generate'
import { createStoreEntries } from '../../src/services/writing/entries/store-entries'
import { createUpdateEntries } from '../../src/services/writing/entries/update-entries'
import { createMemoryService, type MemoryDraft } from '../../src/services/writing/memories/memories'
import { createSummarize } from '../../src/services/writing/memories/summarize'
import { type Costs, resetCosts } from '../support/bindings'
import { deleting } from '../support/deleting'
import { LIMITS, type TestClock } from '../support/scope'

/** A database and an index of vectors. */
export interface RecallGround {
  readonly entries: EntryStore
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly connection: SqlConnection
  readonly costs: Costs
  readonly clock: TestClock
  readonly index: VectorIndex
}

/** Has the meaning of given texts; every other text means nothing. */
export class GivenMeaning implements Embedder {
  readonly provider = 'local'
  readonly model = 'given'
  readonly dimensions = 8
  broken = false
  calls = 0
  private readonly known: [part: string, vector: readonly number[]][] = []

  /** Texts that hold this part mean this, in three dimensions; the fourth is what a crowd means. */
  means(part: string, ...vector: readonly number[]): void {
    this.known.push([part, vector])
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    this.calls++
    if (this.broken) throw unavailable('no vectors today')
    return texts.map((text) => {
      const vector = new Float32Array(this.dimensions)
      const given = this.known.find(([part]) => text.includes(part))?.[1]
      if (given) vector.set(given)
      return vector
    })
  }
}

/** A cosine of 0 means nothing, and what answers lies at 1. */
export const LEVELS = { nothing: 0, answer: 1 } as const

/** The meaning of a crowd: something else. */
const CROWD = new Float32Array([0, 0, 0, 1, 0, 0, 0, 0])

/** The memories of an org and how they are recalled, over one database. */
export function recallWorld(ground: RecallGround, ada: Caller, bounds: { readonly exact?: number } = {}) {
  const { connection, clock, entries, index } = ground
  const embedder = new GivenMeaning()
  const memories = createSqlMemories(connection, clock)
  const rows = createSqlVectorRows(connection, clock)
  const settings = {
    embedder,
    summarizer: null,
    chunking: null,
    onEmbeddingFailure: 'fail',
    minContentLength: 0,
  } as const
  const generate = createGenerate({ ...settings })
  const never = async (): Promise<never> => {
    throw new Error('no images here')
  }
  const images = { put: never, get: never, delete: never, list: never } as never
  const outbox = { queueUnused: async () => 0 }
  const writing = { entries, images, outbox, limits: LIMITS, generate }
  const storeEntries = createStoreEntries(writing)
  const service = createMemoryService({
    ...{ memories, entries, deleteEntries: deleting(entries), storeEntries, generate },
    updateEntries: createUpdateEntries(writing),
    isEmbedded: async (scope, id) =>
      (await rows.ofEntries(scope, modelKey(embedder), EVERYTHING, [id], 1, null)).length > 0,
  })
  const sync = createSyncVectors({ index, rows })
  const semantic = createSearchSemantic({
    embedder,
    index,
    rows,
    sync,
    now: () => clock.now(),
    ...bounds,
  })
  const words = createRecallWords({ ...ground })
  /** Whose reads a test may follow with something of its own. */
  const summarizing = { ...memories }
  const levels = async () => LEVELS
  const rank = createRankMemories({ words, semantic, levels })
  const recall = createRecall({ rank, memories, analyzer: ground.analyzer })

  return {
    ...{ service, embedder, recall, words, semantic, memories, summarizing },
    /** Work after a write, so that the index has all vectors. */
    settle: () => sync({ org: ada.org, model: modelKey(embedder), dimensions: embedder.dimensions }),
    summarize: createSummarize({ memories: summarizing, storeEntries, clock }),

    /** Stores one memory and returns its id; each a second after the one before. */
    async store(content: string, draft: Partial<MemoryDraft> = {}): Promise<number> {
      clock.advance(1_000)
      return (await service.store(ada, { type: 'decision', content, metadata: {}, layer: 2, ...draft })).id
    },

    /**
     * Fills the org by SQL with many memories that hold the same words and mean the same, which is nothing that anybody asks for, each
     * a millisecond after the one before.
     */
    async crowd(
      project: string,
      count: number,
      more: { readonly layer?: 2 | 3; readonly tags?: readonly string[] } = {},
    ): Promise<void> {
      const { layer = 2, tags = [] } = more
      const at = clock.ms
      const added = sql`e.org = ${ada.org} AND e.created_by = 'crowd' AND e.created_at > ${at} AND e.layer = ${sql.raw(String(layer))}`
      const content = {
        captured: false,
        text: '',
        threadId: `project:${project}`,
        title: null,
        project,
        agent: null,
        reader: '',
        layer,
        metadata: null,
      }
      const indexed = { terms: 'crowd noise', written: 'crowd noise', words: 2, code: '', ends: '' }
      await connection.batch(
        [
          sql`
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.raw(String(count))})
            INSERT INTO entries (org, thread_id, source, layer, project, created_at, updated_at, created_by, text_hash,
              bytes, text_words, tags, text)
            SELECT CAST(${ada.org} AS TEXT), CAST(${`project:${project}`} AS TEXT), 'agent', ${sql.raw(String(layer))},
              CAST(${project} AS TEXT), CAST(${at} AS bigint) + i, CAST(${at} AS bigint) + i, 'crowd', 'h', 8, 2,
              CAST(${JSON.stringify(tags)} AS TEXT), 'crowd ' || i FROM n`,
          connection.dialect.indexEntry({ org: ada.org, content, indexed }, added),
          sql`INSERT INTO entry_vectors (org, entry_id, model, chunk, start, length, data)
            SELECT e.org, e.id, ${modelKey(embedder)}, 0, 0, 8, ${toBase64(quantize(CROWD))} FROM entries e WHERE ${added}`,
        ],
        { org: ada.org },
      )
      clock.advance(count)
    },

    /** A page of a recall. */
    async page(query: string, given: Partial<Parameters<typeof recallFilter>[0]> & Partial<Asked> = {}) {
      const { mode = 'hybrid', threshold = 0.7, limit = 10, offset = 0, by = ada, ...filter } = given
      const page = await recall.page(
        by,
        {
          ...{ query, mode, threshold, kept: RETRIEVER_LIMIT, limit, offset, project: filter.project ?? null },
          filter: recallFilter({ kinds: [], layers: [], tags: [], project: null, ...filter }),
        },
        8_000_000,
      )
      return page
    },

    /** The cost of a call. */
    async cost(call: () => Promise<unknown>): Promise<Costs & { readonly embedded: number }> {
      resetCosts(ground.costs)
      const before = embedder.calls
      await call()
      return { ...ground.costs, embedded: embedder.calls - before }
    },
  }
}

interface Asked {
  readonly mode: 'hybrid' | 'semantic' | 'keyword'
  readonly threshold: number
  readonly limit: number
  readonly offset: number
  readonly by: Caller
}
