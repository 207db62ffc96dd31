import type { PackEntry } from './candidate'
import { type Facet, facetOf, isInFlight } from './facets'
import { facetsOf, type Intent } from './intents'
import { type LinkEvidence, SAYS_ANEW } from './links'
import type { Later } from './said-anew'

/** Why an entry may stand in a pack, and how much that says (packs contract). */
export interface Evidence {
  /** 0 to 1: the share of the goal's words that it holds, by how rare they are. */
  readonly words: number
  /** Most of these stand behind the beginning that is looked at. */
  readonly beyond: boolean
  /** Words of the goal that it holds, as the goal has them, rarest first. */
  readonly matched: readonly string[]
  /** Cosine of its nearest stretch; null where it has no vector. */
  readonly cosine: number | null
  /** 0 to 1: how far that stands above what has nothing to do with the goal. */
  readonly similarity: number
  /** Identifiers of the goal (error codes, paths, names, versions) that it holds, of how many. */
  readonly identifiers: readonly string[]
  readonly identifierShare: number
  /** The link that leads to it from a better one. */
  readonly link: LinkEvidence | null
  readonly inProgress: boolean
  /** 0 to 1: in progress in a way, or of a kind, that the goal asks for. */
  readonly asked: number
  readonly diary: boolean
  /** 0 to 1: made in the time that the goal asks for, and how much that tells of it. */
  readonly recent: number
  /** A later entry that is about the same. */
  readonly later: Later | null
}

/** An entry with what speaks for it. */
export interface Weighed {
  readonly entry: PackEntry
  readonly facet: Facet
  readonly evidence: Evidence
  /** 0 to 1, the same scale in every pack. */
  readonly score: number
  /** What it is chosen by: the score, and its place among what full text found for this goal. */
  readonly worth: number
}

/** How much each leg says when it says all it can. Chosen on one half of the goals of bench/packs, as all numbers here. */
const WORDS = 0.9
const SIMILARITY = 1
const IDENTIFIER = 0.7
const RECENT = 0.55
/** What the entry at the end of a link takes over. */
const LINKED = 0.6
/** Of work in flight, of diary pages, whatever the goal says. */
const IN_PROGRESS = 0.25
const DIARY = 0.35

/** The share of all that speaks, when each speaks for itself. */
const together = (...parts: readonly number[]): number => 1 - parts.reduce((rest, part) => rest * (1 - part), 1)

/** What the words, the meaning, the names and the links say. */
export function relevance(evidence: Evidence): number {
  const { words, similarity, identifierShare, link, recent, inProgress, diary, asked } = evidence
  const own = together(
    WORDS * words,
    SIMILARITY * similarity,
    IDENTIFIER * identifierShare,
    RECENT * recent,
    asked,
    link === null ? 0 : Math.min(1, LINKED * link.strength),
  )
  return Math.max(own, inProgress ? IN_PROGRESS : 0, diary ? DIARY : 0)
}

/** What speaks for an entry beside its standing. */
export const byItself = (evidence: Evidence): Evidence => ({
  ...evidence,
  inProgress: false,
  diary: false,
  asked: 0,
})

/** Facets that an intent names count fully at first and a little less each; others less, and never nothing. */
const NEXT_FACET = 0.01
const OTHER_FACET = 0.9
const OTHER_DOMAIN = 0.9
const PINNED = 1.05
/** What a later entry takes the place of ranks below it, and stays. */
const OLDER = 0.5

export interface Preferences {
  readonly intent: Intent
  readonly domain: string | null
}

const sameDomain = (a: string | null, b: string): boolean => a !== null && a.toLowerCase() === b.toLowerCase()

const standingOf = ({ later }: Evidence): number => (later?.holds ? OLDER : 1)

/** What speaks for an entry, whether a later one took its place or not. */
export const scoreByItself = ({ score, evidence }: Weighed): number => score / standingOf(evidence)

/** The score of an entry: its relevance, and what speaks for it beside the goal. */
export function scoreOf(entry: PackEntry, facet: Facet, evidence: Evidence, { intent, domain }: Preferences): number {
  const place = facetsOf(intent).indexOf(facet)
  const facetPrior = place < 0 ? OTHER_FACET : 1 - NEXT_FACET * place
  const domainPrior = domain === null || sameDomain(entry.domain, domain) ? 1 : OTHER_DOMAIN
  const weight = 1 + 0.01 * (entry.weight - 3)
  const own = (entry.pinned ? PINNED : 1) * standingOf(evidence)
  const score = relevance(evidence) * facetPrior * domainPrior * weight * own
  return Math.max(0, Math.min(1, score))
}

export const facetOfEntry = ({ kind, status }: PackEntry): Facet => facetOf(kind, status)
export const isInProgress = ({ kind, status }: PackEntry): boolean => isInFlight(kind, status)

const MOST_WORDS = 5
/** A similarity that says less is not worth a word. */
export const WORTH_SAYING = 0.1

function linkReason({ from, relation, direction }: LinkEvidence): string {
  if (relation === SAYS_ANEW) return `newer than [${from}]`
  return `linked: ${relation} ${direction === 'incoming' ? '→' : '←'} [${from}]`
}

const laterReason = ({ id, holds, says }: Later): string =>
  `${holds ? 'older' : 'later'}: see [${id}]${says === undefined ? '' : ` “${says}”`}`

/** The evidence in words. */
export function reasonOf({ evidence, entry }: Weighed): string {
  const { matched, identifiers, similarity, cosine, link, inProgress, diary, recent, later } = evidence
  const match = [
    ...(identifiers.length > 0 ? [`names ${identifiers.slice(0, MOST_WORDS).join(', ')}`] : []),
    ...(matched.length > 0 ? [`words: ${matched.slice(0, MOST_WORDS).join(', ')}`] : []),
    ...(similarity > WORTH_SAYING && cosine !== null ? [`similarity ${cosine.toFixed(2)}`] : []),
    ...(link === null ? [] : [linkReason(link)]),
    ...(recent > 0 ? ['recent'] : []),
    ...(evidence.asked > 0 && !inProgress ? [`asked for: ${entry.kind}`] : []),
  ]
  const parts = [
    ...(later === null ? [] : [laterReason(later)]),
    ...(inProgress
      ? [`in progress (${entry.status})${match.length === 0 && evidence.asked === 0 ? ', whatever the goal' : ''}`]
      : []),
    ...(diary ? ['diary'] : []),
    ...match,
    ...(entry.pinned ? ['pinned'] : []),
  ]
  return parts.length === 0 ? 'near in meaning' : parts.join('; ')
}
