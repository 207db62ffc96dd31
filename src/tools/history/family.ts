import type { Family } from '../family'
import { threads } from '../threads/family'

/** History: listing and undoing changes (history contract). Errors have the shape of the threads family. */
export const history: Family = {
  ...threads,
  name: 'history',
  tokens: 700,
  instructions:
    'Changes in the shared memory of your team. Call list_changes for what others have stored, updated and deleted ' +
    'since you last checked; get_context_history shows the versions of an entry, restore_context undoes a change or a delete.',
  parse: { leaves: () => false },
}
