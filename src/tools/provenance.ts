import type { Entry } from '../domain/entry/entry'

/** Where an entry came from: the key and the agent that stored it, and what applies of captured, imported and approved. */
export const provenance = (entry: Pick<Entry, 'createdBy' | 'agent' | 'captured' | 'importedFrom' | 'approved'>) => ({
  by: entry.agent === null ? entry.createdBy : `${entry.agent} (${entry.createdBy})`,
  ...(entry.captured ? { captured: true } : {}),
  ...(entry.importedFrom === null ? {} : { imported: true }),
  ...(entry.approved ? { approved: true } : {}),
})
