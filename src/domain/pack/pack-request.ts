import type { Kind } from '../entry/kind'
import { invalidInput } from '../errors'
import type { Scope } from '../identity/scope'
import { openProject } from '../recall/project-access'
import { and, type Filter } from '../search/filter'
import { codePointLength, trim, WHITE_SPACE_RUN } from '../text'
import type { Intent } from './sections'

/** Arguments and limits of a pack (packs contract). */
export const PACK_LAYERS = ['wake', 'recall', 'deep_search'] as const
export type PackLayer = (typeof PACK_LAYERS)[number]

interface Depth {
  /** Default and maximum number of items. */
  readonly items: number
  readonly most: number
  /** Default tokens of the sections as JSON, and of the Markdown. */
  readonly tokens: number
  /** Steps along links. */
  readonly steps: 0 | 1 | 2
  /** Entries that each retriever returns. */
  readonly candidates: number
  /** Work in flight that is added regardless of the goal. */
  readonly inFlight: number
  /** Newest diary pages that are added regardless of the goal. */
  readonly diary: number
  /** Number of the newest rules, decisions and gotchas (of each) that are added regardless of the goal. */
  readonly newest: number
  /** Maximum fraction of the budget for one section. */
  readonly ofSection: number
}

export const DEPTHS: Readonly<Record<PackLayer, Depth>> = {
  wake: {
    items: 8,
    most: 8,
    tokens: 2_500,
    steps: 0,
    candidates: 60,
    inFlight: 4,
    diary: 1,
    newest: 1,
    ofSection: 1 / 3,
  },
  recall: {
    items: 12,
    most: 24,
    tokens: 4_000,
    steps: 1,
    candidates: 100,
    inFlight: 6,
    diary: 3,
    newest: 0,
    ofSection: 1,
  },
  deep_search: {
    items: 50,
    most: 50,
    tokens: 16_000,
    steps: 2,
    candidates: 130,
    inFlight: 12,
    diary: 6,
    newest: 0,
    ofSection: 1,
  },
}

const CHARS_PER_TOKEN = 4
const MAX_LIMIT = 50
const MAX_RELATED = 5
/** Maximum length of a goal, the same as of a query (platform contract §6). */
export const MAX_GOAL = 10_000
/** Maximum code points of one item's content. */
export const CONTENT = 1_500
/** Maximum tokens of a wake pack, which is inserted into prompts. */
const WAKE_MARKDOWN_TOKENS = 1_190

/** The arguments of a pack, valid in form. */
export interface PackArguments {
  readonly goal: string
  readonly intent: Intent
  readonly layer: PackLayer
  readonly domain?: string | undefined
  readonly project?: string | undefined
  readonly agentId?: string | undefined
  readonly limit?: number | undefined
  readonly includeRelated: boolean
  readonly relatedLimit: number
  readonly maxTokens?: number | undefined
  /** Only entries of these kinds; empty or absent for all. */
  readonly kinds?: readonly Kind[] | undefined
  /** Only entries created at or after this time, milliseconds since 1970. */
  readonly since?: number | undefined
  /** The pack as of this instant, milliseconds since 1970: without entries that were created later or had ended by then. */
  readonly asOf?: number | undefined
}

/** Validated arguments, within limits. */
export interface PackRequest {
  readonly goal: string
  /** The goal, then the domain, with white space collapsed. */
  readonly query: string
  /** The text that is searched: the goal without the domain, which is only a preference. */
  readonly searched: string
  readonly intent: Intent
  readonly layer: PackLayer
  readonly domain: string | null
  readonly project: string | null
  readonly agentId: string | null
  /** Filter of the searches. */
  readonly filter: Filter
  /** Null for now. */
  readonly asOf: number | null
  /** The same filter for an entry that was found by other means. */
  readonly admits: (entry: { readonly kind: Kind; readonly createdAt: number }) => boolean
  readonly limit: number
  /** 0 for none. */
  readonly relatedLimit: number
  /** Maximum characters of the sections as JSON. */
  readonly maxJson: number
  readonly maxMarkdown: number
}

const clamp = (value: number, least: number, most: number): number =>
  Number.isNaN(value) ? most : Math.max(least, Math.min(most, Math.trunc(value)))

const collapse = (text: string): string => trim(text.replace(WHITE_SPACE_RUN, ' '))

/** Checks a goal. @throws Problem invalid_input */
export function checkGoal(goal: unknown): string {
  if (typeof goal !== 'string' || trim(goal) === '') throw invalidInput('goal is required')
  if (codePointLength(goal) > MAX_GOAL) throw invalidInput(`goal has more than ${MAX_GOAL} characters`)
  return goal
}

const named = (text: string | undefined): string | null => {
  const value = collapse(text ?? '')
  return value === '' ? null : value
}

/**
 * Validates the arguments of a pack. @throws Problem invalid_input; forbidden for a project that the scope does not
 * reach
 */
export function readPackRequest(scope: Scope, given: PackArguments): PackRequest {
  const { intent, layer, includeRelated } = given
  const goal = checkGoal(given.goal)
  const depth = DEPTHS[layer]
  const domain = named(given.domain)
  const tokens = given.maxTokens ?? depth.tokens
  const { kinds = [], since, asOf = null } = given
  return {
    goal,
    searched: collapse(goal),
    query: domain === null ? collapse(goal) : `${collapse(goal)} ${domain}`,
    intent,
    layer,
    domain,
    project: given.project === undefined ? onlyProject(scope) : openProject(scope, given.project, 'project'),
    agentId: named(given.agentId),
    filter: and([
      ...(kinds.length === 0 ? [] : [{ op: 'kind', anyOf: kinds } as const]),
      ...(since === undefined ? [] : [{ op: 'created', from: Math.ceil(since / 1000), to: null } as const]),
      ...(asOf === null ? [] : [{ op: 'created', from: null, to: Math.floor(asOf / 1000) } as const]),
    ]),
    asOf,
    admits: ({ kind, createdAt }) =>
      (kinds.length === 0 || kinds.includes(kind)) &&
      (since === undefined || createdAt >= since) &&
      (asOf === null || createdAt <= asOf),
    limit: Math.min(depth.most, clamp(given.limit ?? depth.items, 1, MAX_LIMIT)),
    relatedLimit: includeRelated && depth.steps > 0 ? clamp(given.relatedLimit, 0, MAX_RELATED) : 0,
    maxJson: tokens * CHARS_PER_TOKEN,
    maxMarkdown: (layer === 'wake' ? Math.min(tokens, WAKE_MARKDOWN_TOKENS) : tokens) * CHARS_PER_TOKEN,
  }
}

/** The project of a key that is limited to one project. */
const onlyProject = ({ projects }: Scope): string | null => (projects?.length === 1 ? (projects[0] as string) : null)
