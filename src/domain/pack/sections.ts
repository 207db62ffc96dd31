import type { Kind } from '../entry/kind'
import { IN_FLIGHT, isWork } from '../entry/work'

/** The sections of a pack (packs contract). */
export const SECTION_NAMES = [
  'active_work',
  'decisions',
  'constraints',
  'procedures',
  'gotchas',
  'planning',
  'ideation',
  'artifacts',
  'domain',
  'prior_art',
  'recent_memory',
  'verification',
] as const

export type PackSectionName = (typeof SECTION_NAMES)[number]

export const SECTION_TITLES: Readonly<Record<PackSectionName, string>> = {
  active_work: 'Active work',
  decisions: 'Decisions',
  constraints: 'Constraints',
  procedures: 'Procedures',
  gotchas: 'Gotchas',
  planning: 'Plans',
  ideation: 'Ideas',
  artifacts: 'Artifacts',
  domain: 'Domain knowledge',
  prior_art: 'Prior art',
  recent_memory: 'Recent memory',
  verification: 'Verification',
}

const FACET_OF: Readonly<Record<Kind, PackSectionName>> = {
  task: 'active_work',
  epic: 'active_work',
  project: 'active_work',
  decision: 'decisions',
  rule: 'constraints',
  guide: 'constraints',
  convention: 'constraints',
  gotcha: 'gotchas',
  error_pattern: 'gotchas',
  bug_fix: 'gotchas',
  pattern: 'procedures',
  procedure: 'procedures',
  template: 'procedures',
  tool: 'procedures',
  code_pattern: 'procedures',
  plan: 'planning',
  idea: 'ideation',
  artifact: 'artifacts',
  document: 'artifacts',
  source: 'artifacts',
  config_file: 'artifacts',
  claim: 'domain',
  domain: 'domain',
  topic: 'domain',
  relationship: 'domain',
  session: 'recent_memory',
  episode: 'recent_memory',
  note: 'recent_memory',
  event: 'recent_memory',
  scratchpad: 'recent_memory',
  summary: 'recent_memory',
  verification: 'verification',
}

export const isInFlight = (kind: Kind, status: string | null): boolean =>
  isWork(kind) && IN_FLIGHT.some((known) => known === status)

/** The section of an entry. Finished work is prior art. */
export const sectionOf = (kind: Kind, status: string | null): PackSectionName =>
  FACET_OF[kind] === 'active_work' && status === 'done' ? 'prior_art' : FACET_OF[kind]

/** Intents of a pack, which break ties in its order and never exclude entries (packs contract). */
export const INTENTS = ['build', 'plan', 'ideate', 'research', 'debug', 'decide', 'learn', 'general'] as const
export type Intent = (typeof INTENTS)[number]

const ORDERS: Readonly<Record<Intent, readonly PackSectionName[]>> = {
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
export const sectionsOfIntent = (intent: Intent): readonly PackSectionName[] => ORDERS[intent]
