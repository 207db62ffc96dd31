import { own } from '../../domain/entry/metadata'
import { type ReaderField, widenedFields } from '../../domain/entry/readers'
import { Problem } from '../../domain/errors'
import type { Millis } from '../../domain/time'
import { asSent, entryContent } from '../../domain/transfer/content-checksum'
import type { ImportRules } from '../../domain/transfer/incoming'
import { type IncomingEntry, type IncomingLink, incomingEntry } from '../../domain/transfer/incoming'
import type { EntryRecord, RecordId } from '../../domain/transfer/records'
import type { Remembered } from '../../ports/import-store'
import { asProblem } from './report'

export type OnConflict = 'skip' | 'replace' | 'fail'

/** The decision about an entry or a deleted one. */
export type Decision =
  | {
      readonly what: 'store' | 'replace'
      readonly entry: IncomingEntry
      readonly links: readonly IncomingLink[]
      readonly replaces: number | null
      readonly version: number
    }
  | { readonly what: 'unchanged' | 'skip' | 'conflict' }
  | { readonly what: 'refuse'; readonly problem: Problem }

/** Mapping of IDs to themselves, to compare two states of one store. */
const ITSELF = { stable: (id: string) => (/^\d+$/.test(id) ? `#${id}` : null), isMissing: () => false }

/** Reports whether the stored entry equals the record. @param record with IDs of this store, and without dangling links */
const saysTheSame = (record: EntryRecord, standing: EntryRecord): boolean =>
  entryContent(record, ITSELF) === entryContent(asSent(record, standing), ITSELF)

/** Reports whether an entry is unchanged since its import, or since the organization's own file was created. */
export function isUntouched({ version, existing: standing }: Remembered, at: Millis): boolean {
  if (standing === null) return true
  return version === null ? standing.updatedAt <= at : version === standing.version
}

const isLater = ({ at: before }: Remembered, at: Millis): boolean => before === null || at > before

/** Reports whether the file is newer than the unchanged stored entry. */
const takesOver = (known: Remembered, at: Millis): boolean => isUntouched(known, at) && isLater(known, at)

const otherwise = (onConflict: OnConflict): 'skip' | 'replace' | 'conflict' =>
  onConflict === 'fail' ? 'conflict' : onConflict

/** Decides about a record of an entry. @param record with IDs of this store; `standing` likewise, null without one */
export function decideEntry(
  record: EntryRecord & { readonly links: readonly IncomingLink[] },
  known: Remembered | undefined,
  standing: EntryRecord | null,
  {
    intake,
    onConflict,
    edits,
  }: { readonly intake: ImportRules; readonly onConflict: OnConflict; readonly edits: boolean },
): Decision {
  if (known?.existing?.isPendingDeletion)
    return {
      what: 'refuse',
      problem: new Problem('conflict', 'The entry is being deleted here; send the volume again'),
    }
  if (known?.existing?.isReadOnly)
    return standing !== null && saysTheSame(record, standing)
      ? { what: 'unchanged' }
      : { what: 'refuse', problem: new Problem('forbidden', 'It exists here where this key can read but not write') }
  const replaced = intake.isTrusted || standing === null ? record : keepOwner(record, standing)
  let entry: IncomingEntry
  try {
    entry = incomingEntry(replaced, record.metadata ?? null, intake)
  } catch (error) {
    return { what: 'refuse', problem: asProblem(error) }
  }
  if (known === undefined || known.existing === null)
    return {
      what: 'store',
      entry,
      links: record.links,
      replaces: null,
      version: Math.max(entry.version, (known?.last ?? 0) + 1),
    }
  const { version } = known.existing
  // An edit is applied to the state that it was made from, whatever its time.
  const takes = edits ? isMadeOf(record, standing) : takesOver(known, intake.at)
  if (standing !== null && saysTheSame(stored(replaced, entry), standing) && !(takes && entry.version > version))
    return { what: 'unchanged' }
  const what = takes ? 'replace' : otherwise(onConflict)
  if (what !== 'replace') return { what }
  const widened = standing === null ? [] : widenedBy(record, entry, standing)
  if (widened.length > 0)
    return {
      what: 'refuse',
      problem: new Problem(
        'forbidden',
        `Its ${widened.join(', ')} here would be widened without being named; set ${widened.join(', ')} in its metadata`,
      ),
    }
  const next = edits && standing !== null ? asEdit(entry, standing, intake) : entry
  return { what, entry: next, links: record.links, replaces: version, version: Math.max(entry.version, version + 1) }
}

/** Reports whether an edited record was made from the state that is stored here. */
const isMadeOf = (record: EntryRecord, standing: EntryRecord | null): boolean =>
  standing !== null && record.version === standing.version && record.updated_at === standing.updated_at

/** Converts an edit to the next version: created now by the importer. Owner, creator and unmentioned fields stay. */
function asEdit(entry: IncomingEntry, standing: EntryRecord, { now, keyId }: ImportRules): IncomingEntry {
  const isSameText = entry.text === standing.text
  return {
    ...entry,
    columns: {
      ...entry.columns,
      owner: standing.owner ?? null,
      created_by: standing.created_by ?? keyId,
      imported_from: standing.imported_from ?? null,
      updated_at: now,
      changed_by: keyId,
      changed_agent: null,
      accessed_at: standing.accessed_at === undefined ? null : Date.parse(standing.accessed_at),
      access_count: standing.access_count ?? 0,
      summary: isSameText ? (standing.summary ?? '') : '',
    },
  }
}

/** Returns the fields that would let more people read the replaced entry and that the record's metadata do not name. */
const widenedBy = ({ metadata = {} }: EntryRecord, entry: IncomingEntry, standing: EntryRecord): ReaderField[] =>
  widenedFields(
    { metadata: standing.metadata ?? null, project: standing.project ?? null },
    { metadata: entry.metadata, project: entry.columns.project === null ? null : String(entry.columns.project) },
  ).filter((field) => own(metadata, field) === undefined)

/** Keeps the owner of an entry that a key replaces, whatever the file states. */
const keepOwner = <R extends EntryRecord>(record: R, { owner, created_by }: EntryRecord): R => ({
  ...record,
  owner,
  created_by: record.created_by ?? created_by,
})

/** Returns the record in its stored form. */
function stored(record: EntryRecord, { columns, images }: IncomingEntry): EntryRecord {
  const ends = [columns.named_expires_at, columns.layer_expires_at].filter(
    (end): end is number => typeof end === 'number',
  )
  const captured = columns.captured === 1
  return {
    ...record,
    thread_id: String(columns.thread_id),
    tags: JSON.parse(String(columns.tags)),
    images: images.map(({ hash, mimeType, size, metadata }) => ({
      ...{ sha256: hash, mime_type: mimeType, size },
      ...(typeof metadata === 'string' || isObject(metadata) ? { metadata } : {}),
    })),
    project: columns.project === null ? undefined : String(columns.project),
    agent: columns.agent === null ? undefined : String(columns.agent),
    weight: Number(columns.named_weight ?? columns.given_weight),
    pinned: (columns.named_pinned ?? columns.given_pinned) === 1,
    expires_at: ends.length === 0 ? undefined : new Date(Math.min(...ends)).toISOString(),
    archived: columns.archived === 1 && !captured,
    captured,
  }
}

const isObject = (value: unknown): value is NonNullable<EntryRecord['metadata']> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Decides about an entry that the file reports as deleted; null if there is none here. */
export function decideDeleted(
  known: Remembered | undefined,
  at: Millis,
  onConflict: OnConflict,
): 'delete' | 'skip' | 'conflict' | null {
  if (known === undefined || known.existing === null) return null
  if (known.existing.isPendingDeletion || known.existing.isReadOnly) return null
  if (takesOver(known, at)) return 'delete'
  const what = otherwise(onConflict)
  return what === 'replace' ? 'delete' : what
}

/** Returns an ID that can be preserved: a number that every part of the store can hold. */
export const preservableId = (id: RecordId): number | null => {
  const number = typeof id === 'number' ? id : /^[1-9]\d{0,15}$/.test(id) ? Number(id) : 0
  return number > 0 && number <= 2 ** 52 ? number : null
}
