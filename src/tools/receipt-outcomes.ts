import { type SavedBefore, savedBy, type Trace } from '../domain/receipts/receipt'
import { onlyValue, outcomesOf, type StoredOutcome, storedOutcomes } from '../services/outcome'
import {
  type PlannedMemory as PlannedRemembered,
  type StoredMemory as Remembered,
  rememberedAs,
} from '../services/pack/remember'
import { type Planned, type StoredEntry, storedAs } from '../services/writing/entries/store-entries'
import { patchedTo, type UpdatedEntry } from '../services/writing/entries/update-entries'
import { type EventReport, eventAs, type PlannedEvent } from '../services/writing/events/report-event'
import { memoriesAs, type PlannedMemory, type StoredMemory } from '../services/writing/memories/memories'

/** What calls that write have found out, read from their receipts. The server wrote the notes itself, and so they are not parsed. */

/** What a call has stored that was carried out before. @param saved the rows that it brought */
const savedOutcomes = ({ notes }: Trace, saved: readonly SavedBefore[]) =>
  storedAs(outcomesOf((notes.outcomes ?? []) as StoredOutcome<Planned>[]), saved)

export const storedBefore = (trace: Trace): StoredOutcome<StoredEntry>[] =>
  storedOutcomes(savedOutcomes(trace, savedBy(trace)))

/** What a call has updated that was carried out before: a patch of metadata alone notes nothing. */
export function updatedBefore({ notes, effect }: Trace): StoredOutcome<UpdatedEntry | null>[] {
  if (notes.outcomes !== undefined) return notes.outcomes as StoredOutcome<UpdatedEntry | null>[]
  return effect.slice(0, 1).map(([id, version]) => ({ value: patchedTo(id, version) }))
}

/** The one item of a call that was carried out before. */
export const onlyOne = <T>(kept: readonly StoredOutcome<T | null>[]): T => onlyValue(outcomesOf(kept))

/** Memories that a call has stored or matched which was carried out before, in the order in which it stored them. */
export function storedMemoriesBefore(trace: Trace): StoredMemory[] {
  // Those that it matched may have become new versions.
  const stored = savedBy(trace).filter(({ isNew }) => isNew)
  return memoriesAs((trace.notes.memories ?? []) as PlannedMemory[], savedOutcomes(trace, stored))
}

/** What became of an event that was reported before. */
export const reportedBefore = (trace: Trace): EventReport =>
  eventAs(trace.notes.event as PlannedEvent, storedMemoriesBefore(trace))

/** What a call has remembered that was carried out before. */
export function rememberedBefore(trace: Trace): Remembered {
  // Receipts of an earlier release do not have these.
  const absent = { furtherConflicts: 0, mayReplace: [], equal: null }
  const before: PlannedRemembered = { ...absent, ...(trace.notes.remembered as PlannedRemembered) }
  return rememberedAs(before, before.equal === null ? onlyOne(storedBefore(trace)) : null)
}
