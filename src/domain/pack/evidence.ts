import type { PackEntry } from './candidate'
import { type Facet, facetOf, isInFlight } from './facets'
import { facetsOf, type Intent } from './intents'
import { type LinkEvidence, SAYS_ANEW } from './links'
import type { Later } from './said-anew'
import { WEIGHTS, type Weights } from './weights'

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
  /** Its names that the goal holds whole. */
  readonly named: readonly string[]
  /** The link that leads to it from a better one. */
  readonly link: LinkEvidence | null
  readonly inProgress: boolean
  /** 0 to 1: in progress in a way, or of a kind, that the goal asks for. */
  readonly asked: number
  readonly diary: boolean
  /** 1: made in the time that the goal asks for. */
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

/** The share of all that speaks, when each speaks for itself. */
const together = (...parts: readonly number[]): number => 1 - parts.reduce((rest, part) => rest * (1 - part), 1)

/** What the words, the meaning, the names and the links say. */
export function relevance(evidence: Evidence, weights: Weights = WEIGHTS): number {
  const says = weights.evidence
  const { words, similarity, identifierShare, named, link, recent, inProgress, diary, asked } = evidence
  const own = together(
    says.words * words,
    says.similarity * similarity,
    says.identifier * identifierShare,
    named.length > 0 ? says.named : 0,
    says.recent * recent,
    asked,
    link === null ? 0 : Math.min(1, says.linked * link.strength),
  )
  return Math.max(own, inProgress ? says.inProgress : 0, diary ? says.diary : 0)
}

/** What speaks for an entry beside its standing. */
export const byItself = (evidence: Evidence): Evidence => ({
  ...evidence,
  inProgress: false,
  diary: false,
  asked: 0,
})

export interface Preferences {
  readonly intent: Intent
  readonly domain: string | null
}

const sameDomain = (a: string | null, b: string): boolean => a !== null && a.toLowerCase() === b.toLowerCase()

const standingOf = ({ later }: Evidence, { prior }: Weights): number => (later?.holds ? prior.older : 1)

/** What speaks for an entry, whether a later one took its place or not. */
export const scoreByItself = ({ score, evidence }: Weighed, weights: Weights = WEIGHTS): number =>
  score / standingOf(evidence, weights)

/** The score of an entry: its relevance, and what speaks for it beside the goal. */
export function scoreOf(
  entry: PackEntry,
  facet: Facet,
  evidence: Evidence,
  { intent, domain }: Preferences,
  weights: Weights = WEIGHTS,
): number {
  const { prior } = weights
  const place = facetsOf(intent).indexOf(facet)
  const facetPrior = place < 0 ? prior.otherFacet : 1 - prior.nextFacet * place
  const domainPrior = domain === null || sameDomain(entry.domain, domain) ? 1 : prior.otherDomain
  const own = (entry.pinned ? prior.pinned : 1) * standingOf(evidence, weights)
  const score = relevance(evidence, weights) * facetPrior * domainPrior * own
  return Math.max(0, Math.min(1, score))
}

export const facetOfEntry = ({ kind, status }: PackEntry): Facet => facetOf(kind, status)
export const isInProgress = ({ kind, status }: PackEntry): boolean => isInFlight(kind, status)

function linkReason({ from, relation, direction }: LinkEvidence): string {
  if (relation === SAYS_ANEW) return `newer than [${from}]`
  return `linked: ${relation} ${direction === 'incoming' ? '→' : '←'} [${from}]`
}

const laterReason = ({ id, holds, says }: Later): string =>
  `${holds ? 'older' : 'later'}: see [${id}]${says === undefined ? '' : ` “${says}”`}`

/** The evidence in words. */
export function reasonOf({ evidence, entry }: Weighed): string {
  const { matched, identifiers, named, similarity, cosine, link, inProgress, diary, recent, later } = evidence
  const match = [
    ...(named.length > 0 ? [`called ${named.slice(0, WEIGHTS.shown.reasonWords).join(', ')}`] : []),
    ...(identifiers.length > 0 ? [`names ${identifiers.slice(0, WEIGHTS.shown.reasonWords).join(', ')}`] : []),
    ...(matched.length > 0 ? [`words: ${matched.slice(0, WEIGHTS.shown.reasonWords).join(', ')}`] : []),
    ...(similarity > WEIGHTS.floors.worthSaying && cosine !== null ? [`similarity ${cosine.toFixed(2)}`] : []),
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
