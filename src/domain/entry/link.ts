import { limitExceeded } from '../errors'
import { type JsonValue, type Metadata, own } from './metadata'

/** Links in metadata: from an entry, by relation, to entries of the same organization (platform contract §1). */
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

/** Parses an entry ID, given as a positive integer or its decimal string; null for anything else. */
export function readId(value: unknown): number | null {
  if (typeof value === 'string') {
    if (!/^[1-9]\d{0,15}$/.test(value)) return null
    return readId(Number(value))
  }
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

const ids = (value: JsonValue | undefined): number[] =>
  (Array.isArray(value) ? value : [value]).map(readId).filter((id) => id !== null)

/** Maximum number of links from the metadata of one entry, the same as IDs in a call. */
export const MOST_LINKS = 100
/** Maximum number of links in one call, because its transaction blocks a database in the same process. */
const MOST_LINKS_A_CALL = 5_000

/** Checks the number of links that one call writes. @throws Problem limit_exceeded */
export function checkLinks(written: readonly { readonly links: readonly LinkTarget[] }[]): void {
  if (written.reduce((sum, { links }) => sum + links.length, 0) > MOST_LINKS_A_CALL)
    throw limitExceeded(
      `The metadata of these entries link to more than ${MOST_LINKS_A_CALL} others. Split them into several calls`,
    )
}

/** The links in metadata, at most `MOST_LINKS`. The store checks whether the targets exist and are visible. */
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
  // Other relations take precedence over references.
  const refers = ({ relation }: LinkTarget) => Number(relation === LINK_RELATIONS.references)
  return unique.sort((a, b) => refers(a) - refers(b)).slice(0, MOST_LINKS)
}
