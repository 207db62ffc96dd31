import type { Family } from '../family'
import { threads } from '../threads/family'

/** Packs: memories for a goal, and storing them (packs contract). Errors have the shape of the threads family. */
export const packs: Family = {
  ...threads,
  name: 'packs',
  tokens: 800,
  parse: { leaves: () => false },
  instructions:
    'Shared memory of your team. Call context with your goal before you start or resume work: it returns the decisions, ' +
    'open work, rules and pitfalls that matter. Call remember for what others should not have to learn again: ' +
    'decisions, gotchas, plans, finished work; in related_to, list what it supersedes or depends on. ' +
    'If the answer has may_replace, make the call in judge that is true.',
}
