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
  /** Bytes of metadata beyond which an entry is looked at by itself (`AskedOfMetadata`). */
  readonly above: number
  /** Whether a database may look at one entry of any size: in 25 ms as a rule, and 50 ms at most. */
  readonly isLight: boolean
}

/** Metadata of more bytes are `large`: an index leads to them. */
export const LARGE = 1_024
/** Of a database of usual entries none is looked at by itself. */
const MOST_ABOVE = 8_192
/** One entry that is not large takes no more microseconds than this, about. */
const MOST_FOR_ONE = 100
/** So many microseconds for a kilobyte are of weight 1, and as many half microseconds for an entry. */
const UNIT = 4
/** A kilobyte of metadata of which the largest may be asked so much. */
const MOST_FOR_LARGE = 100
/** A kilobyte of metadata that is parsed. */
const PARSED = 3
/** A kilobyte of an array that is walked; that of an array which is walked for letters is no more. */
const WALKED = 27
/** Characters of a part that are compared at a place in a microsecond, of all places of a kilobyte. */
const COMPARED = 40
/** No part can stand in what is not large that is longer; one half as long takes longest. */
const MOST_COMPARED = MOST_ABOVE / 2

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
    case 'metadata':
      return metadataPredicates(filter.of)
    default:
      return 'path' in filter ? [filter] : null
  }
}

/** Parts of a filter of which each must hold. */
export const conjuncts = (filter: Filter): readonly Filter[] =>
  filter.op === 'and' ? filter.of.flatMap(conjuncts) : [filter]

const isOfMetadata = (part: Filter): boolean => (metadataPredicates(part)?.length ?? 0) > 0

export function weightOf(filter: Filter): FilterWeight {
  const leaves = conjuncts(filter).flatMap((part) => metadataPredicates(part) ?? [])
  if (leaves.length === 0) return { entry: 1, byte: 0, above: MOST_ABOVE, isLight: true }
  let [entry, kilobyte] = [0, PARSED]
  for (const predicate of leaves) {
    const [more, bytes] = costOf(predicate)
    entry += more
    kilobyte += bytes
  }
  const above = Math.round((MOST_FOR_ONE / kilobyte) * LARGE)
  return {
    entry: Math.max(1, entry / UNIT),
    byte: kilobyte / UNIT,
    above: Math.min(MOST_ABOVE, Math.max(LARGE, above)),
    isLight: kilobyte <= MOST_FOR_LARGE,
  }
}

/** The same filter, of which what it asks of metadata stands by itself, not yet found out of large ones. */
export function guarded(filter: Filter): Filter {
  const parts = conjuncts(filter)
  const asked = parts.filter(isOfMetadata)
  if (asked.length === 0 || asked.some(({ op }) => op === 'metadata')) return filter
  const of: Filter = { op: 'and', of: asked }
  const others = parts.filter((part) => !isOfMetadata(part))
  return { op: 'and', of: [...others, { op: 'metadata', of, above: weightOf(filter).above, admitted: null }] }
}
