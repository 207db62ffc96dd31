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
import { createFinishSessions } from '../services/capture/finish-sessions'
import { createMemoryUsage } from '../services/capture/memory-usage'
import { createOwnSessions } from '../services/capture/own-sessions'
import { createRecallForHooks } from '../services/capture/recall-for-hooks'
import { createReceiveEvents } from '../services/capture/receive-events'
import { createEraseCaptured, createReviewCaptured } from '../services/capture/review-captured'
import { createWriteSession } from '../services/capture/write-session'
import type { Remember } from '../services/pack/remember'
import type { ResolveNames } from '../services/people/project-names'
import type { Recall } from '../services/searching/memories/recall'
import type { RankedSearches } from '../services/searching/ranked/ranked-search'
import type { DeleteEntries } from '../services/writing/entries/delete-entries'
import { createRestoreEntries } from '../services/writing/entries/restore-entries'
import { createStoreEntries, type WriteDependencies } from '../services/writing/entries/store-entries'
import { createUpdateEntries } from '../services/writing/entries/update-entries'

/** Wires services by feature, for `worker.ts`. First: capture of sessions. */
export function composeCapture(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly ids: Ids
  readonly captureDays: number
  readonly quotas: Quotas
  /** Whether a model proposes memories of sessions. */
  readonly proposes: boolean
  readonly analyzer: Analyzer
  readonly entries: EntryStore
  readonly deleteEntries: DeleteEntries
  /** Dependencies without models. */
  readonly withoutModels: WriteDependencies
  /** Dependencies with models, for approved entries. */
  readonly writing: WriteDependencies
  readonly restoring: Parameters<typeof createRestoreEntries>[0]
  readonly remember: Remember
  readonly recall: Pick<Recall, 'page'>
  /** Pages of entries, including captured ones where a filter asks for them. */
  readonly pages: Pick<EntryStore, 'page'>
  /** Null when full-text search is disabled. */
  readonly searches: Pick<RankedSearches, 'byWords'> | null
  readonly naming: { readonly directory: ProjectDirectory; readonly names: ResolveNames }
  readonly log: (event: string, fields: Record<string, unknown>) => void
  /** Whether hooks only receive approved entries (PACK_TRUST). */
  readonly isApproved: boolean
}): Capture {
  const { connection, clock, ids, captureDays, entries, deleteEntries, withoutModels, writing, recall, log } = given
  const store = createSqlCaptureStore(connection, clock, {
    ...{ quotas: given.quotas, proposes: given.proposes },
  })
  const writeSession = createWriteSession({
    ...{ store, entries, captureDays, clock, ids },
    storeEntries: createStoreEntries(withoutModels),
    updateEntries: createUpdateEntries(withoutModels),
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
    usage: createMemoryUsage({ store, clock }),
    sessions: createFinishSessions({ store, writeSession, captureDays, clock, log }),
  }
}
