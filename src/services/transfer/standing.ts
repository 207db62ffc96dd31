import type { Scope } from '../../domain/identity/scope'
import type { EntryRecord } from '../../domain/transfer/records'
import type { ExportStore } from '../../ports/export-store'
import type { Mapping } from './mapping'

export type Standing = Pick<ExportStore, 'read' | 'named'>

const EVERYTHING = { until: Number.MAX_SAFE_INTEGER, after: null, project: null, history: false, vectors: false }

/** What stands here of entries that come in, by its id; the mapping learns which of its links the caller may not follow. */
export async function standingOf(
  exports: Standing,
  scope: Scope,
  mapping: Mapping,
  records: readonly EntryRecord[],
): Promise<Map<number, EntryRecord>> {
  const ids = [...new Set(records.flatMap(({ id }) => mapping.ours.get(String(id)) ?? []))].sort((a, b) => a - b)
  if (ids.length === 0) return new Map()
  const { exported } = await exports.read(scope, EVERYTHING, ids, { beyond: 0, maxBytes: 0 })
  const entries = exported.flatMap(({ entry }) => entry ?? [])
  await mapping.keepHidden(entries, async (named) => (await exports.named(scope, EVERYTHING, named)).linkable)
  return new Map(entries.map((entry) => [Number(entry.id), entry]))
}
