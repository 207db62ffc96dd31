import type { Config } from '../config'
import { perObject } from '../domain/per-object'
import { fetchEntry } from './connector/fetch'
import { search } from './connector/search'
import { APP_TOOL_NAMES, CORE_TOOLS } from './core/tools'
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
import { deleteContext, deleteContextBatch } from './threads/deletion'
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

/** Returns the tools of a list that the configuration does not switch off. */
export const enabledOf = (config: Config, tools: readonly Tool[]): readonly Tool[] =>
  tools.filter(
    (tool) => tool.enabled(config) && !spellings(tool).some((name) => config.disabledTools.has(name.toLowerCase())),
  )

export const enabledTools = perObject((config: Config): readonly Tool[] => enabledOf(config, TOOLS))

/** Returns names in DISABLED_TOOLS that match no tool, so that a typo is reported. */
export const unknownTools = ({ disabledTools }: Pick<Config, 'disabledTools'>): string[] => {
  const names = [...[...TOOLS, ...CORE_TOOLS].flatMap(spellings), ...APP_TOOL_NAMES]
  const known = new Set(names.map((name) => name.toLowerCase()))
  return [...disabledTools].filter((name) => !known.has(name))
}

/** Returns the enabled tools of these families. */
export const listTools = (config: Config, families: readonly Family[]): Tool[] =>
  enabledTools(config).filter(({ family }) => families.includes(family))

const spellings = ({ name, dottedName }: Tool): string[] => (dottedName === null ? [name] : [name, dottedName])

/** Finds a tool by its name, in either spelling. */
export const findTool = (tools: readonly Tool[], name: string): Tool | undefined =>
  tools.find((tool) => spellings(tool).includes(name))

/** Returns the name under which a tool is listed. */
export const listedName = ({ name, dottedName }: Tool, { toolNames }: Pick<Config, 'toolNames'>): string =>
  toolNames === 'dotted' ? (dottedName ?? name) : name
