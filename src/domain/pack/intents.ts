import { FACETS, type Facet } from './facets'

/** What a pack is for: an order of its sections and a prior, never a filter (packs contract). */
export const INTENTS = ['build', 'plan', 'ideate', 'research', 'debug', 'decide', 'learn', 'general'] as const
export type Intent = (typeof INTENTS)[number]

const ORDERS: Readonly<Record<Intent, readonly Facet[]>> = {
  build: [
    'active_work',
    'decisions',
    'constraints',
    'procedures',
    'gotchas',
    'prior_art',
    'artifacts',
    'recent_memory',
  ],
  plan: ['planning', 'decisions', 'ideation', 'domain', 'constraints', 'active_work', 'prior_art'],
  ideate: ['ideation', 'domain', 'decisions', 'planning', 'recent_memory'],
  research: ['domain', 'artifacts', 'recent_memory', 'decisions', 'constraints'],
  debug: ['gotchas', 'procedures', 'artifacts', 'active_work', 'prior_art', 'recent_memory'],
  decide: ['decisions', 'ideation', 'domain', 'constraints', 'planning'],
  learn: ['recent_memory', 'domain', 'procedures', 'gotchas', 'decisions'],
  general: ['active_work', 'decisions', 'planning', 'ideation', 'domain', 'procedures', 'prior_art', 'recent_memory'],
}

/** The facets that an intent names, in their order. */
export const facetsOf = (intent: Intent): readonly Facet[] => ORDERS[intent]

/**
 * The order of a pack's sections: the facets that the intent names, then the others, best first.
 *
 * @param best the best score in each facet that has items
 */
export function sectionOrder(intent: Intent, best: ReadonlyMap<Facet, number>): Facet[] {
  const named = ORDERS[intent].filter((facet) => best.has(facet))
  const others = FACETS.filter((facet) => best.has(facet) && !ORDERS[intent].includes(facet))
  others.sort((a, b) => (best.get(b) as number) - (best.get(a) as number) || FACETS.indexOf(a) - FACETS.indexOf(b))
  return [...named, ...others]
}

/** Whether the section of a facet stands before that of another, whatever their scores. */
export function standsBefore(facet: Facet, other: Facet, intent: Intent): boolean {
  const [place, otherPlace] = [ORDERS[intent].indexOf(facet), ORDERS[intent].indexOf(other)]
  return place >= 0 && (otherPlace < 0 || place < otherPlace)
}
