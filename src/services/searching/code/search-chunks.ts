import { contentOf } from '../../../domain/code/chunks'
import { Problem, unavailable } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { cosineOf, dot, modelKey, type QuantizedVector, quantize, readableVector } from '../../../domain/meaning/vector'
import { placeOfMatch } from '../../../domain/recall/excerpts'
import { jointSimilarity, type Levels, meaningOf, wordSimilarity } from '../../../domain/recall/similarity'
import { atOnce, scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import { fuse } from '../../../domain/search/fusion'
import { parseQuery } from '../../../domain/search/query'
import type { CodeFilter, CodeIndex, VectorPack } from '../../../ports/code-index'
import type { Embedder } from '../../../ports/embedder'
import { byPlace, type CodeHits, type CodeQuery, filterOf, MAX_HITS } from './code-hits'
import { createSearchWords, type WordScore } from './search-words'

/**
 * Semantic mode: every chunk that passes the filters is compared, so an answer is exact whatever was stored a moment ago; a
 * project's vectors are few enough (see bench/records/code.md).
 */

/** Bytes of vectors that one statement brings. */
const STEP_BYTES = 6_000_000
const WITHOUT_SYNONYMS = 'EMBEDDING_PROVIDER is local, which knows no synonyms; words tell more than meaning here'
const WITHOUT_MEANING = 'there is no embedder: these chunks hold words of the query'
/** Of each way, those whose places make the order (fabric contract §4). */
const RANKED = 200

interface Near {
  readonly fileId: number
  readonly n: number
  readonly cosine: number
}

/** A chunk that passes, and the key of its place. */
interface Passing {
  readonly fileId: number
  readonly n: number
  readonly similarity: number
  readonly fused: number
}

/** A chunk counts in full, however short: code is not chat (`domain/search/fusion.ts`). */
const WHOLE_CHUNK = 1_000
/** Smoothing of ranks, which this order does not use. */
const RRF_K = 60

const keyOf = ({ fileId, n }: { readonly fileId: number; readonly n: number }): string => `${fileId}:${n}`

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSearchChunks(dependencies: {
  readonly index: CodeIndex
  readonly embedder: Embedder | null
  readonly analyzer: Analyzer
  /** What cosines of the embedder mean. */
  readonly levels: () => Promise<Levels>
}) {
  const { index, embedder, analyzer, levels } = dependencies
  const searchWords = createSearchWords(index, analyzer)

  async function embedQuery(embedder: Embedder, text: string): Promise<QuantizedVector> {
    const made = await embedder.embed([text], 'query').catch((error: unknown) => {
      const reason = error instanceof Problem ? `: ${error.message}` : ''
      throw unavailable(`Failed to generate embedding for query${reason}; modes "symbol" and "text" need none`, error)
    })
    return quantize(made[0] as Float32Array)
  }

  /** Every chunk of the filter, with its cosine. */
  async function compare(scope: Scope, filter: CodeFilter, embedder: Embedder, text: string): Promise<Near[]> {
    const query = await embedQuery(embedder, text)
    const { dimensions } = embedder
    const limit = Math.max(64, Math.floor(STEP_BYTES / ((dimensions * 4) / 3 + 20)))
    const squares = dot(query.values, query.values)
    const near: Near[] = []
    const look = ({ fileId, first, data }: VectorPack): void => {
      for (const [i, line] of data.split('\n').entries()) {
        const vector = readableVector(line)
        if (vector === null) continue
        const { values } = vector
        near.push({ fileId, n: first + i, cosine: cosineOf(dot(query.values, values), squares, dot(values, values)) })
      }
    }
    for (let after = 0; ; ) {
      const packs = await index.vectors(scope, filter, modelKey(embedder), after, limit)
      for (const pack of packs) {
        look(pack)
        await scheduler.tick(pack.data.length >> 4)
      }
      const last = packs.at(-1)
      const size = packs.reduce((sum, { data }) => sum + data.length, 0)
      // Fewer than could have been brought: there are no more.
      if (last === undefined || size < STEP_BYTES / 2) return near
      after = last.id
    }
  }

  /** What passes the threshold by meaning and words together, best first. */
  async function passing(near: readonly Near[], words: readonly WordScore[], threshold: number): Promise<Passing[]> {
    const meant = embedder === null ? null : await levels()
    const byKey = new Map(words.map((word) => [keyOf(word.chunk), word]))
    const cosines = new Map(near.map((one) => [keyOf(one), one]))
    const all = [
      ...near,
      ...words.flatMap(({ chunk }) =>
        cosines.has(keyOf(chunk)) ? [] : [{ fileId: chunk.fileId, n: chunk.n, cosine: null }],
      ),
    ].map(({ fileId, n, cosine }) => {
      const word = byKey.get(keyOf({ fileId, n }))
      const share = word?.share ?? 0
      const similarity =
        meant === null || cosine === null ? wordSimilarity(share) : jointSimilarity(meaningOf(cosine, meant), share)
      return { fileId, n, similarity, cosine, score: word?.score ?? null }
    })
    const ranks = (value: (one: (typeof all)[number]) => number | null): Map<(typeof all)[number], number> =>
      new Map(
        all
          .filter((one) => value(one) !== null)
          .sort((a, b) => (value(b) as number) - (value(a) as number))
          .slice(0, RANKED)
          .map((one, i) => [one, i + 1]),
      )
    const [semantic, keyword] = [ranks(({ cosine }) => cosine), ranks(({ score }) => score)]
    const candidates = all.map((one, id) => ({
      id,
      ftsRank: keyword.get(one) ?? null,
      semanticRank: semantic.get(one) ?? null,
      ftsScore: one.score,
      titled: 0,
      nearest: one.cosine === null ? null : { cosine: one.cosine, codePoints: WHOLE_CHUNK },
    }))
    const ranked = candidates.filter(({ ftsRank, semanticRank }) => ftsRank !== null || semanticRank !== null)
    const keys = new Map(fuse('scores', ranked, RRF_K).order.map(({ id, fused }) => [id, fused]))
    return all
      .map(({ fileId, n, similarity }, id) => ({
        fileId,
        n,
        similarity,
        fused: keys.get(id) ?? Number.NEGATIVE_INFINITY,
      }))
      .filter(({ similarity }) => similarity > 0 && similarity >= threshold)
      .sort((a, b) => b.fused - a.fused || b.similarity - a.similarity)
  }

  return async (scope: Scope, query: CodeQuery): Promise<CodeHits> => {
    const filter = await filterOf(index, scope, query)
    const { units } = parseQuery(query.query, 'match', analyzer)
    const [near, words] = await Promise.all([
      embedder === null ? [] : compare(scope, filter, embedder, query.query),
      searchWords(scope, query.project, index.totals(scope, query.project), {
        files: filter.files,
        units,
        limit: query.limit,
      }),
    ])
    const ordered = await passing(near, words, query.threshold)
    const places = ordered.slice(0, MAX_HITS)
    // Equal keys are put in order by place, which only their chunks know.
    const last = places[Math.min(query.limit, places.length) - 1]
    const best = places.filter((one, i) => i < query.limit || one.fused === last?.fused)
    const passed = new Map(best.map((one) => [keyOf(one), one]))
    const held = new Set(words.map(({ chunk }) => keyOf(chunk)))
    const others = best.flatMap((one) => (held.has(keyOf(one)) ? [] : [[one.fileId, one.n] as const]))
    const read = others.length === 0 ? [] : await index.chunks(scope, { places: others })
    const shown = [...words.map(({ chunk }) => chunk), ...read]
      .flatMap((chunk) => {
        const one = passed.get(keyOf(chunk))
        return one === undefined ? [] : [{ chunk, ...one }]
      })
      .sort((a, b) => b.fused - a.fused || b.similarity - a.similarity || byPlace(a.chunk, b.chunk))
      .slice(0, query.limit)
    return {
      symbols: [],
      chunks: shown.map(({ chunk, similarity }) => ({
        ...{ chunk, similarity, around: atOnce(placeOfMatch(contentOf(chunk), units, analyzer)) },
      })),
      total: places.length,
      warnings: embedder === null ? [WITHOUT_MEANING] : embedder.provider === 'local' ? [WITHOUT_SYNONYMS] : [],
    }
  }
}
