import { type PlainProblem, Problem, plainProblem, problemOf } from '../domain/errors'
import type { Caller } from '../domain/identity/scope'
import { DuplicateConflict } from '../domain/recall/duplicates'
import { note } from '../domain/receipts/notes'

/** The result of one item of a batch. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })

/** An outcome as stored in JSON. */
export type StoredOutcome<T> = { readonly value: T } | { readonly problem: PlainProblem }

export const storedOutcomes = <T>(outcomes: readonly Outcome<T>[]): StoredOutcome<T>[] =>
  outcomes.map((outcome) => (outcome.ok ? { value: outcome.value } : { problem: plainProblem(outcome.problem) }))

export const outcomesOf = <T>(kept: readonly StoredOutcome<T>[]): Outcome<T>[] =>
  kept.map((one) => ('value' in one ? done(one.value) : { ok: false, problem: problemOf(one.problem) }))

/** Notes the outcomes of a call for its receipt. */
export const noteOutcomes = <T>(caller: Caller, outcomes: readonly Outcome<T>[]): void =>
  note(caller, 'outcomes', storedOutcomes(outcomes))

/** Returns the value of the only item. @throws Problem of that item */
export function onlyValue<T>([outcome]: readonly Outcome<T | null>[]): T {
  if (outcome?.ok && outcome.value !== null) return outcome.value
  throw outcome?.ok === false ? outcome.problem : new Error('one item has one outcome')
}

/** Runs a step. A Problem becomes the outcome of the item; any other error is a bug and is thrown. */
export async function attempt<T>(step: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return done(await step())
  } catch (error) {
    if (error instanceof Problem) return { ok: false, problem: error }
    throw error
  }
}

/**
 * Reads matching entries and writes, and repeats both a few times if others write in between.
 *
 * @param busy message after the last attempt
 * @throws Problem conflict
 */
export async function withFreshRead<Known, T>(
  known: Known,
  { look, busy }: { readonly look: () => Promise<Known>; readonly busy: string },
  write: (known: Known) => Promise<T>,
): Promise<T> {
  for (let attempt = 1, stored = known; ; attempt++) {
    try {
      return await write(stored)
    } catch (error) {
      if (!(error instanceof DuplicateConflict)) throw error
      if (attempt === TRIES) throw new Problem('conflict', busy, {}, error)
      stored = await look()
    }
  }
}

/** Attempts with fresh reads after a lost race (threads contract §2.5). */
const TRIES = 5

/** Repeats a step with fresh reads after a lost race. @param tries maximum attempts */
export async function withRetries<T>(step: (attempt: number) => Promise<T>, tries = TRIES): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step(attempt)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'conflict' || !error.retryable || attempt === tries) throw error
    }
  }
}
