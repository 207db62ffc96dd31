// How near are vectors that are compared one by one: all that a filter admits, or those of the few entries that it does?
import type { Scope } from '../../../domain/identity/scope'
import { inParts } from '../../../domain/in-parts'
import { cosine, cosineOf, type QuantizedVector, readableVector, squaresOf } from '../../../domain/meaning/vector'
import { scheduler } from '../../../domain/scheduler'
import type { Filter } from '../../../domain/search/filter'
import type { VectorRow, VectorRows } from '../../../ports/vector-rows'
import type { Near } from './semantic-hits'

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
  function compare(query: QuantizedVector, { data, compared, ...row }: VectorRow): Near[] {
    if (compared !== null) return [{ ...row, cosine: cosineOf(compared.product, squaresOf(query), compared.squares) }]
    const vector = readableVector(data as string)
    return vector === null ? [] : [{ ...row, cosine: cosine(query.values, vector.values) }]
  }

  /** Every vector that scope and filter admit, in steps: the last resort, always right. */
  async function compareAll(scope: Scope, filter: Filter, query: QuantizedVector): Promise<Near[]> {
    const near: Near[] = []
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
  async function compareFew(scope: Scope, filter: Filter, query: QuantizedVector): Promise<Near[] | null> {
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
  ): Promise<Near[]> {
    if (entryIds.length === 0) return []
    const chunks = Math.max(CHUNKS_AN_ENTRY, Math.floor(CHUNKS / entryIds.length))
    return (await rows.ofEntries(scope, model, filter, entryIds, chunks, query)).flatMap((row) => compare(query, row))
  }

  return { compare, compareAll, compareFew, compareChunks }
}
