import type { Family } from '../family'
import { threads } from '../threads/family'

/** History: what changed, and how it is taken back (history contract). It says what went wrong as threads do. */
export const history: Family = {
  ...threads,
  name: 'history',
  tokens: 700,
  instructions:
    'Changes in the shared memory of your team. Call list_changes for what others have stored, updated and deleted ' +
    'since you last checked; get_context_history shows the versions of an entry, restore_context undoes a change or a delete.',
  parse: { leaves: () => false },
}
