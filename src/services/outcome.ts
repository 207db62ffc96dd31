import { type PlainProblem, Problem, plainProblem, problemOf } from '../domain/errors'
import type { Caller } from '../domain/identity/scope'
import { DuplicateConflict } from '../domain/recall/duplicates'
import { note } from '../domain/receipts/notes'

/** What became of one item of a batch. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })

/** An outcome as JSON keeps it. */
export type StoredOutcome<T> = { readonly value: T } | { readonly problem: PlainProblem }

export const storedOutcomes = <T>(outcomes: readonly Outcome<T>[]): StoredOutcome<T>[] =>
  outcomes.map((outcome) => (outcome.ok ? { value: outcome.value } : { problem: plainProblem(outcome.problem) }))

export const outcomesOf = <T>(kept: readonly StoredOutcome<T>[]): Outcome<T>[] =>
  kept.map((one) => ('value' in one ? done(one.value) : { ok: false, problem: problemOf(one.problem) }))

/** Outcomes of a call's items, noted for its answer. */
export const noteOutcomes = <T>(caller: Caller, outcomes: readonly Outcome<T>[]): void =>
  note(caller, 'outcomes', storedOutcomes(outcomes))

/** The value of the one item of a call. @throws Problem what was wrong with it */
export function onlyValue<T>([outcome]: readonly Outcome<T | null>[]): T {
  if (outcome?.ok && outcome.value !== null) return outcome.value
  throw outcome?.ok === false ? outcome.problem : new Error('one item has one outcome')
}

/** Runs a step; a Problem becomes the item's outcome, anything else is a bug and passes through. */
export async function attempt<T>(step: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return done(await step())
  } catch (error) {
    if (error instanceof Problem) return { ok: false, problem: error }
    throw error
  }
}

/**
 * Writes with what is stored of entries that the write may match, and again with what is stored by then, a few times.
 *
 * @param busy what to say when others change it all the while
 * @throws Problem conflict
 */
export async function withFreshLook<Known, T>(
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

/** Fresh reads after a lost race, before the caller is told of it (threads contract §2.5). */
const TRIES = 5

/** Tries again after a lost race, with fresh reads, a few times. @param tries how often in all */
export async function withRetries<T>(step: (attempt: number) => Promise<T>, tries = TRIES): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step(attempt)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'conflict' || !error.retryable || attempt === tries) throw error
    }
  }
}
