import type { Config } from '../config'
import { enabledOf, FAMILIES, listTools } from './catalogue'
import { connector } from './connector/family'
import { core, FORMER_NAMES } from './core/family'
import { CORE_TOOLS } from './core/tools'
import type { Tool } from './define-tool'
import type { Family } from './family'
import { packs } from './packs/family'

/** The tools of an MCP address: all families, some families, or core. */

/** The name of the core tools in paths: `/mcp/core`. */
export const CORE_NAME = core.name

/** What an address serves. */
export interface Toolset {
  readonly tools: readonly Tool[]
  /** Whether resources and prompts are served beside the tools. */
  readonly offersResources: boolean
  /** Whether threads are listed as resources. Some clients make a tool of each; core, with its few tools, only reads them by address. */
  readonly listsThreads: boolean
  /** Names of tools that are called here though they are not offered, each with the call that does the same. */
  readonly instead?: Readonly<Record<string, string>>
}

/** @param named the path behind `/mcp/`; undefined for the whole endpoint. @returns null for a name that is none */
export function toolsetOf(config: Config, named: string | undefined): Toolset | null {
  if (named === CORE_NAME)
    return { tools: enabledOf(config, CORE_TOOLS), offersResources: true, listsThreads: false, instead: FORMER_NAMES }
  const families = named === undefined ? Object.values(FAMILIES) : readFamilies(named)
  if (families === null) return null
  // The whole endpoint, and the family that compiles what an agent starts with.
  const offersResources = named === undefined || families.includes(packs)
  return { tools: listTools(config, families), offersResources, listsThreads: offersResources }
}

/** Families of a path such as `threads,packs`, or `connector`, which stands alone; null when a name is unknown. */
function readFamilies(names: string): Family[] | null {
  if (names === connector.name) return [connector]
  const known: readonly Family[] = Object.values(FAMILIES)
  const families = names.split(',').map((name) => known.find((family) => family.name === name))
  return families.every((family) => family !== undefined) ? families : null
}
