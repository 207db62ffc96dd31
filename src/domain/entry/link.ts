import { limitExceeded } from '../errors'
import { type JsonValue, type Metadata, own } from './metadata'

/** Links that metadata names: from this entry, by relation, to entries of the same org (platform contract §1). */
const LINK_RELATIONS = {
  references: 'references',
  supersedes: 'supersedes',
  depends_on: 'depends_on',
  contradicts: 'contradicts',
} as const

export interface LinkTarget {
  readonly relation: string
  readonly to: number
}

/** An entry id given as a positive integer or its decimal string; null for anything else. */
export function readId(value: unknown): number | null {
  if (typeof value === 'string') {
    if (!/^[1-9]\d{0,15}$/.test(value)) return null
    return readId(Number(value))
  }
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

const ids = (value: JsonValue | undefined): number[] =>
  (Array.isArray(value) ? value : [value]).map(readId).filter((id) => id !== null)

/** Links that the metadata of one entry make: as many as ids a call takes. */
export const MOST_LINKS = 100
/** Links that one call looks up and writes in its transaction, meanwhile a database in the same process serves nobody (0.1 s). */
const MOST_LINKS_A_CALL = 5_000

/** @throws Problem limit_exceeded when what one call writes makes too many links */
export function checkLinks(written: readonly { readonly links: readonly LinkTarget[] }[]): void {
  if (written.reduce((sum, { links }) => sum + links.length, 0) > MOST_LINKS_A_CALL)
    throw limitExceeded(
      `The metadata of these entries link to more than ${MOST_LINKS_A_CALL} others; write them in several calls`,
    )
}

/** What the metadata links to, at most `MOST_LINKS`; whether the targets exist and are visible is the store's question. */
export function linksOfMetadata(metadata: Metadata | null): LinkTarget[] {
  const references = own(metadata, 'references')
  const referenced =
    typeof references === 'object' && references !== null && !Array.isArray(references)
      ? ids(own(references, 'context_ids'))
      : []
  const links: LinkTarget[] = referenced.map((to) => ({ relation: LINK_RELATIONS.references, to }))
  for (const key of ['supersedes', 'depends_on', 'contradicts'] as const)
    for (const to of ids(own(metadata, key))) links.push({ relation: LINK_RELATIONS[key], to })
  const unique = [...new Map(links.map((link) => [`${link.relation}:${link.to}`, link])).values()]
  if (unique.length <= MOST_LINKS) return unique
  // What an entry takes the place of, needs or denies matters more than what it refers to.
  const refers = ({ relation }: LinkTarget) => Number(relation === LINK_RELATIONS.references)
  return unique.sort((a, b) => refers(a) - refers(b)).slice(0, MOST_LINKS)
}
