import type { Config } from '../config'
import { enabledTools, FAMILIES, listTools } from './catalogue'
import { connector } from './connector/family'
import type { Tool } from './define-tool'
import type { Family } from './family'
import { listChanges } from './history/list-changes'
import { context } from './packs/context'
import { packs } from './packs/family'
import { remember } from './packs/remember'
import { deleteContext } from './threads/delete-context'
import { getContextByIds } from './threads/get-context-by-ids'
import { hybridSearchContext } from './threads/hybrid-search-context'
import { readContextRange } from './threads/read-context-range'
import { updateContext } from './threads/update-context'

/** What an address of MCP serves: all tools, those of families, or the few of every day. */

/** The few tools that an agent needs every day (capture contract §6), in the order in which they are listed there. */
const CORE: readonly Tool[] = [
  context,
  remember,
  hybridSearchContext,
  getContextByIds,
  readContextRange,
  updateContext,
  deleteContext,
  listChanges,
]

/** Its name in paths: `/mcp/core`. */
export const CORE_NAME = 'core'

const CORE_INSTRUCTIONS =
  'Shared memory of your team. Before you start or resume work, ask context for your goal. Whatever others should not have to ' +
  'learn again, remember: decisions, gotchas, plans, finished work. hybrid_search_context answers a question; results are ' +
  'truncated: read_context_range brings the part you need of a long one, get_context_by_ids the whole.'

/** What an address serves. */
export interface Offer {
  readonly tools: readonly Tool[]
  /** In the place of those of the first tool's family. */
  readonly instructions?: string
  /** Whether resources and prompts are served beside the tools. */
  readonly offersResources: boolean
}

/** @param named the path behind `/mcp/`; undefined for the whole endpoint. @returns null for a name that is none */
export function offerOf(config: Config, named: string | undefined): Offer | null {
  if (named === CORE_NAME) {
    const enabled = enabledTools(config)
    const tools = CORE.filter((tool) => enabled.includes(tool))
    return { tools, instructions: CORE_INSTRUCTIONS, offersResources: true }
  }
  const families = named === undefined ? Object.values(FAMILIES) : readFamilies(named)
  if (families === null) return null
  // The whole endpoint, and the family that compiles what an agent starts with.
  const offersResources = named === undefined || families.includes(packs)
  return { tools: listTools(config, families), offersResources }
}

/** Families of a path such as `threads,packs`, or `connector`, which stands alone; null when a name is unknown. */
function readFamilies(names: string): Family[] | null {
  if (names === connector.name) return [connector]
  const known: readonly Family[] = Object.values(FAMILIES)
  const families = names.split(',').map((name) => known.find((family) => family.name === name))
  return families.every((family) => family !== undefined) ? families : null
}
