import { NO_HISTORY } from '../../src/domain/history/terms'
import type { EntryStore } from '../../src/ports/entry-store'
import { createDeleteEntries } from '../../src/services/writing/entries/delete-entries'

/** The service that deletes, over a store; for tests that do not ask until when it can be taken back. */
export const deleting = (entries: EntryStore) => createDeleteEntries({ entries, terms: NO_HISTORY, now: () => 0 })
