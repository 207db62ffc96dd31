import { MAX_METADATA_BYTES } from '../entry/metadata'
import { limitExceeded, type Problem } from '../errors'
import type { Filter, MetadataPredicate } from './filter'

/** Estimates how long a database needs for a filter on metadata, to limit each query (platform contract §6). */
interface FilterWeight {
  /** Relative cost per entry, without its metadata; 1 for a usual filter. */
  readonly entry: number
  /** Relative cost per byte of metadata; 1 for a simple condition, 0 without conditions on metadata. */
  readonly byte: number
}

/** The cost with weight 1: microseconds per kilobyte, and half microseconds per entry. */
const UNIT = 4
/** Maximum cost of a kilobyte of metadata, which limits the largest metadata (256 KB) to 400 ms. */
const MOST_FOR_KILOBYTE = 1_500
/** Cost of parsing a kilobyte of metadata. */
const PARSED = 3
/** Cost of searching a kilobyte of an array, at most. */
const WALKED = 27
/** Characters compared at one position per microsecond, for all positions of a kilobyte. */
const COMPARED = 40
/** Length of the slowest substring: half of the largest metadata. */
const MOST_COMPARED = MAX_METADATA_BYTES / 2

export const filterTooExpensive = (): Problem =>
  limitExceeded(
    'These filters read too much metadata of too many entries. Limit the search by thread_id, tags or dates, or use fewer filters',
  )

/** Cost in half microseconds per entry, and microseconds per kilobyte of metadata. */
function costOf(predicate: MetadataPredicate): [entry: number, kilobyte: number] {
  switch (predicate.op) {
    case 'present':
    case 'null':
    case 'type':
      return [1, 1]
    case 'equals':
      return [3, 1]
    case 'compare':
      return [2, 1]
    case 'substring':
      return [2, 2 + (predicate.at === 'anywhere' ? Math.min(predicate.value.length, MOST_COMPARED) / COMPARED : 0)]
    case 'elements':
      return [3, WALKED]
  }
}

/** The conditions of a filter that concerns only metadata; null for another filter. */
function metadataPredicates(filter: Filter): MetadataPredicate[] | null {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const parts = filter.of.map(metadataPredicates)
      return parts.some((leaves) => leaves === null) ? null : parts.flatMap((leaves) => leaves ?? [])
    }
    case 'not':
      return metadataPredicates(filter.of)
    default:
      return 'path' in filter ? [filter] : null
  }
}

/** The parts of a filter that must all match. */
export const conjuncts = (filter: Filter): readonly Filter[] =>
  filter.op === 'and' ? filter.of.flatMap(conjuncts) : [filter]

export function weightOf(filter: Filter): FilterWeight {
  const leaves = conjuncts(filter).flatMap((part) => metadataPredicates(part) ?? [])
  if (leaves.length === 0) return { entry: 1, byte: 0 }
  let [entry, kilobyte] = [0, PARSED]
  for (const predicate of leaves) {
    const [more, bytes] = costOf(predicate)
    entry += more
    kilobyte += bytes
  }
  return { entry: Math.max(1, entry / UNIT), byte: kilobyte / UNIT }
}

/** Rejects a filter that would need too long for the metadata of one entry. @throws Problem limit_exceeded */
export function checkWeight(filter: Filter): void {
  if (weightOf(filter).byte * UNIT > MOST_FOR_KILOBYTE) throw filterTooExpensive()
}
