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

/**
 * Reads stored entries from a receipt.
 *
 * The server wrote the notes itself, so they are not validated.
 *
 * @param saved the rows that the call stored
 */
const savedOutcomes = ({ notes }: Trace, saved: readonly SavedBefore[]) =>
  storedAs(outcomesOf((notes.outcomes ?? []) as StoredOutcome<Planned>[]), saved)

export const storedFromReceipt = (trace: Trace): StoredOutcome<StoredEntry>[] =>
  storedOutcomes(savedOutcomes(trace, savedBy(trace)))

/** Reads updated entries from a receipt. A patch of metadata alone leaves no notes. */
export function updatedFromReceipt({ notes, effect }: Trace): StoredOutcome<UpdatedEntry | null>[] {
  if (notes.outcomes !== undefined) return notes.outcomes as StoredOutcome<UpdatedEntry | null>[]
  return effect.slice(0, 1).map(([id, version]) => ({ value: patchedTo(id, version) }))
}

/** Returns the only item of a repeated call. */
export const onlyOne = <T>(kept: readonly StoredOutcome<T | null>[]): T => onlyValue(outcomesOf(kept))

/** Reads stored or matched memories from a receipt, in the order of the call. */
export function memoriesFromReceipt(trace: Trace): StoredMemory[] {
  // Matched memories may have newer versions since.
  const stored = savedBy(trace).filter(({ isNew }) => isNew)
  return memoriesAs((trace.notes.memories ?? []) as PlannedMemory[], savedOutcomes(trace, stored))
}

/** Reads the outcome of a reported event from a receipt. */
export const reportFromReceipt = (trace: Trace): EventReport =>
  eventAs(trace.notes.event as PlannedEvent, memoriesFromReceipt(trace))

/** Reads the outcome of `remember` from a receipt. */
export function rememberedFromReceipt(trace: Trace): Remembered {
  // Receipts of an earlier release lack these members.
  const absent = { furtherConflicts: 0, mayReplace: [], equal: null }
  const before: PlannedRemembered = { ...absent, ...(trace.notes.remembered as PlannedRemembered) }
  return rememberedAs(before, before.equal === null ? onlyOne(storedFromReceipt(trace)) : null)
}
