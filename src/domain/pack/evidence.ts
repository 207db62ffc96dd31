import type { PackEntry } from './candidate'
import { type Facet, facetOf, isInFlight } from './facets'

/** Why an entry is in a pack (packs contract). */
export interface Evidence {
  /** Words of the goal that it holds, as the goal spells them, the rarest first. */
  readonly matched: readonly string[]
  /** Some of its words are behind the part of the text that was read. */
  readonly beyond: boolean
  /** Cosine of its most similar chunk; null where it has no vector. */
  readonly cosine: number | null
  /** Its aliases that the goal holds. */
  readonly called: readonly string[]
  /** The goal is its title. */
  readonly titled: boolean
  readonly inProgress: boolean
  readonly diary: boolean
  /** One of the newest rules, decisions and gotchas, which a short pack shows whatever the goal. */
  readonly newest: boolean
  /** The entry that was found and led to this one. */
  readonly via: { readonly id: number; readonly relation: 'supersedes' | 'contradicts' } | null
  /** A later entry that says it replaces this one; null for none. */
  readonly replacedBy: number | null
}

/** An entry with the evidence for it. */
export interface Weighed {
  readonly entry: PackEntry
  readonly facet: Facet
  readonly evidence: Evidence
  /** 0 to 1: the doubt about the best item of the pack, and the place of this one below it. */
  readonly score: number
}

export const facetOfEntry = ({ kind, status }: PackEntry): Facet => facetOf(kind, status)
export const isInProgress = ({ kind, status }: PackEntry): boolean => isInFlight(kind, status)

/** Words that a reason names. */
const REASON_WORDS = 5

/** The evidence in words. */
export function reasonOf({ evidence, entry }: Weighed): string {
  const { matched, called, titled, cosine, inProgress, diary, newest, via, replacedBy } = evidence
  const match = [
    ...(titled ? ['its title'] : []),
    ...(called.length > 0 ? [`called ${called.slice(0, REASON_WORDS).join(', ')}`] : []),
    ...(matched.length > 0 ? [`words: ${matched.slice(0, REASON_WORDS).join(', ')}`] : []),
    ...(cosine !== null && cosine > 0 ? [`similarity ${cosine.toFixed(2)}`] : []),
    ...(via === null ? [] : [`${via.relation} [${via.id}]`]),
  ]
  const parts = [
    ...(replacedBy === null ? [] : [`replaced by [${replacedBy}]`]),
    ...(inProgress ? [`in progress (${entry.status})${matched.length === 0 ? ', whatever the goal' : ''}`] : []),
    ...(diary ? ['diary'] : []),
    ...(newest && matched.length === 0 ? [`newest ${entry.kind}, whatever the goal`] : []),
    ...match,
    ...(entry.pinned ? ['pinned'] : []),
  ]
  return parts.length === 0 ? 'similar in meaning' : parts.join('; ')
}
