import type { Config } from '../config'
import { enabledOf, FAMILIES, listTools } from './catalogue'
import { connector } from './connector/family'
import { core, FORMER_NAMES } from './core/family'
import { CORE_TOOLS } from './core/tools'
import type { Tool } from './define-tool'
import type { Family } from './family'
import { packs } from './packs/family'

/** The name of the core tools in paths: `/mcp/core`. */
export const CORE_NAME = core.name

/** The tools and features of an MCP address. */
export interface Toolset {
  readonly tools: readonly Tool[]
  /** Whether the address serves resources and prompts. */
  readonly offersResources: boolean
  /** Whether threads are listed as resources. Some clients make a tool of each resource, so core does not list them. */
  readonly listsThreads: boolean
  /** Whether clients that show MCP Apps get them. */
  readonly offersApps?: true
  /** Former tool names, each with the call that replaces it. */
  readonly instead?: Readonly<Record<string, string>>
}

/**
 * Returns the toolset of an address.
 *
 * @param named the path after `/mcp/`; undefined for the complete endpoint
 * @returns null for an unknown name
 */
export function toolsetOf(config: Config, named: string | undefined): Toolset | null {
  if (named === CORE_NAME)
    return {
      tools: enabledOf(config, CORE_TOOLS),
      offersResources: true,
      listsThreads: false,
      offersApps: true,
      instead: FORMER_NAMES,
    }
  const families = named === undefined ? Object.values(FAMILIES) : readFamilies(named)
  if (families === null) return null
  // The complete endpoint and the packs family serve resources.
  const offersResources = named === undefined || families.includes(packs)
  return { tools: listTools(config, families), offersResources, listsThreads: offersResources }
}

/** Parses a path such as `threads,packs`, or `connector`, which cannot be combined; null for an unknown name. */
function readFamilies(names: string): Family[] | null {
  if (names === connector.name) return [connector]
  const known: readonly Family[] = Object.values(FAMILIES)
  const families = names.split(',').map((name) => known.find((family) => family.name === name))
  return families.every((family) => family !== undefined) ? families : null
}
