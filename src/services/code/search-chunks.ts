import { Problem, unavailable } from '../../domain/errors'
import type { Scope } from '../../domain/identity/scope'
import { cosineOf, dot, fromBase64, modelKey, type QuantizedVector, quantize } from '../../domain/meaning/vector'
import type { Pace } from '../../domain/pace'
import type { Analyzer } from '../../domain/search/analysis'
import type { CodeFilter, CodeIndex, StoredChunk, VectorPack } from '../../ports/code-index'
import type { Embedder } from '../../ports/embedder'
import { byPlace, type CodeHits, type CodeQuery, filterOf, MAX_HITS } from './code-hits'
import { needsWords } from './prepare-code'
import { createSearchWords } from './search-words'

/**
 * Semantic mode: every chunk that passes the filters is compared, so an answer is exact whatever was stored a moment ago; a
 * project's vectors are few enough (see bench/records/code.md).
 */

/** Bytes of vectors that one statement brings. */
const STEP_BYTES = 6_000_000
const WITHOUT_SYNONYMS =
  'EMBEDDING_PROVIDER is local, which knows no synonyms: chunks that hold the words of the query were taken too'

interface Near {
  readonly fileId: number
  readonly n: number
  readonly similarity: number
}

const keyOf = ({ fileId, n }: { readonly fileId: number; readonly n: number }): string => `${fileId}:${n}`

export function createSearchChunks(dependencies: {
  readonly index: CodeIndex
  readonly embedder: Embedder | null
  readonly analyzer: Analyzer
  readonly pace: Pace
}) {
  const { index, embedder, analyzer, pace } = dependencies
  const searchWords = createSearchWords(index, analyzer)

  async function embedQuery(text: string): Promise<QuantizedVector> {
    if (embedder === null) throw unavailable('Semantic search is switched off; use mode "symbol" or "text"')
    const made = await embedder.embed([text], 'query').catch((error: unknown) => {
      const reason = error instanceof Problem ? `: ${error.message}` : ''
      throw unavailable(`Failed to generate embedding for query${reason}; modes "symbol" and "text" need none`, error)
    })
    return quantize(made[0] as Float32Array)
  }

  async function compare(scope: Scope, filter: CodeFilter, query: QuantizedVector, threshold: number): Promise<Near[]> {
    const { dimensions } = embedder as Embedder
    const limit = Math.max(64, Math.floor(STEP_BYTES / ((dimensions * 4) / 3 + 20)))
    const squares = dot(query.values, query.values)
    const near: Near[] = []
    const look = ({ fileId, first, data }: VectorPack): void => {
      for (const [i, line] of data.split('\n').entries()) {
        const { values } = fromBase64(line)
        const similarity = cosineOf(dot(query.values, values), squares, dot(values, values))
        if (similarity >= threshold) near.push({ fileId, n: first + i, similarity })
      }
    }
    for (let after = 0; ; ) {
      const packs = await index.vectors(scope, filter, modelKey(embedder as Embedder), after, limit)
      for (const pack of packs) {
        look(pack)
        await pace.spend(pack.data.length >> 4)
      }
      const last = packs.at(-1)
      const size = packs.reduce((sum, { data }) => sum + data.length, 0)
      // Fewer than could have been brought: there are no more.
      if (last === undefined || size < STEP_BYTES / 2) return near
      after = last.id
    }
  }

  return async (scope: Scope, query: CodeQuery): Promise<CodeHits> => {
    const asked = await embedQuery(query.query)
    const filter = await filterOf(index, scope, query, pace)
    const byWords = needsWords(embedder)
    const [near, totals] = await Promise.all([
      compare(scope, filter, asked, query.threshold),
      byWords ? index.totals(scope, query.project) : [],
    ])
    const words = byWords ? await searchWords(scope, totals, filter, query.query, query.threshold, query.limit) : []
    const found = new Map(near.map((hit) => [keyOf(hit), hit]))
    for (const { chunk, score } of words) {
      const known = found.get(keyOf(chunk))
      if (known === undefined || known.similarity < score)
        found.set(keyOf(chunk), { fileId: chunk.fileId, n: chunk.n, similarity: score })
    }
    const ordered = [...found.values()].sort((a, b) => b.similarity - a.similarity)
    const worst = ordered[Math.min(query.limit, ordered.length) - 1]?.similarity ?? 0
    const best = ordered.filter(({ similarity }) => similarity >= worst).slice(0, MAX_HITS)
    const chunks = await index.chunks(scope, { places: best.map(({ fileId, n }) => [fileId, n] as const) })
    const similarityOf = (chunk: StoredChunk): number => (found.get(keyOf(chunk)) as Near).similarity
    const shown = [...chunks].sort((a, b) => similarityOf(b) - similarityOf(a) || byPlace(a, b)).slice(0, query.limit)
    return {
      symbols: [],
      chunks: shown.map((chunk) => ({ chunk, similarity: similarityOf(chunk) })),
      total: Math.min(found.size, MAX_HITS),
      warnings: byWords ? [WITHOUT_SYNONYMS] : [],
    }
  }
}
