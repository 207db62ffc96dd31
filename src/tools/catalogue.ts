import type { Config } from '../config'
import { FAMILIES, type Family, type Tool } from './define-tool'
import { deleteContext } from './threads/delete-context'
import { deleteContextBatch } from './threads/delete-context-batch'
import { ftsSearchContext } from './threads/fts-search-context'
import { getContextByIds } from './threads/get-context-by-ids'
import { getStatistics } from './threads/get-statistics'
import { hybridSearchContext } from './threads/hybrid-search-context'
import { listThreads } from './threads/list-threads'
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
]

/** The tools that are switched on, of these families. */
export const listTools = (config: Config, families: readonly Family[]): Tool[] =>
  TOOLS.filter(
    (tool) =>
      families.includes(tool.family) && tool.enabled(config) && !config.disabledTools.has(tool.name.toLowerCase()),
  )

/** Families of a path such as `threads,packs`; null when a name is unknown, or has no tools to list. */
export function readFamilies(names: string): Family[] | null {
  const known = FAMILIES.filter((family) => TOOLS.some((tool) => tool.family === family))
  const wanted = names.split(',')
  const families = wanted.map((name) => known.find((family) => family === name))
  return families.every((family) => family !== undefined) ? families : null
}
