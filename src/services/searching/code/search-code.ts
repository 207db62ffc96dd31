import { contentOf, matchLines, withLineFeeds } from '../../../domain/code/chunks'
import { createGlob } from '../../../domain/code/indexed-files'
import { unknownLanguage } from '../../../domain/code/languages'
import type { CodeMode } from '../../../domain/code/modes'
import { type IndexStatus, statusOf } from '../../../domain/code/status'
import { codeWords, contentLength, foldCase, nameQuery, queryGrams } from '../../../domain/code/symbol-names'
import type { SymbolKind } from '../../../domain/code/symbols'
import { Problem, unavailable } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { cosineOf, dot, modelKey, type QuantizedVector, quantize, readableVector } from '../../../domain/meaning/vector'
import { placeOfMatch } from '../../../domain/recall/excerpts'
import {
  jointSimilarity,
  type Levels,
  matchedFraction,
  meaningOf,
  wordSimilarity,
} from '../../../domain/recall/similarity'
import { atOnce, SLICE, scheduler } from '../../../domain/scheduler'
import type { Analyzer, Token } from '../../../domain/search/analysis'
import { fuse } from '../../../domain/search/fusion'
import { parseQuery, type Unit } from '../../../domain/search/query'
import { countTerms, rank, scoredTerms } from '../../../domain/search/score'
import type { Clock } from '../../../ports/clock'
import type {
  CodeFile,
  CodeFilter,
  CodeIndex,
  CodeTotals,
  StoredChunk,
  SymbolHit,
  TextHit,
  VectorPack,
} from '../../../ports/code-index'
import type { Embedder } from '../../../ports/models'

/** Arguments that all modes of code search share. */
export interface CodeQuery {
  readonly query: string
  /** Null for every project that the caller can read. */
  readonly project: string | null
  /** Normalized by `normalizeLanguage`. */
  readonly language: string | null
  readonly filePattern: string | null
  readonly symbolKind: SymbolKind | null
  readonly limit: number
  readonly threshold: number
}

/** Maximum hits that are counted. */
const MAX_HITS = 1000

export interface ChunkHit {
  readonly chunk: StoredChunk
  readonly similarity?: number
  readonly matchLines?: readonly number[]
  /** Position of the match in the content; null for none. */
  readonly around: number | null
}

export interface CodeHits {
  readonly symbols: readonly SymbolHit[]
  readonly chunks: readonly ChunkHit[]
  readonly total: number
  readonly warnings: readonly string[]
}

/** Orders hits by path, line and project, to break ties. */
export const byPlace = (
  a: { readonly path: string; readonly lineStart: number; readonly project: string },
  b: { readonly path: string; readonly lineStart: number; readonly project: string },
): number => compare(a.path, b.path) || a.lineStart - b.lineStart || compare(a.project, b.project)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns the items whose path matches the pattern; all without a pattern. */
export async function matching<T extends { readonly path: string }>(
  items: readonly T[],
  pattern: string | null,
): Promise<readonly T[]> {
  if (pattern === null) return items
  const matches = createGlob(pattern)
  const found: T[] = []
  for (const item of items) {
    if (matches(item.path)) found.push(item)
    await scheduler.tick((item.path.length * pattern.length) >> 5)
  }
  return found
}

/** Builds the filter of a search, with file IDs if a pattern or language limits the files. */
export async function filterOf(
  index: CodeIndex,
  scope: Scope,
  { project, language, filePattern }: CodeQuery,
): Promise<CodeFilter> {
  if (language === null && filePattern === null) return { project, language, files: null }
  const files = await matching(await index.files(scope, { project, language, files: null }), filePattern)
  return { project, language, files: files.map(({ id }) => id) }
}

/** Chunks that are scored, those with most matching units first. */
const CANDIDATES = 40

/** A chunk that contains words of a query. */
export interface WordScore {
  readonly chunk: StoredChunk
  /** Fraction of the query that it contains, weighted by rarity: K of recall (fabric contract §4). */
  readonly share: number
  /** Score by which it ranks. */
  readonly score: number
}

/** Reports whether the terms of a unit are next to each other somewhere. */
function holds(tokens: readonly Token[], { terms, prefix }: Unit): boolean {
  const last = terms.length - 1
  return tokens.some((_, at) =>
    terms.every((term, i) => {
      const found = tokens[at + i]?.term
      return found !== undefined && (prefix && i === last ? found.startsWith(term) : found === term)
    }),
  )
}

/** The units to search, and the files to search in; null for all. */
interface Asked {
  readonly files: CodeFilter['files']
  readonly units: readonly Unit[]
  readonly limit: number
}

function createSearchWords(index: CodeIndex, analyzer: Analyzer) {
  async function ofProject(
    scope: Scope,
    project: string,
    counted: Promise<readonly CodeTotals[]>,
    { files, units, limit }: Asked,
  ): Promise<WordScore[]> {
    const [{ hits, chunksWithUnit }, all] = await Promise.all([
      index.chunksWithWords(
        scope,
        project,
        units.map(({ terms }) => terms),
        files,
        Math.max(CANDIDATES, limit),
      ),
      counted,
    ])
    const totals = all.find((one) => one.project === project)
    if (hits.length === 0 || totals === undefined) return []
    const terms = scoredTerms(units)
    const weighed = hits.map((chunk) => {
      const tokens = analyzer.tokenize(codeWords(`${chunk.path}\n${contentOf(chunk)}`))
      const held = [...units.keys()].filter((place) => holds(tokens, units[place] as Unit))
      return { chunk, held, length: contentLength(tokens), frequencies: countTerms(terms, tokens) }
    })
    const withTerm = terms.map(({ term }) => {
      const unit = units.findIndex((one) => one.terms.includes(term))
      return chunksWithUnit[unit] ?? 1
    })
    const ranked = rank(
      weighed.map(({ chunk, held, length, frequencies }) => ({
        ...{ id: chunk.id, length, frequencies, following: [] },
        complete: held.length === units.length,
        titled: 0,
      })),
      { entries: totals.chunks, averageLength: totals.words / Math.max(1, totals.chunks), entriesWithTerm: withTerm },
      { mode: 'match', units: units.length },
    )
    const scores = new Map(ranked.map(({ id, score }) => [id, score]))
    const share = matchedFraction(totals.chunks, chunksWithUnit)
    return weighed.flatMap(({ chunk, held }) =>
      held.length === 0 ? [] : [{ chunk, share: share(held), score: scores.get(chunk.id) ?? 0 }],
    )
  }

  /**
   * Finds chunks that contain words of the query, the best of each project, unordered.
   *
   * For one project, takes one round trip that it shares with the count.
   */
  return async (
    scope: Scope,
    project: string | null,
    counted: Promise<readonly CodeTotals[]>,
    asked: Asked,
  ): Promise<WordScore[]> => {
    if (asked.units.length === 0) return []
    const projects = project === null ? (await counted).map((one) => one.project) : [project]
    return (await Promise.all(projects.map((one) => ofProject(scope, one, counted, asked)))).flat()
  }
}

/** Bytes of vectors that one statement returns. */
const STEP_BYTES = 6_000_000
const WITHOUT_SYNONYMS =
  'EMBEDDING_PROVIDER is local, which does not know synonyms; searching by words is more reliable here'
const WITHOUT_MEANING = 'no embedding model is configured: these chunks contain words of the query'
/** Results of each retriever that determine the order (fabric contract §4). */
const RANKED = 200

interface Near {
  readonly fileId: number
  readonly n: number
  readonly cosine: number
}

/** A chunk above the threshold, with its sort key. */
interface Passing {
  readonly fileId: number
  readonly n: number
  readonly similarity: number
  readonly fused: number
}

/** Length from which a chunk counts fully: short chunks of code are not penalized (`domain/search/fusion.ts`). */
const WHOLE_CHUNK = 1_000
/** Smoothing of ranks; this order does not use it. */
const RRF_K = 60

const keyOf = ({ fileId, n }: { readonly fileId: number; readonly n: number }): string => `${fileId}:${n}`

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
function createSearchChunks(dependencies: {
  readonly index: CodeIndex
  readonly embedder: Embedder | null
  readonly analyzer: Analyzer
  /** Returns the reference cosines of the embedder. */
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

  /** Compares every chunk of the filter, so that the result is exact for files stored a moment ago. */
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
      // The statement returned less than its limit, so there are no more.
      if (last === undefined || size < STEP_BYTES / 2) return near
      after = last.id
    }
  }

  /** Returns the chunks above the threshold by meaning and words together, best first. */
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
    // Equal keys are ordered by place, which requires reading their chunks.
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

/** Bytes of files that one statement scans. */
const LOOK_BYTES = 4_000_000
/** Words that are searched if no line contains the complete query. */
const MAX_WORDS = 12

const NO_LINE = 'no line contains this text; these chunks contain all of its words'

interface Sought {
  readonly exact: string
  readonly folded: string
}

const sought = (exact: string): Sought => ({ exact, folded: foldCase(exact) })

function createSearchLines(index: CodeIndex) {
  /** Returns files that may contain the texts, ordered by path. With `grams` null, any file may. */
  async function candidates(scope: Scope, query: CodeQuery, projects: readonly string[], texts: readonly Sought[]) {
    const grams = texts.flatMap(({ folded }) => queryGrams(folded) ?? []).slice(0, 48)
    const lists = await Promise.all(
      projects.map((project) =>
        index.filesWithGrams(scope, project, query.language, grams.length === 0 ? null : grams),
      ),
    )
    const files = await matching(lists.flat(), query.filePattern)
    return projects.length === 1
      ? files
      : [...files].sort((a, b) => byPlace({ ...a, lineStart: 0 }, { ...b, lineStart: 0 }))
  }

  /** Returns hits in the order of files, up to the maximum that is counted. */
  async function look(scope: Scope, files: readonly CodeFile[], texts: readonly Sought[]): Promise<TextHit[]> {
    const hits: TextHit[] = []
    for (let at = 0; at < files.length && hits.length < MAX_HITS; ) {
      const step: number[] = []
      for (let bytes = 0; at < files.length && (step.length === 0 || bytes < LOOK_BYTES); at++) {
        const file = files[at] as CodeFile
        step.push(file.id)
        bytes += file.bytes
      }
      const place = new Map(step.map((id, i) => [id, i]))
      const found = await index.chunksWith(scope, step, texts)
      const order = (hit: TextHit): number => place.get(hit.fileId) as number
      hits.push(...[...found].sort((a, b) => order(a) - order(b) || a.lineStart - b.lineStart))
      if (at < files.length) await scheduler.tick(SLICE)
    }
    return hits.slice(0, MAX_HITS)
  }

  async function answer(
    scope: Scope,
    query: CodeQuery,
    projects: readonly string[],
    texts: readonly Sought[],
  ): Promise<CodeHits> {
    const files = await candidates(scope, query, projects, texts)
    const hits = await look(scope, files, texts)
    const fileOf = new Map(files.map((file) => [file.id, file]))
    const placed = hits.map((hit) => ({ ...hit, ...(fileOf.get(hit.fileId) as CodeFile) }))
    placed.sort((a, b) => Number(b.exact) - Number(a.exact) || b.hits - a.hits || byPlace(a, b))
    const shown = placed.slice(0, query.limit)
    const chunks = new Map(
      (await index.chunks(scope, { ids: shown.map(({ chunkId }) => chunkId) })).map((chunk) => [chunk.id, chunk]),
    )
    const folded = texts.map((text) => text.folded)
    return {
      symbols: [],
      chunks: shown.flatMap(({ chunkId }) => {
        const chunk = chunks.get(chunkId)
        return chunk === undefined
          ? []
          : [{ chunk, matchLines: matchLines(chunk, folded, texts.length === 1 ? 'own' : 'all'), around: null }]
      }),
      total: hits.length,
      warnings: [],
    }
  }

  return async (scope: Scope, query: CodeQuery): Promise<CodeHits> => {
    const projects =
      query.project === null ? (await index.totals(scope, null)).map(({ project }) => project) : [query.project]
    const whole = await answer(scope, query, projects, [sought(withLineFeeds(query.query))])
    if (whole.total > 0) return whole
    const words = [...new Set(query.query.trim().split(/\s+/))]
    if (words.length === 1 && words[0] === query.query) return whole
    const used = words.slice(0, MAX_WORDS)
    const hits = await answer(scope, query, projects, used.map(sought))
    const cut = words.length > MAX_WORDS ? [`only the first ${MAX_WORDS} words of the query were searched`] : []
    return { ...hits, warnings: hits.total === 0 ? cut : [NO_LINE, ...cut] }
  }
}

/** Maximum length of a symbol name. */
const LONGEST_NAME = 600

interface FoundCode extends CodeHits {
  readonly indexStatus: IndexStatus
  /** Projects with several roots, whose files are shown with their root. */
  readonly roots: ReadonlySet<string>
}

export type SearchCode = ReturnType<typeof createSearchCode>

export function createSearchCode(dependencies: {
  readonly index: CodeIndex
  /** Null if semantic search is switched off. */
  readonly embedder: Embedder | null
  readonly analyzer: Analyzer
  /** Returns the reference cosines of the embedder. */
  readonly levels: () => Promise<Levels>
  readonly clock: Clock
}) {
  const { index, clock } = dependencies

  async function bySymbol(scope: Scope, query: CodeQuery): Promise<CodeHits> {
    const asked = nameQuery(query.query)
    if (asked.exact.length > LONGEST_NAME) return { symbols: [], chunks: [], total: 0, warnings: [] }
    // Each name is stored with its language, so only a pattern needs the list of files.
    const filter =
      query.filePattern === null
        ? { project: query.project, language: query.language, files: null }
        : await filterOf(index, scope, query)
    const { hits, total } = await index.symbols(
      scope,
      { ...filter, kind: query.symbolKind },
      asked,
      query.limit,
      MAX_HITS,
    )
    return { symbols: hits, chunks: [], total, warnings: [] }
  }

  const modes: Readonly<Record<CodeMode, (scope: Scope, query: CodeQuery) => Promise<CodeHits>>> = {
    symbol: bySymbol,
    text: createSearchLines(index),
    semantic: createSearchChunks(dependencies),
  }

  /**
   * Searches code.
   *
   * @throws Problem unavailable if the query of a semantic search cannot be embedded; invalid_input for a malformed pattern
   * @example
   * await services.code.search(principal, 'symbol', { query: 'withTenant', project: 'ferry', language: null, filePattern: null, symbolKind: null, limit: 10, threshold: 0.5 })
   */
  return async (scope: Scope, mode: CodeMode, query: CodeQuery): Promise<FoundCode> => {
    const [hits, totals] = await Promise.all([modes[mode](scope, query), index.totals(scope, query.project)])
    const others = totals.length === 0 && query.project !== null ? await index.totals(scope, null) : []
    const unknown = hits.total === 0 && query.language !== null ? unknownLanguage(query.language) : null
    const warnings = [
      ...(totals.length === 0 ? [withoutCode(query.project, others)] : hits.warnings),
      ...(unknown === null ? [] : [unknown]),
    ]
    return { ...hits, warnings, indexStatus: statusOf(totals, clock.now()), roots: rootsOf(totals) }
  }
}

/** Projects that a warning names. */
const NAMED = 10

/** Returns the warning if nothing is indexed. */
function withoutCode(project: string | null, others: readonly CodeTotals[]): string {
  const names = others.slice(0, NAMED).map((one) => one.project)
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : ''
  const where = project === null ? 'no project' : `project ${project}`
  const known = names.length === 0 ? 'index it with `commonplace index`' : `these have: ${names.join(', ')}${more}`
  return project === null ? `${where} has code; ${known}` : `${where} has no code; ${known}`
}

/** Returns the projects with files in several roots. */
const rootsOf = (totals: readonly CodeTotals[]): ReadonlySet<string> =>
  new Set(totals.filter(({ hasRoots }) => hasRoots).map(({ project }) => project))
