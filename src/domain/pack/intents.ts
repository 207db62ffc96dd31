import type { Facet } from './facets'

/** Intents of a pack, which break ties in its order and never exclude entries (packs contract). */
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

/** The sections that an intent prefers, in order. */
export const facetsOf = (intent: Intent): readonly Facet[] => ORDERS[intent]
