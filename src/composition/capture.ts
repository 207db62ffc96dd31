import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlCaptureStore } from '../adapters/sql/stores/capture/capture-store'
import type { Quotas } from '../domain/quota'
import type { Analyzer } from '../domain/search/analysis'
import { hookClient } from '../integrations/hooks/hook-clients'
import type { Clock } from '../ports/clock'
import type { EntryStore } from '../ports/entry-store'
import type { Ids } from '../ports/ids'
import type { ProjectDirectory } from '../ports/project-directory'
import type { Capture } from '../services/capture/capture'
import { createEraseCaptured } from '../services/capture/erase-captured'
import { createFinishSessions } from '../services/capture/finish-sessions'
import { createOwnSessions } from '../services/capture/own-sessions'
import { createRecallForHooks } from '../services/capture/recall-for-hooks'
import { createReceiveEvents } from '../services/capture/receive-events'
import { createReviewCaptured } from '../services/capture/review-captured'
import { createWriteSession } from '../services/capture/write-session'
import type { Remember } from '../services/pack/remember'
import type { ResolveNames } from '../services/people/project-names'
import type { Recall } from '../services/searching/memories/recall'
import type { RankedSearches } from '../services/searching/ranked/ranked-search'
import type { DeleteEntries } from '../services/writing/entries/delete-entries'
import { createRestoreEntries } from '../services/writing/entries/restore-entries'
import { createStoreEntries, type WriteDependencies } from '../services/writing/entries/store-entries'
import { createUpdateEntries } from '../services/writing/entries/update-entries'

/** The part of worker.ts that captures sessions. */
export function composeCapture(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly ids: Ids
  readonly captureDays: number
  readonly quotas: Quotas
  readonly analyzer: Analyzer
  readonly entries: EntryStore
  readonly deleteEntries: DeleteEntries
  /** Without models. */
  readonly unmade: WriteDependencies
  /** With models, for what somebody keeps. */
  readonly writing: WriteDependencies
  readonly restoring: Parameters<typeof createRestoreEntries>[0]
  readonly remember: Remember
  readonly recall: Pick<Recall, 'page'>
  /** Pages of entries, with captured ones where a filter asks for them. */
  readonly pages: Pick<EntryStore, 'page'>
  /** Null when full text is switched off. */
  readonly searches: Pick<RankedSearches, 'byWords'> | null
  readonly naming: { readonly directory: ProjectDirectory; readonly names: ResolveNames }
  readonly log: (event: string, fields: Record<string, unknown>) => void
  /** Whether hooks are given approved entries alone (PACK_TRUST). */
  readonly isApproved: boolean
}): Capture {
  const { connection, clock, ids, captureDays, entries, deleteEntries, unmade, writing, recall, log } = given
  const store = createSqlCaptureStore(connection, clock, { quotas: given.quotas })
  const writeSession = createWriteSession({
    ...{ store, entries, captureDays, clock, ids },
    storeEntries: createStoreEntries(unmade),
    updateEntries: createUpdateEntries(unmade),
    titleOf: (client) => hookClient(client)?.title ?? client,
  })
  const own = createOwnSessions({
    ...{ searches: given.searches, entries: given.pages, analyzer: given.analyzer },
  })
  const recallForHooks = createRecallForHooks({ store, recall, own, isApproved: given.isApproved })
  return {
    receive: createReceiveEvents({
      ...{ store, writeSession, captureDays, clock, names: given.naming.names },
      attach: (by, pending) => given.naming.directory.attach({ ...by, action: 'hooks', tool: null }, pending),
      recall: recallForHooks,
    }),
    standing: recallForHooks.standing,
    own,
    erase: createEraseCaptured({ store, deleteEntries }),
    review: createReviewCaptured({
      ...{ store, entries, deleteEntries, updateEntries: createUpdateEntries(writing), remember: given.remember },
      restoreEntries: createRestoreEntries(given.restoring),
      isApproved: given.isApproved,
    }),
    sessions: createFinishSessions({ store, writeSession, captureDays, clock, log }),
  }
}
