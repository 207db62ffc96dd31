import type { Family } from '../family'
import { threads } from '../threads/family'

/** History: what changed, and how it is taken back (history contract). It says what went wrong as threads do. */
export const history: Family = {
  ...threads,
  name: 'history',
  tokens: 700,
  instructions:
    'What changed in the shared memory of your team: list_changes tells what others have stored, updated and deleted ' +
    'since you last looked; get_context_history shows what an entry was, restore_context takes a change or a delete back.',
  parse: { leaves: () => false },
}
