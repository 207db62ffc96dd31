import type { Family } from '../family'
import { threads } from '../threads/family'

/** Packs: memory for a goal, and what goes into it (packs contract). Errors are those of threads. */
export const packs: Family = {
  ...threads,
  name: 'packs',
  tokens: 800,
  parse: { leaves: () => false },
  instructions:
    'Shared memory of your team. Before you start or resume work, ask context for your goal: it brings the decisions, ' +
    'work in flight, rules and pitfalls that matter. Whatever others should not have to learn again, remember: ' +
    'decisions, gotchas, plans, finished work; name what it supersedes or depends on in related_to. ' +
    'Where the answer has may_replace, make the call in judge that is true.',
}
