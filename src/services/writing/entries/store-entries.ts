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
import type { DuplicatePolicy } from '../../../domain/recall/duplicates'
import type { SavedBefore } from '../../../domain/receipts/receipt'
import { scheduler } from '../../../domain/scheduler'
import type { EntryStore, SavedEntry } from '../../../ports/entry-store'
import type { ImageStore } from '../../../ports/image-store'
import type { Outbox } from '../../../ports/outbox'
import { attempt, done, noteOutcomes, type Outcome, withFreshRead, withRetries } from '../../outcome'
import type { Along, Generate } from './generate'
import { checkImages, uploadImages, writeImages } from './image-transfer'

export interface StoredEntry {
  readonly id: number
  readonly threadId: string
  readonly version: number
  readonly isNew: boolean
  readonly images: number
  readonly evicted: readonly number[]
  /** Content that models created, in the words of messages. */
  readonly made: readonly Made[]
  readonly warnings: readonly string[]
}

export type Made =
  | 'embedding generated'
  | 'embedding queued'
  | 'summary generated'
  | 'summary preserved'
  | 'summary queued'

/** The warning for entries whose vectors are not ready. */
export const VECTORS_LATER =
  'Some vectors are not ready yet: search finds this by its words now, and by its meaning when they are ready'

/** Lists what was created and what is pending, embedding first. Vectors that could not be written are computed again. */
export function madeOf({ vectors, summary, queued }: Generated, written: boolean): Made[] {
  return [
    ...(vectors === null || !written ? [] : (['embedding generated'] as const)),
    ...(queued.includes('embed') || (vectors !== null && !written) ? (['embedding queued'] as const) : []),
    ...(summary === '' ? [] : (['summary generated'] as const)),
    ...(queued.includes('summarize') ? (['summary queued'] as const) : []),
  ]
}

/** An entry before it is saved, noted for the answer. */
export interface Planned {
  readonly threadId: string
  readonly images: number
  /** Content of `made` if the entry is new. */
  readonly made: readonly Made[]
  readonly warnings: readonly string[]
}

/**
 * Builds the outcomes of a call's drafts.
 *
 * @param planned the notes about each draft before the write
 * @param saved the rows of the valid ones, in order
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
  /** Whether one invalid draft prevents all writes. */
  readonly atomic: boolean
  /** Whether a draft that repeats the newest message of its source in its thread updates that message. */
  readonly dedupe: boolean
  /** Texts to embed with the same call. */
  readonly along?: Along | undefined
  /** For memories: how duplicates are treated. */
  readonly meeting?: DuplicatePolicy | undefined
  /** Captured entries that it replaces. */
  readonly replaces?: readonly CapturedAt[] | undefined
}

/** Dependencies of storing and updating entries. */
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
   * Stores entries: images first, because uploads can be repeated, then all rows in one batch.
   *
   * With `atomic`, one invalid draft prevents all writes: invalid drafts return their problem, the others null.
   *
   * @throws Problem if a dependency fails; the message states whether anything was stored, and the call can be repeated
   * @example
   * await services.storeEntries(caller, [done({ threadId: 'release-2.1', source: 'agent', text: 'We deploy on Tuesdays.' })], { atomic: true, dedupe: true })
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
        // Vectors of layers 1 and 2 may be computed later; layer 3 requires them.
        good.every(({ entry }) => entry.life !== undefined && entry.layer !== 3) ? 'defer' : undefined,
        along,
      ),
    )
    // One call of the embedder serves all entries, so its failure affects all.
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
    // A repeated message keeps its reserved keys unless the metadata name them.
    const retry = { look: () => entries.repeated(caller, rows), busy: REPEATED_CHANGES }
    const repeating = (turns: readonly (Metadata | null)[]) => save(withTurns(caller, rows, turns))
    const saved = dedupe ? await withFreshRead([], retry, repeating) : await save(rows)
    const reports = planned(saved)
    if (saved.some(({ searchable }) => !searchable)) noteOutcomes(caller, reports)
    return storedAs(reports, saved)
  }
}

const REPEATED_CHANGES = 'The entry that this one repeats is being changed; try again'

/**
 * Adds the reserved keys of repeated messages.
 *
 * @param turns metadata of the stored message that each entry repeats; an entry that repeats an earlier one of the call keeps its
 *   own keys
 */
function withTurns(caller: Caller, rows: readonly NewEntry[], turns: readonly (Metadata | null)[]): NewEntry[] {
  const newest = new Map<string, NewEntry>()
  return rows.map((row, i) => {
    const before = newest.get(row.threadId)
    const turn = before === undefined ? turns[i] : repeats(row, before) ? before.metadata : null
    const kept = turn ? keepReserved(caller, row, turn) : row
    // A diary page is not listed, so the message before it stays the newest.
    if (kept.lifted.diary) return kept
    // Without metadata, the entry keeps those of the message.
    const { lifted } = turn && before ? before : row
    newest.set(row.threadId, kept.metadata === null ? { ...kept, metadata: turn ?? null, lifted } : kept)
    return kept
  })
}

const repeats = (row: NewEntry, before: NewEntry): boolean =>
  row.source === before.source &&
  row.textHash === before.textHash &&
  (row.metadata === null || row.lifted.project === before.lifted.project)

/** UTF-16 units of metadata JSON that one call may write, because one transaction carries them and blocks a local database. */
const MOST_METADATA = 8_000_000

/** Checks the size of all metadata. @throws Problem limit_exceeded if one transaction would be too large */
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
