import { IN_FLIGHT } from '../entry/work'
import { isOnlyTime, periodOf } from './recency'
import { NEXT, OF_ONE } from './sayings-next'

/** Whether a goal asks for work by how it stands: the statuses that it means, none when it does not ask. */
const SAYINGS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\bblocked\b|\bstuck on\b|\bwaiting (?:for|on) (?:whom|who|what|somebody|someone)\b/i, ['blocked']],
  [/\b(?:in|under|for|awaiting) review\b/i, ['review']],
  [/\b(?:in progress|in flight|ongoing|being worked on)\b|\b(?:is|are|am) [a-z]{1,20} working on\b/i, IN_FLIGHT],
]

/** What a goal asks of work in flight. */
export interface WorkAsked {
  /** None when it does not ask. */
  readonly statuses: readonly string[]
  /** 0 to 1: how much it says for such work that the goal asks for it. */
  readonly worth: number
}

/** Work by how it stands, wherever things stand, and on a subject, where other work is not meant. */
const BY_STATUS = 0.6
const ANY = 0.35
const OF_SUBJECT = 0.3

/** Whether all such work is meant, whatever its words are. */
export const isMeant = (worth: number): boolean => worth >= ANY

export function workAsked(goal: string): WorkAsked {
  const said = SAYINGS.find(([saying]) => saying.test(goal))
  if (said !== undefined) return { statuses: said[1], worth: BY_STATUS }
  if (isOnlyTime(goal) && periodOf(goal) === 'whenever it was') return { statuses: IN_FLIGHT, worth: ANY }
  if ([...NEXT, ...OF_ONE].some((saying) => saying.test(goal))) return { statuses: IN_FLIGHT, worth: OF_SUBJECT }
  return { statuses: [], worth: 0 }
}
