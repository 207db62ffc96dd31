import { IN_FLIGHT } from '../entry/work'
import { isOnlyTime, periodOf } from './recency'
import { BY_STATUS, NEXT, OF_ONE, RESUMES } from './sayings'
import { WEIGHTS, type Weights } from './weights'

/** What a goal asks of work in flight. */
export interface WorkAsked {
  /** None when it does not ask. */
  readonly statuses: readonly string[]
  /** 0 to 1: how much it says for such work that the goal asks for it. */
  readonly worth: number
}

/** Whether all such work is meant, whatever its words are. */
export const isMeant = (worth: number, { asked }: Weights = WEIGHTS): boolean => worth >= asked.any

export function workAsked(goal: string, { asked }: Weights = WEIGHTS): WorkAsked {
  const said = BY_STATUS.find(([saying]) => saying.test(goal))
  if (said !== undefined) return { statuses: said[1], worth: asked.byStatus }
  if (isOnlyTime(goal) && periodOf(goal) === 'whenever it was') return { statuses: IN_FLIGHT, worth: asked.any }
  if ([...NEXT, ...OF_ONE, ...RESUMES].some((saying) => saying.test(goal)))
    return { statuses: IN_FLIGHT, worth: asked.ofSubject }
  return { statuses: [], worth: 0 }
}

/** Whether a goal takes up work again, or asks how it stands. */
export const resumes = (goal: string): boolean => [...RESUMES, ...OF_ONE, ...NEXT].some((saying) => saying.test(goal))
