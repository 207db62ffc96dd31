import {
  type EntryDraft,
  keepReserved,
  type PreparedEntry,
  prepareEntry,
  type WriteLimits,
} from '../../../domain/entry/draft'
import type { Generated } from '../../../domain/entry/entry'
import type { NewEntry } from '../../../domain/entry/entry-write'
import { kindOfTags } from '../../../domain/entry/kind'
import { checkLinks } from '../../../domain/entry/link'
import { type Metadata, own } from '../../../domain/entry/metadata'
import type { CapturedAt } from '../../../domain/entry/selection'
import { statusWarnings } from '../../../domain/entry/work'
import { limitExceeded } from '../../../domain/errors'
import type { Caller } from '../../../domain/identity/scope'
import { jsonText } from '../../../domain/json/write'
import type { DuplicatePolicy } from '../../../domain/recall/equal'
import type { SavedBefore } from '../../../domain/receipts/receipt'
import { scheduler } from '../../../domain/scheduler'
import type { EntryStore, SavedEntry } from '../../../ports/entry-store'
import type { ImageStore } from '../../../ports/image-store'
import type { Outbox } from '../../../ports/outbox'
import { attempt, done, noteOutcomes, type Outcome, withFreshLook, withRetries } from '../../outcome'
import type { Along, Generate } from './generate'
import { checkImages, uploadImages, writeImages } from './image-transfer'

/** What became of a draft that was stored, as it is told at once and to a call made again. */

export interface StoredEntry {
  readonly id: number
  readonly threadId: string
  readonly version: number
  readonly isNew: boolean
  readonly images: number
  readonly evicted: readonly number[]
  /** What models made of it: what happened, as messages say it. */
  readonly made: readonly Made[]
  readonly warnings: readonly string[]
}

export type Made =
  | 'embedding generated'
  | 'embedding queued'
  | 'summary generated'
  | 'summary preserved'
  | 'summary queued'

/** What a caller is told of entries whose vectors were not made in time. */
export const VECTORS_LATER =
  'Some vectors are not ready yet: search finds this by its words now, and by its meaning when they are ready'

/** What was made and what is still to be made, embedding first; vectors that could not be written are made again. */
export function madeOf({ vectors, summary, queued }: Generated, written: boolean): Made[] {
  return [
    ...(vectors === null || !written ? [] : (['embedding generated'] as const)),
    ...(queued.includes('embed') || (vectors !== null && !written) ? (['embedding queued'] as const) : []),
    ...(summary === '' ? [] : (['summary generated'] as const)),
    ...(queued.includes('summarize') ? (['summary queued'] as const) : []),
  ]
}

/** What is known of an entry before it is saved, noted for the answer and told once it is. */
export interface Planned {
  readonly threadId: string
  readonly images: number
  /** If it is new. */
  readonly made: readonly Made[]
  readonly warnings: readonly string[]
}

/**
 * What became of the drafts of a call.
 *
 * @param planned what was noted of each before the write
 * @param saved the rows of the good ones, in order
 */
export function storedAs(planned: readonly Outcome<Planned>[], saved: readonly SavedBefore[]): Outcome<StoredEntry>[] {
  const rows = saved.values()
  return planned.map((outcome) => {
    if (!outcome.ok) return outcome
    const row = rows.next().value
    if (row === undefined) throw new Error('fewer entries were saved than planned')
    const { id, version, isNew, summarized, evicted } = row
    const { threadId, images, made, warnings = [] } = outcome.value
    const happened = isNew ? made : summarized ? (['summary preserved'] as const) : []
    return done({ id, version, isNew, threadId, images, evicted, made: happened, warnings })
  })
}

interface StoreOptions {
  /** One bad draft means that nothing is stored. */
  readonly atomic: boolean
  /** A draft that repeats the newest turn of its source in its thread updates that turn instead. */
  readonly dedupe: boolean
  /** What is embedded by the same call. */
  readonly along?: Along | undefined
  /** Of memories: what is met again. */
  readonly meeting?: DuplicatePolicy | undefined
  /** Captured entries in whose place it is. */
  readonly replaces?: readonly CapturedAt[] | undefined
}

/** What stores and updates entries. */
export interface WriteDependencies {
  readonly entries: EntryStore
  readonly images: ImageStore
  readonly outbox: Pick<Outbox, 'queueUnused'>
  readonly limits: WriteLimits
  readonly generate: Generate
}

export type StoreEntries = ReturnType<typeof createStoreEntries>

export function createStoreEntries({ entries, images, outbox, limits, generate }: WriteDependencies) {
  async function prepare(caller: Caller, draft: EntryDraft, spent: number): Promise<PreparedEntry> {
    const prepared = await prepareEntry(caller, draft, limits, spent)
    checkImages(images, prepared.images)
    return prepared
  }

  async function prepareAll(caller: Caller, drafts: readonly Outcome<EntryDraft>[]) {
    let spent = 0
    const prepared: Outcome<PreparedEntry>[] = []
    for (const draft of drafts) {
      const outcome = draft.ok ? await attempt(() => prepare(caller, draft.value, spent)) : draft
      if (outcome.ok) spent += outcome.value.images.reduce((sum, image) => sum + image.size, 0)
      prepared.push(outcome)
      if (draft.ok) await scheduler.tick(draft.value.text.length)
    }
    return prepared
  }

  /**
   * Stores entries: images first, since a put may be repeated, then all rows in one batch. With `atomic`, one bad draft
   * means that nothing is stored: the bad ones come back with their problem, the others as null.
   *
   * @throws Problem when a dependency fails; its message says whether anything can be stored, and the same call may be made again
   */
  return async (
    caller: Caller,
    drafts: readonly Outcome<EntryDraft>[],
    { atomic, dedupe, along, meeting, replaces }: StoreOptions,
  ): Promise<Outcome<StoredEntry | null>[]> => {
    const prepared = await prepareAll(caller, drafts)
    const good = prepared.flatMap((outcome) => (outcome.ok ? [outcome.value] : []))
    const failed = prepared.length - good.length
    if ((good.length === 0 && meeting === undefined) || (atomic && failed > 0))
      return prepared.map((outcome) => (outcome.ok ? done(null) : outcome))

    checkBeside(good.map(({ entry }) => entry))
    checkLinks(good.map(({ entry }) => entry))
    const made = await attempt(() =>
      generate(
        good.map(({ entry: { lifted, text, source } }) => ({ title: lifted.title, text, source })),
        // Vectors of working and project memories may come later; without those of layer 3 nothing is stored.
        good.every(({ entry }) => entry.life !== undefined && entry.layer !== 3) ? 'defer' : undefined,
        along,
      ),
    )
    // One call of the embedder makes the vectors of all, so that all of them lack theirs.
    if (!made.ok) return prepared.map((outcome) => (outcome.ok ? made : outcome))
    const generated = made.value
    const pictures = good.flatMap((one) => one.images)
    const rows = good.map((one, i) => ({ ...one.entry, generated: generated[i] as Generated }))
    const planned = (saved?: readonly SavedEntry[]): Outcome<Planned>[] => {
      let next = 0
      return prepared.map((outcome) => {
        if (!outcome.ok) return outcome
        const { entry, images: given } = outcome.value
        const made = madeOf(generated[next] as Generated, saved?.[next]?.searchable ?? true)
        next++
        const kind = entry.lifted.namedKind ?? kindOfTags(entry.tags ?? [])
        const warnings = statusWarnings(kind, own(entry.metadata, 'status'))
        return done({ threadId: entry.threadId, images: given.length, made, warnings })
      })
    }
    noteOutcomes(caller, planned())
    const save = (written: readonly NewEntry[]) =>
      withRetries(async (attempt) => {
        const knownRemovals = await uploadImages({ images, entries }, caller, pictures, attempt)
        return writeImages(outbox, caller, pictures, () =>
          entries.save(caller, written, { dedupe, knownRemovals, meeting, replaces }),
        )
      })
    // A repeated turn keeps its reserved keys unless the metadata name them.
    const retry = { look: () => entries.repeated(caller, rows), busy: REPEATED_CHANGES }
    const repeating = (turns: readonly (Metadata | null)[]) => save(withTurns(caller, rows, turns))
    const saved = dedupe ? await withFreshLook([], retry, repeating) : await save(rows)
    const reports = planned(saved)
    if (saved.some(({ searchable }) => !searchable)) noteOutcomes(caller, reports)
    return storedAs(reports, saved)
  }
}

const REPEATED_CHANGES = 'The entry that this one repeats is being changed; try again'

/**
 * Entries with the reserved keys of the turns that they repeat.
 *
 * @param turns the metadata of the turn in the store that each repeats; an entry that repeats an earlier one of the call keeps its keys
 */
function withTurns(caller: Caller, rows: readonly NewEntry[], turns: readonly (Metadata | null)[]): NewEntry[] {
  const newest = new Map<string, NewEntry>()
  return rows.map((row, i) => {
    const before = newest.get(row.threadId)
    const turn = before === undefined ? turns[i] : repeats(row, before) ? before.metadata : null
    const kept = turn ? keepReserved(caller, row, turn) : row
    // A diary page is in no list, so that the turn before it stays the newest.
    if (kept.lifted.diary) return kept
    // Without metadata it keeps those of the turn.
    const { lifted } = turn && before ? before : row
    newest.set(row.threadId, kept.metadata === null ? { ...kept, metadata: turn ?? null, lifted } : kept)
    return kept
  })
}

const repeats = (row: NewEntry, before: NewEntry): boolean =>
  row.source === before.source &&
  row.textHash === before.textHash &&
  (row.metadata === null || row.lifted.project === before.lifted.project)

/**
 * Metadata of the entries that one call writes, in UTF-16 units of their JSON: they travel in its transaction, and a database in the same
 * process serves nobody meanwhile.
 */
const MOST_METADATA = 8_000_000

/** @throws Problem limit_exceeded when one transaction would have to bring too much metadata */
function checkBeside(entries: readonly Pick<NewEntry, 'metadata'>[]): void {
  let units = 0
  for (const { metadata } of entries) {
    units += metadata ? jsonText(metadata).length : 0
    if (units <= MOST_METADATA) continue
    throw limitExceeded(
      `The metadata of these entries are more than ${MOST_METADATA} characters of JSON; store them in several calls`,
    )
  }
}
