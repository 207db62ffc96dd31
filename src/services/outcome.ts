import { Problem, problemOf, type ToldProblem, toldOf } from '../domain/errors'
import { type Done, type Noting, note } from '../domain/receipts/receipt'

/** What became of one item of a batch. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })

/** An outcome as the notes of a call keep it (`domain/history/receipt.ts`). */
type NotedOutcome<T> = { readonly value: T } | { readonly problem: ToldProblem }

/** Outcomes of a call's items, noted for its answer. */
export const noteOutcomes = <T>(caller: Noting, outcomes: readonly Outcome<T>[]): void =>
  note(
    caller,
    'outcomes',
    outcomes.map((outcome) => (outcome.ok ? { value: outcome.value } : { problem: toldOf(outcome.problem) })),
  )

/** The outcomes that a call noted which was carried out before; null when it noted none. */
export function notedOutcomes<T>({ notes }: Done): Outcome<T>[] | null {
  const noted = notes.outcomes as readonly NotedOutcome<T>[] | undefined
  if (noted === undefined) return null
  return noted.map((one) => ('value' in one ? done(one.value) : { ok: false, problem: problemOf(one.problem) }))
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

/** Fresh reads after a lost race, before the caller is told of it (threads contract §2.5). */
const TRIES = 5

/** Tries again after a lost race, with fresh reads, a few times. */
export async function withRetries<T>(step: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step(attempt)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'conflict' || !error.retryable || attempt === TRIES) throw error
    }
  }
}
