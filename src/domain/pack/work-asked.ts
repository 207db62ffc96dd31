import { IN_FLIGHT } from '../work'

/** Whether a goal asks for work by how it stands: the statuses that it means, none when it does not ask. */
const SAYINGS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\bblocked\b|\bstuck on\b|\bwaiting (?:for|on) (?:whom|who|what|somebody|someone)\b/i, ['blocked']],
  [/\b(?:in|under|for|awaiting) review\b/i, ['review']],
  [/\b(?:in progress|in flight|ongoing|being worked on)\b|\b(?:is|are|am) [a-z]{1,20} working on\b/i, IN_FLIGHT],
]

export const workAsked = (goal: string): readonly string[] => SAYINGS.find(([saying]) => saying.test(goal))?.[1] ?? []
