import type { Config } from '../config'
import { perObject } from '../domain/per-object'
import { connector } from './connector/family'
import { fetchEntry } from './connector/fetch'
import { search } from './connector/search'
import type { Tool } from './define-tool'
import { remove } from './fabric/delete'
import { fabric } from './fabric/family'
import { get } from './fabric/get'
import { getCurrent } from './fabric/get-current'
import { list } from './fabric/list'
import { orient } from './fabric/orient'
import { recall } from './fabric/recall'
import { reportEvent } from './fabric/report-event'
import { searchCode } from './fabric/search-code'
import { setup } from './fabric/setup'
import { store } from './fabric/store'
import { summarize } from './fabric/summarize'
import { update } from './fabric/update'
import type { Family } from './family'
import { history } from './history/family'
import { getContextHistory } from './history/get-context-history'
import { listChanges } from './history/list-changes'
import { restoreContext } from './history/restore-context'
import { context } from './packs/context'
import { packs } from './packs/family'
import { remember } from './packs/remember'
import { deleteContext } from './threads/delete-context'
import { deleteContextBatch } from './threads/delete-context-batch'
import { threads } from './threads/family'
import { ftsSearchContext } from './threads/fts-search-context'
import { getContextByIds } from './threads/get-context-by-ids'
import { getStatistics } from './threads/get-statistics'
import { grepContext } from './threads/grep-context'
import { hybridSearchContext } from './threads/hybrid-search-context'
import { listThreads } from './threads/list-threads'
import { navigateContext } from './threads/navigate-context'
import { readContextRange } from './threads/read-context-range'
import { searchContext } from './threads/search-context'
import { semanticSearchContext } from './threads/semantic-search-context'
import { storeContext } from './threads/store-context'
import { storeContextBatch } from './threads/store-context-batch'
import { updateContext } from './threads/update-context'
import { updateContextBatch } from './threads/update-context-batch'

/** Every tool, in the order in which it is listed. */
export const TOOLS: readonly Tool[] = [
  storeContext,
  searchContext,
  getContextByIds,
  updateContext,
  deleteContext,
  listThreads,
  getStatistics,
  semanticSearchContext,
  ftsSearchContext,
  hybridSearchContext,
  storeContextBatch,
  updateContextBatch,
  deleteContextBatch,
  grepContext,
  navigateContext,
  readContextRange,
  getCurrent,
  store,
  recall,
  orient,
  searchCode,
  get,
  update,
  remove,
  list,
  summarize,
  reportEvent,
  setup,
  context,
  remember,
  listChanges,
  getContextHistory,
  restoreContext,
  search,
  fetchEntry,
]

/** The families of `/mcp`, in the order in which their tools are listed. */
export const FAMILIES = { threads, fabric, packs, history } as const satisfies Readonly<Record<string, Family>>

const enabledTools = perObject((config: Config): readonly Tool[] =>
  TOOLS.filter(
    (tool) => tool.enabled(config) && !spellings(tool).some((name) => config.disabledTools.has(name.toLowerCase())),
  ),
)

/** The tools that are switched on, of these families. */
export const listTools = (config: Config, families: readonly Family[]): Tool[] =>
  enabledTools(config).filter(({ family }) => families.includes(family))

const spellings = ({ name, dottedName }: Tool): string[] => (dottedName === null ? [name] : [name, dottedName])

/** The tool that has this name, in either spelling. */
export const findTool = (tools: readonly Tool[], name: string): Tool | undefined =>
  tools.find((tool) => spellings(tool).includes(name))

/** The name under which a tool is listed. */
export const listedName = ({ name, dottedName }: Tool, { toolNames }: Pick<Config, 'toolNames'>): string =>
  toolNames === 'dotted' ? (dottedName ?? name) : name

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
export function readFamilies(names: string): Family[] | null {
  if (names === connector.name) return [connector]
  const known: readonly Family[] = Object.values(FAMILIES)
  const families = names.split(',').map((name) => known.find((family) => family.name === name))
  return families.every((family) => family !== undefined) ? families : null
}
