import type { Entry } from '../domain/entry/entry'

/** Serializes the origin of an entry: the key and agent that stored it, and whether it was captured, imported or approved. */
export const provenance = (entry: Pick<Entry, 'createdBy' | 'agent' | 'captured' | 'importedFrom' | 'approved'>) => ({
  by: entry.agent === null ? entry.createdBy : `${entry.agent} (${entry.createdBy})`,
  ...(entry.captured ? { captured: true } : {}),
  ...(entry.importedFrom === null ? {} : { imported: true }),
  ...(entry.approved ? { approved: true } : {}),
})
