// How near are vectors that are compared one by one: all that a filter admits, or those of the few entries that it does?

import type { Layer } from '../../../domain/entry/entry'
import { Problem } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { inParts } from '../../../domain/in-parts'
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
import { scheduler } from '../../../domain/scheduler'
import type { Filter } from '../../../domain/search/filter'
import type { Millis } from '../../../domain/time'
import type { Embedder } from '../../../ports/models'
import type { SimilarRequest, VectorHit, VectorIndex, VectorSearch, VectorSpace } from '../../../ports/vector-index'
import type { VectorLookupResult, VectorRow, VectorRows } from '../../../ports/vector-rows'
import { type FinishIndex, NOTHING_PENDING } from '../../keeping/pending-index'
import type { SyncVectors } from '../../keeping/sync-vectors'

/** Entries that are near in meaning, nearest first: one row an entry, by its nearest chunk. */
export interface SemanticHit {
  readonly id: number
  readonly cosine: number
  readonly distance: number
  /** The stretch of the text that is nearest, in code points. */
  readonly start: number
  readonly length: number
  /** Of the entry, 1 to 5. */
  readonly weight: number
  readonly layer: Layer
}

/** A vector that was compared. */
export interface ComparedVector extends Omit<VectorRow, 'data' | 'compared'> {
  readonly cosine: number
}

/** How far an approximate cosine may be from the true one where nothing but rounding makes the difference. */
export const ROUNDING = 0.000_01

/** Of each entry that the index named, its nearest hit. */
export const nearestOf = (hits: readonly VectorHit[]): ReadonlyMap<VectorHit['entryId'], VectorHit> =>
  new Map(hits.toReversed().map((hit) => [hit.entryId, hit]))

/** One row an entry, that of its nearest chunk; by distance, then by id. */
export function bestPerEntry(near: readonly ComparedVector[]): SemanticHit[] {
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

/** Vectors that one statement goes through, whatever the filter admits of them: a Worker may ask a thousand statements a request. */
const SCAN_STEP = 2000
/** Entries of which all vectors are compared at once, and how many vectors these may have. */
const [FEW, FEW_VECTORS] = [1_000, 4_000]
/** Bytes of text that may make a vector. */
const BYTES_A_VECTOR = 400
const ALL_CHUNKS = Number.MAX_SAFE_INTEGER
/**
 * Chunks that are compared of the entries whose words were found, an equal part of each and no less than 20 of one (27,000
 * characters), so that what is read stays small. What that leaves out of a longer text cannot matter much: had it a chunk nearer
 * than the last entry that was found by meaning, it would be among those, so its cosine lies between what is known of it and that.
 */
const CHUNKS = 4000
const CHUNKS_AN_ENTRY = 20

export function createComparing({ rows, model }: { readonly rows: VectorRows; readonly model: string }) {
  /** Empty for a stored vector that cannot be read. */
  function compare(query: QuantizedVector, { data, compared, ...row }: VectorRow): ComparedVector[] {
    if (compared !== null) return [{ ...row, cosine: cosineOf(compared.product, squaresOf(query), compared.squares) }]
    const vector = readableVector(data as string)
    return vector === null ? [] : [{ ...row, cosine: cosine(query.values, vector.values) }]
  }

  /** Every vector that scope and filter admit, in steps: the last resort, always right. */
  async function compareAll(scope: Scope, filter: Filter, query: QuantizedVector): Promise<ComparedVector[]> {
    const near: ComparedVector[] = []
    const parts = inParts({
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

  /** The same where the filter admits few entries, which is asked of the entries and not of their vectors; null where it admits more. */
  async function compareFew(scope: Scope, filter: Filter, query: QuantizedVector): Promise<ComparedVector[] | null> {
    const ids = await rows.fewAdmitted(scope, filter, FEW)
    if (ids === null) return null
    const sizes = await rows.sizesOf(ids)
    const vectors = sizes.reduce((sum, { bytes }) => sum + 1 + Math.floor(bytes / BYTES_A_VECTOR), 0)
    if (vectors > FEW_VECTORS) return null
    return (await rows.ofEntries(scope, model, filter, ids, ALL_CHUNKS, query)).flatMap((row) => compare(query, row))
  }

  /** The first chunks of these entries, as far as scope and filter admit them. One round trip. */
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
  /** The nearest chunks of entries by their ids: of those that were asked for beside, and of all that was compared. */
  readonly known: ReadonlyMap<number, SemanticHit>
  readonly embeddingMs: Millis
}

/** Up to this many vectors that a filter admits are compared one by one, which is exact and needs no index. */
const EXACT = 4000
/** Vectors asked of an index at first, for each entry wanted; several may belong to one entry or be refused. */
const OVERFETCH = 4
/**
 * The same where the index looks at a part of the org alone and the filter asks for more than that: a twentieth of what stands there needs
 * no second look. Where it looks at the whole org, what a filter admits is sooner found by the filter.
 */
const NARROW_OVERFETCH = 20
/** A filter that admits less than one in so many of what is near. */
const SCARCE = 33
/** Hits that are looked up at first, for each entry wanted: most entries have one vector near to a query, and most hits are admitted. */
const FIRST = 1.25
const firstOf = (depth: number): number => Math.ceil(depth * FIRST)
/** Further hits that are looked up at once. */
const PORTION = 4000
/** Rows that the index has not confirmed and that a search compares itself; more are sent to the index first. */
const UNCONFIRMED = 2000

/** A query as a vector. */
interface EmbeddedQuery {
  readonly query: QuantizedVector
  readonly embeddingMs: Millis
}

/** What the index answered, before the rows have been asked. */
interface AskedSemantic extends EmbeddedQuery {
  readonly limit: number
  readonly region: VectorRegion | null
  /** Whether everything that the index knows of stands where scope and filter look, and they ask for nothing beside. */
  readonly isWhole: boolean
  readonly found: VectorSearch
  /** When it was asked, as `FinishIndex` counts. */
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
  /** In the place of `EXACT`. */
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
   * Looks up what the index found, the nearest first and in portions, until enough entries are certain: where a text has
   * hundreds of chunks, thousands of hits belong to a few entries. The first portion brings what the index has not confirmed.
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
      // What was not looked up is no nearer than the last hit that was; only what is nearer than that is certain.
      const last = (seen.at(-1)?.cosine ?? 1) - (isApproximate(found) ? ROUNDING : 0)
      for (const row of near) if (row.cosine >= last) certain.add(row.entryId)
      if (certain.size >= depth) return { near, enough: true, moreUnconfirmed: false }
      from += Math.max(seen.length, 1)
    }
    return { near, enough: !found.cut, moreUnconfirmed: false }
  }

  /** Index ∪ rows it has not confirmed − what is gone, changed or not admitted; deepened until it is enough. */
  async function nearest(scope: Scope, filter: Filter, asked: AskedSemantic, depth: number): Promise<ComparedVector[]> {
    const { query } = asked
    const space = spaceOf(scope)
    // A filter that names a place is no reason to go through what stands there: the index has told what of it is nearest.
    let [mayBeFew, isDeeper] = [!asked.isWhole, false]
    let exact = !asked.isWhole && (isNarrow(filter) || scope.projects !== null)
    for (let { found, limit } = asked; ; found = await index.search(space, query, limit, asked.region)) {
      // What the index knows completely needs no look at everything that the filter admits.
      const isKnown = !found.cut && index.leftOut(space) === 0
      const eligibleLimit = exact && !isKnown ? fewEnough : 0
      const looked = await lookUp({ scope, filter, depth }, { found, query }, eligibleLimit)
      if (looked.moreUnconfirmed) {
        const caughtUp = await sync(space)
        if (!caughtUp) return compareAll(scope, filter, query)
        continue
      }
      if (looked.enough) return looked.near
      // A filter that admits next to none of what is near is dearer to ask of all that is near than of all there is.
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

  /** @throws Problem unavailable when the query cannot be embedded */
  async function embed(text: string): Promise<EmbeddedQuery> {
    const startedAt = now()
    const embedded = await embedder.embed([text], 'query').catch((error: unknown) => {
      const reason = error instanceof Problem ? `: ${error.message}` : ''
      throw new Problem('unavailable', `Failed to generate embedding for query${reason}`, {}, error)
    })
    return { embeddingMs: now() - startedAt, query: quantize(embedded[0] as Float32Array) }
  }

  /**
   * Asks the index, of the part of the org that the filter names where the index knows where entries stand.
   *
   * @param depth entries wanted
   * @throws Problem unavailable when the index does not answer
   */
  const find = (scope: Scope, embedded: EmbeddedQuery, depth: number, filter: Filter): Promise<AskedSemantic> => {
    const { region, isWhole } = regionOf(scope, filter)
    const overfetch = isWhole || region === null || !index.placed ? OVERFETCH : NARROW_OVERFETCH
    return ask(scope, embedded, depth * overfetch, { region, isWhole })
  }

  /** As `find`, for so many vectors. */
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

  /** As `find`, in a part of the org, where the index knows where entries stand; null where it does not. */
  const findNearby = async (
    scope: Scope,
    { query }: EmbeddedQuery,
    request: SimilarRequest,
  ): Promise<VectorSearch | null> => index.nearby?.(spaceOf(scope), scope, query, request) ?? null

  /** Tells the index what it has not heard of. @returns whether it knows everything now */
  const catchUp = (scope: Scope): Promise<boolean> => sync(spaceOf(scope))

  /** Hits as they were found, as far as scope and filter admit them. */
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
   * Looks up what the index found, begun in the same moment in which it is called; one round trip as a rule.
   *
   * @param beside entries whose nearness is wanted wherever they are; those whose vectors are queued are left out
   */
  async function answer(
    scope: Scope,
    asked: AskedSemantic,
    filter: Filter,
    depth: number,
    beside: readonly number[] = [],
  ): Promise<SemanticRanking> {
    const { query, found } = asked
    const compared = (ids: readonly number[]) => compareChunks(scope, filter, query, ids)
    const told = nearestOf(found.hits)
    // What the first hits belong to is looked up anyway.
    const first = nearestOf(found.hits.slice(0, firstOf(depth)))
    const others = beside.flatMap((id) => (first.has(id) ? [] : (told.get(id) ?? [])))
    const [near, further, untold] = await Promise.all([
      finishing.searching(scope, async () => {
        // Vectors that were made since are not among what the index knew.
        const known = asked.round === finishing.round() ? asked : await ask(scope, asked, asked.limit, asked)
        return nearest(scope, filter, known, depth)
      }),
      named(scope, asked, filter, others),
      compared(beside.filter((id) => !told.has(id))),
    ])
    const known = new Set([...near, ...further].map(({ entryId }) => entryId))
    // Of what was written meanwhile the index told a vector that is gone.
    const late = await compared(beside.filter((id) => told.has(id) && !known.has(id)))
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
