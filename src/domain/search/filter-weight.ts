import { MAX_METADATA_BYTES } from '../entry/metadata'
import { limitExceeded, type Problem } from '../errors'
import type { Filter, MetadataPredicate } from './filter'

/**
 * What a filter costs a database that walks through metadata, so that it is asked of so much at a time and no more (platform contract
 * §6). Measured in SQLite: an entry that is gone through takes 2 µs, a kilobyte of metadata that is parsed 3 µs.
 */
interface FilterWeight {
  /** Of an entry gone through, beside its metadata; 1 for a usual filter. */
  readonly entry: number
  /** Of a byte of metadata; 1 for one plain condition, 0 where nothing is asked of metadata. */
  readonly byte: number
}

/** So many microseconds for a kilobyte are of weight 1, and as many half microseconds for an entry. */
const UNIT = 4
/** A kilobyte of metadata may take no longer, so that the largest metadata, of 256 KB, take 400 ms at most. */
const MOST_FOR_KILOBYTE = 1_500
/** A kilobyte of metadata that is parsed. */
const PARSED = 3
/** A kilobyte of an array that is walked; that of an array which is walked for letters is no more. */
const WALKED = 27
/** Characters of a part that are compared at a place in a microsecond, of all places of a kilobyte. */
const COMPARED = 40
/** A substring of metadata that is half as long as these takes longest. */
const MOST_COMPARED = MAX_METADATA_BYTES / 2

export const tooMuchAsked = (): Problem =>
  limitExceeded(
    'These filters look at too much metadata of too many entries; narrow the search by thread_id, tags or dates, or use fewer filters',
  )

/** Half microseconds for an entry, and microseconds for a kilobyte of metadata. */
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

/** The leaves of a filter on metadata; null where it has others too. */
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

/** Parts of a filter of which each must hold. */
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

/** @throws Problem limit_exceeded for a filter that would look at the metadata of one entry for too long */
export function checkWeight(filter: Filter): void {
  if (weightOf(filter).byte * UNIT > MOST_FOR_KILOBYTE) throw tooMuchAsked()
}
