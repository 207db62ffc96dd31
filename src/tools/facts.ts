// What do calls that write find out, as their receipts keep it?
import * as z from 'zod'
import { type PlainProblem, PROBLEM_CODES, type ProblemDetails } from '../domain/errors'
import { type SavedBefore, savedBy, type Trace } from '../domain/receipts/receipt'
import { type KeptOutcome, keptOf, onlyValue, outcomesOf } from '../services/outcome'
import { MADE, type Planned, type StoredEntry, storedAs } from '../services/writing/entries/stored-entry'
import { patchedTo, REMADE, type UpdatedEntry } from '../services/writing/entries/updated-entry'

const object = z.record(z.string(), z.unknown())
const details: z.ZodType<ProblemDetails> = z.union([z.array(object), object])

const problem: z.ZodType<PlainProblem> = z.object({
  code: z.enum(PROBLEM_CODES),
  message: z.string(),
  retryable: z.boolean(),
  beside: object,
  details: details.optional(),
})

/** What became of the items of a call. */
const outcomes = <T>(value: z.ZodType<T>): z.ZodType<KeptOutcome<T>[]> =>
  z.array(z.union([z.object({ value }), z.object({ problem })]))

const planned: z.ZodType<Planned> = z.object({
  threadId: z.string(),
  images: z.int(),
  made: z.array(z.enum(MADE)),
  warnings: z.array(z.string()).default([]),
})

export const storedEntry: z.ZodType<StoredEntry> = z.object({
  id: z.int(),
  threadId: z.string(),
  version: z.int(),
  isNew: z.boolean(),
  images: z.int(),
  evicted: z.array(z.int()),
  made: z.array(z.enum(MADE)),
  warnings: z.array(z.string()).default([]),
})
/** Null: nothing was done with it, because another was wrong. */
export const storedEntries = outcomes(storedEntry.nullable())

export const updatedEntry: z.ZodType<UpdatedEntry> = z.object({
  id: z.int(),
  version: z.int(),
  updatedFields: z.array(z.string()),
  made: z.array(z.enum(REMADE)),
  archived: z.boolean().default(false),
  warnings: z.array(z.string()).default([]),
})
export const updatedEntries = outcomes(updatedEntry.nullable())

const plannedEntries = outcomes(planned)

/** What a call has stored that was carried out before. @param saved the rows that it brought */
export const storedOutcomes = ({ notes }: Trace, saved: readonly SavedBefore[]) =>
  storedAs(outcomesOf(plannedEntries.parse(notes.outcomes ?? [])), saved)

export const storedBefore = (trace: Trace): KeptOutcome<StoredEntry>[] => keptOf(storedOutcomes(trace, savedBy(trace)))

/** What a call has updated that was carried out before: a patch of metadata alone notes nothing. */
export function updatedBefore({ notes, effect }: Trace): KeptOutcome<UpdatedEntry | null>[] {
  if (notes.outcomes !== undefined) return updatedEntries.parse(notes.outcomes)
  return effect.slice(0, 1).map(([id, version]) => ({ value: patchedTo(id, version) }))
}

/** The one item of a call that was carried out before. */
export const onlyOne = <T>(kept: readonly KeptOutcome<T | null>[]): T => onlyValue(outcomesOf(kept))
