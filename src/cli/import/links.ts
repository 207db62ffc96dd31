// Converts links of a source to the four keys of metadata that hold ids; the ids are those of the source.
import { type JsonObject, own } from '../../domain/entry/metadata'
import type { RecordId } from '../../domain/transfer/records'
import type { Collector } from './collector'
import { isJsonObject } from './values'

/** `superseded_by` names an entry of the source by its id there; the newer entry gets `supersedes` instead. */
export function withSuperseded(collector: Collector): Collector {
  const ids = new Map(collector.entries.map((found, i) => [String(found.id), i]))
  for (const [i, found] of collector.entries.entries()) {
    const heir = own(found.metadata ?? null, 'superseded_by')
    const at = typeof heir === 'number' || typeof heir === 'string' ? ids.get(String(heir)) : undefined
    const there = at === undefined ? undefined : collector.entries[at]
    if (at === undefined || there === undefined || at === i) continue
    const { superseded_by, ...rest } = found.metadata ?? {}
    collector.entries[i] = { ...found, metadata: rest }
    collector.entries[at] = { ...there, metadata: withId(there.metadata ?? {}, 'supersedes', found.id) }
  }
  return collector
}

/** Adds an id to metadata, under a key that holds ids. */
export function withId(metadata: JsonObject, key: string, id: RecordId): JsonObject {
  const before = own(metadata, key)
  const list = before === undefined || before === null ? [] : Array.isArray(before) ? before : [before]
  if (list.some((one) => String(one) === String(id))) return metadata
  return { ...metadata, [key]: list.length === 0 ? id : [...list, id] }
}

/** Adds a reference and its label to metadata. */
export function related(metadata: JsonObject, type: string, to: string, shown = to): JsonObject {
  const given = own(metadata, 'references')
  const references = isJsonObject(given) ? given : {}
  const ids = own(references, 'context_ids')
  const known = Array.isArray(ids) ? ids : []
  const words = own(metadata, 'relations')
  return {
    ...metadata,
    relations: [...(Array.isArray(words) ? words : []), { type, to: shown }],
    references: { ...references, context_ids: known.includes(to) ? known : [...known, to] },
  }
}
