import type { Layer } from '../../../domain/entry/entry'
import { Problem } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { isNarrow, regionOf, type VectorRegion } from '../../../domain/meaning/chunk'
import {
  cosine,
  cosineOf,
  distance,
  modelKey,
  type QuantizedVector,
  quantize,
  readableVector,
  squaresOf,
} from '../../../domain/meaning/vector'
import { paginate } from '../../../domain/paginate'
import { scheduler } from '../../../domain/scheduler'
import type { Filter } from '../../../domain/search/filter'
import type { Millis } from '../../../domain/time'
import type { Embedder } from '../../../ports/models'
import type { SimilarRequest, VectorHit, VectorIndex, VectorSearch, VectorSpace } from '../../../ports/vector-index'
import type { VectorLookupResult, VectorRow, VectorRows } from '../../../ports/vector-rows'
import { type FinishIndex, NOTHING_PENDING } from '../../maintenance/pending-index'
import type { SyncVectors } from '../../maintenance/sync-vectors'

/** Entry with its similarity: one row per entry, for its closest chunk. */
export interface SemanticHit {
  readonly id: number
  readonly cosine: number
  readonly distance: number
  /** Start of the closest text range, in code points. */
  readonly start: number
  readonly length: number
  /** Weight of the entry, 1 to 5. */
  readonly weight: number
  readonly layer: Layer
}

/** A compared vector. */
export interface ComparedVector extends Omit<VectorRow, 'data' | 'compared'> {
  readonly cosine: number
}

/** Maximum difference between an approximate and an exact cosine that is due to rounding. */
const ROUNDING = 0.000_01

/** Returns the closest hit of each entry. */
const closestHits = (hits: readonly VectorHit[]): ReadonlyMap<VectorHit['entryId'], VectorHit> =>
  new Map(hits.toReversed().map((hit) => [hit.entryId, hit]))

/** Returns one row per entry for its closest chunk, ordered by distance, then by ID. */
function bestPerEntry(near: readonly ComparedVector[]): SemanticHit[] {
  const best = new Map<number, ComparedVector>()
  for (const row of near) {
    const known = best.get(row.entryId)
    if (known === undefined || row.cosine > known.cosine || (row.cosine === known.cosine && row.start < known.start))
      best.set(row.entryId, row)
  }
  return [...best.values()]
    .map(({ entryId, start, length, weight, layer, cosine: cos }) => ({
      id: entryId,
      start,
      length,
      weight,
      layer,
      cosine: cos,
      distance: distance(cos),
    }))
    .sort((a, b) => a.distance - b.distance || a.id - b.id)
}

/** Vectors that one statement reads, because a Worker may execute a thousand statements per request. */
const SCAN_STEP = 2000
/** Maximum entries, and maximum vectors of these, that are compared together. */
const [FEW, FEW_VECTORS] = [1_000, 4_000]
/** Bytes of text per vector, as an estimate. */
const BYTES_A_VECTOR = 400
const ALL_CHUNKS = Number.MAX_SAFE_INTEGER
/**
 * Chunks that are compared of the entries found by words, an equal part of each and at least 20 of one.
 *
 * The limit bounds the rows that are read. An omitted chunk matters little: if it were among the closest, semantic search would
 * have found it.
 */
const CHUNKS = 4000
const CHUNKS_AN_ENTRY = 20

function createComparing({ rows, model }: { readonly rows: VectorRows; readonly model: string }) {
  /** Compares a stored vector; returns none for one that cannot be read. */
  function compare(query: QuantizedVector, { data, compared, ...row }: VectorRow): ComparedVector[] {
    if (compared !== null) return [{ ...row, cosine: cosineOf(compared.product, squaresOf(query), compared.squares) }]
    const vector = readableVector(data as string)
    return vector === null ? [] : [{ ...row, cosine: cosine(query.values, vector.values) }]
  }

  /** Compares every vector that scope and filter admit, in steps. Slowest, and always exact. */
  async function compareAll(scope: Scope, filter: Filter, query: QuantizedVector): Promise<ComparedVector[]> {
    const near: ComparedVector[] = []
    const parts = paginate({
      start: 0,
      async step(after) {
        if (after > 0) await scheduler.yield()
        const { rows: found, last } = await rows.scan(scope, model, filter, after, SCAN_STEP)
        return { found, next: last }
      },
    })
    for await (const found of parts) near.push(...found.flatMap((row) => compare(query, row)))
    return near
  }

  /** Compares the vectors of the few entries that the filter admits; null if it admits more. */
  async function compareFew(scope: Scope, filter: Filter, query: QuantizedVector): Promise<ComparedVector[] | null> {
    const ids = await rows.fewAdmitted(scope, filter, FEW)
    if (ids === null) return null
    const sizes = await rows.sizesOf(ids)
    const vectors = sizes.reduce((sum, { bytes }) => sum + 1 + Math.floor(bytes / BYTES_A_VECTOR), 0)
    if (vectors > FEW_VECTORS) return null
    return (await rows.ofEntries(scope, model, filter, ids, ALL_CHUNKS, query)).flatMap((row) => compare(query, row))
  }

  /** Compares the first chunks of these entries, within scope and filter. Takes one round trip. */
  async function compareChunks(
    scope: Scope,
    filter: Filter,
    query: QuantizedVector,
    entryIds: readonly number[],
  ): Promise<ComparedVector[]> {
    if (entryIds.length === 0) return []
    const chunks = Math.max(CHUNKS_AN_ENTRY, Math.floor(CHUNKS / entryIds.length))
    return (await rows.ofEntries(scope, model, filter, entryIds, chunks, query)).flatMap((row) => compare(query, row))
  }

  return { compare, compareAll, compareFew, compareChunks }
}

export interface SemanticRanking {
  readonly hits: readonly SemanticHit[]
  /** The closest chunks of the requested and of all compared entries, by ID. */
  readonly known: ReadonlyMap<number, SemanticHit>
  readonly embeddingMs: Millis
}

/** Maximum vectors of a filter that are compared one by one, which is exact and needs no index. */
const EXACT = 4000
/** Vectors requested from an index per wanted entry; several may belong to one entry or be refused. */
const OVERFETCH = 4
/**
 * The same if the index searches only a part of the organization and the filter is narrower.
 *
 * An index of the complete organization is not asked again: the filter finds its entries faster.
 */
const NARROW_OVERFETCH = 20
/** A filter is scarce if it admits less than one in this number of similar entries. */
const SCARCE = 33
/** Hits that are read first, per wanted entry: most entries have one similar vector, and most hits are admitted. */
const FIRST = 1.25
const firstOf = (depth: number): number => Math.ceil(depth * FIRST)
/** Further hits that are read together. */
const PORTION = 4000
/** Unconfirmed rows that a search compares itself; more are sent to the index first. */
const UNCONFIRMED = 2000

/** A query as a vector. */
interface EmbeddedQuery {
  readonly query: QuantizedVector
  readonly embeddingMs: Millis
}

/** The answer of the index before its rows are read. */
interface AskedSemantic extends EmbeddedQuery {
  readonly limit: number
  readonly region: VectorRegion | null
  /** Whether scope and filter admit everything in the searched part of the index. */
  readonly isWhole: boolean
  readonly found: VectorSearch
  /** Number of the write state when the index was asked (`FinishIndex.round`). */
  readonly round: number
}

export type SearchSemantic = ReturnType<typeof createSearchSemantic>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSearchSemantic(dependencies: {
  readonly embedder: Embedder
  readonly index: VectorIndex
  readonly rows: VectorRows
  readonly sync: SyncVectors
  readonly now: () => Millis
  /** Overrides `EXACT`. */
  readonly exact?: number
  readonly finishing?: FinishIndex
}) {
  const { embedder, index, rows, sync, now, exact: fewEnough = EXACT } = dependencies
  const { finishing = NOTHING_PENDING } = dependencies
  const model = modelKey(embedder)

  const { compare, compareAll, compareFew, compareChunks } = createComparing({ rows, model })

  const isApproximate = ({ isExact = false }: VectorSearch): boolean => index.approximate && !isExact

  const spaceOf = (scope: Scope): VectorSpace => ({ org: scope.org, model, dimensions: embedder.dimensions })

  /**
   * Reads the rows of the index's hits, closest first and in portions, until enough entries are certain.
   *
   * A text with hundreds of chunks has many hits for one entry. The first portion also reads unconfirmed rows.
   */
  async function lookUp(
    { scope, filter, depth }: { readonly scope: Scope; readonly filter: Filter; readonly depth: number },
    { found, query }: Pick<AskedSemantic, 'found' | 'query'>,
    eligibleLimit: number,
  ): Promise<{ near: ComparedVector[]; enough: boolean; moreUnconfirmed: boolean }> {
    const near: ComparedVector[] = []
    const certain = new Set<number>()
    for (let from = 0; from === 0 || from < found.hits.length; ) {
      const isFirst = from === 0
      const hits = found.hits.slice(from, from + (isFirst ? firstOf(depth) : PORTION))
      const further = isFirst ? found.hits.slice(hits.length, hits.length + PORTION) : []
      if (!isFirst) await scheduler.yield()
      const looked = await rows.lookUp(scope, {
        ...{ model, filter, query, enough: depth },
        hits: hits.map(({ id }) => id),
        further: further.map(({ id }) => id),
        hitData: isApproximate(found),
        confirmedUpTo: isFirst ? found.confirmedUpTo : Number.MAX_SAFE_INTEGER,
        unconfirmedLimit: UNCONFIRMED,
        eligibleLimit: isFirst ? eligibleLimit : 0,
      })
      if (looked.eligible !== null)
        return { near: looked.eligible.flatMap((row) => compare(query, row)), enough: true, moreUnconfirmed: false }
      if (looked.moreUnconfirmed) return { near, enough: false, moreUnconfirmed: true }
      const seen = looked.readFurther ? [...hits, ...further] : hits
      near.push(...join(seen, looked, query))
      // Hits that were not read are not closer than the last one read.
      const last = (seen.at(-1)?.cosine ?? 1) - (isApproximate(found) ? ROUNDING : 0)
      for (const row of near) if (row.cosine >= last) certain.add(row.entryId)
      if (certain.size >= depth) return { near, enough: true, moreUnconfirmed: false }
      from += Math.max(seen.length, 1)
    }
    return { near, enough: !found.cut, moreUnconfirmed: false }
  }

  /**
   * Returns the closest vectors: hits of the index and unconfirmed rows, without deleted, changed and refused ones. Asks for more
   * until enough are found.
   */
  async function nearest(scope: Scope, filter: Filter, asked: AskedSemantic, depth: number): Promise<ComparedVector[]> {
    const { query } = asked
    const space = spaceOf(scope)
    // A filter by place does not justify a scan: the index has returned the closest vectors there.
    let [mayBeFew, isDeeper] = [!asked.isWhole, false]
    let exact = !asked.isWhole && (isNarrow(filter) || scope.projects !== null)
    for (let { found, limit } = asked; ; found = await index.search(space, query, limit, asked.region)) {
      // A complete answer of the index needs no scan of the filter.
      const isKnown = !found.cut && index.leftOut(space) === 0
      const eligibleLimit = exact && !isKnown ? fewEnough : 0
      const looked = await lookUp({ scope, filter, depth }, { found, query }, eligibleLimit)
      if (looked.moreUnconfirmed) {
        const caughtUp = await sync(space)
        if (!caughtUp) return compareAll(scope, filter, query)
        continue
      }
      if (looked.enough) return looked.near
      // For a filter that admits almost no similar entry, a scan of the filter is cheaper.
      const isScarce = looked.near.length * SCARCE < found.hits.length
      const few = mayBeFew && isScarce && isDeeper ? await compareFew(scope, filter, query) : null
      if (few !== null) return few
      mayBeFew = mayBeFew && !isDeeper
      if (limit >= index.depth) return compareAll(scope, filter, query)
      limit = Math.min(limit * 8, index.depth)
      await scheduler.yield()
      exact = false
      isDeeper = true
    }
  }

  function join(found: readonly VectorHit[], looked: VectorLookupResult, query: QuantizedVector): ComparedVector[] {
    const cosines = new Map(found.map((hit) => [hit.id, hit.cosine]))
    const isUncompared = ({ data, compared }: VectorRow): boolean => data === null && compared === null
    const confirmed = looked.hits.flatMap((row) =>
      isUncompared(row) ? [{ ...row, cosine: cosines.get(row.id) as number }] : compare(query, row),
    )
    const known = new Set(confirmed.map(({ id }) => id))
    const fresh = looked.unconfirmed.filter(({ id }) => !known.has(id)).flatMap((row) => compare(query, row))
    return [...confirmed, ...fresh]
  }

  /** Embeds a query. @throws Problem unavailable if the query cannot be embedded */
  async function embed(text: string): Promise<EmbeddedQuery> {
    const startedAt = now()
    const embedded = await embedder.embed([text], 'query').catch((error: unknown) => {
      const reason = error instanceof Problem ? `: ${error.message}` : ''
      throw new Problem('unavailable', `Failed to generate embedding for query${reason}`, {}, error)
    })
    return { embeddingMs: now() - startedAt, query: quantize(embedded[0] as Float32Array) }
  }

  /**
   * Asks the index, limited to the part of the organization in the filter if the index supports it.
   *
   * @param depth wanted entries
   * @throws Problem unavailable if the index does not answer
   */
  const find = (scope: Scope, embedded: EmbeddedQuery, depth: number, filter: Filter): Promise<AskedSemantic> => {
    const { region, isWhole } = regionOf(scope, filter)
    const overfetch = isWhole || region === null || !index.placed ? OVERFETCH : NARROW_OVERFETCH
    return ask(scope, embedded, depth * overfetch, { region, isWhole })
  }

  /** Asks the index for a number of vectors. */
  async function ask(
    scope: Scope,
    embedded: EmbeddedQuery,
    vectors: number,
    where: Pick<AskedSemantic, 'region' | 'isWhole'> = { region: null, isWhole: false },
  ): Promise<AskedSemantic> {
    const limit = Math.min(vectors, index.depth)
    const round = finishing.round()
    const found = await index.search(spaceOf(scope), embedded.query, limit, where.region)
    const isPlaced = index.placed || found.isExact === true
    return { ...embedded, ...where, isWhole: where.isWhole && isPlaced, limit, found, round }
  }

  /** Asks the index in a part of the organization; null if it does not support that. */
  const findNearby = async (
    scope: Scope,
    { query }: EmbeddedQuery,
    request: SimilarRequest,
  ): Promise<VectorSearch | null> => index.nearby?.(spaceOf(scope), scope, query, request) ?? null

  /** Sends pending changes to the index. @returns whether the index is complete now */
  const catchUp = (scope: Scope): Promise<boolean> => sync(spaceOf(scope))

  /** Reads hits within scope and filter. */
  async function named(
    scope: Scope,
    { query }: EmbeddedQuery,
    filter: Filter,
    hits: readonly VectorHit[],
  ): Promise<ComparedVector[]> {
    if (hits.length === 0) return []
    const looked = await rows.lookUp(scope, {
      ...{ model, filter, query, hits: hits.map(({ id }) => id), further: [], enough: 0, hitData: false },
      ...{ confirmedUpTo: Number.MAX_SAFE_INTEGER, unconfirmedLimit: 0, eligibleLimit: 0 },
    })
    return join(hits, looked, query)
  }

  /**
   * Reads the hits of the index, starting immediately; usually takes one round trip.
   *
   * @param extraIds entries whose similarity is needed wherever they rank; those with queued vectors are left out
   */
  async function answer(
    scope: Scope,
    asked: AskedSemantic,
    filter: Filter,
    depth: number,
    extraIds: readonly number[] = [],
  ): Promise<SemanticRanking> {
    const { query, found } = asked
    const compared = (ids: readonly number[]) => compareChunks(scope, filter, query, ids)
    const closest = closestHits(found.hits)
    // These entries are read anyway.
    const first = closestHits(found.hits.slice(0, firstOf(depth)))
    const others = extraIds.flatMap((id) => (first.has(id) ? [] : (closest.get(id) ?? [])))
    const [near, further, untold] = await Promise.all([
      finishing.searching(scope, async () => {
        // The index did not know vectors created since.
        const known = asked.round === finishing.round() ? asked : await ask(scope, asked, asked.limit, asked)
        return nearest(scope, filter, known, depth)
      }),
      named(scope, asked, filter, others),
      compared(extraIds.filter((id) => !closest.has(id))),
    ])
    const known = new Set([...near, ...further].map(({ entryId }) => entryId))
    // The index returned a deleted vector for entries written in between.
    const late = await compared(extraIds.filter((id) => closest.has(id) && !known.has(id)))
    return {
      hits: bestPerEntry(near).slice(0, depth),
      known: new Map(bestPerEntry([...near, ...further, ...untold, ...late]).map((hit) => [hit.id, hit])),
      embeddingMs: asked.embeddingMs,
    }
  }

  const search = async (scope: Scope, text: string, filter: Filter, depth: number): Promise<SemanticRanking> =>
    answer(scope, await find(scope, await embed(text), depth, filter), filter, depth)

  return Object.assign(search, { embed, find, findNearby, catchUp, ask, answer, model })
}
