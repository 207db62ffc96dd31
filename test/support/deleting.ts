import { NO_HISTORY } from '../../src/domain/history/version'
import type { EntryStore } from '../../src/ports/entry-store'
import { createDeleteEntries } from '../../src/services/writing/entries/delete-entries'

/** The delete service over a store, for tests without a restore period. */
export const deleting = (entries: EntryStore) => createDeleteEntries({ entries, terms: NO_HISTORY, now: () => 0 })
