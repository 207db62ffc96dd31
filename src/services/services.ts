import type { Scope } from '../domain/identity/scope'
import type { SessionSeal } from '../domain/identity/session'
import type { Millis } from '../domain/time'
import type { Directory, EndedSessions, StoreOverview } from '../ports/directory'
import type { EntryStore } from '../ports/entry-store'
import type { FullText } from '../ports/full-text'
import type { GrantLocks } from '../ports/grant-locks'
import type { History, Receipts } from '../ports/history'
import type { Ids } from '../ports/ids'
import type { ImageStore } from '../ports/image-store'
import type { Limiter } from '../ports/limiter'
import type { DatabaseHealth, ModelHealth, ObjectStoreHealth } from '../ports/models'
import type { IndexMaintenance } from '../ports/retention'
import type { VectorCounts } from '../ports/vector-rows'
import type { Capture } from './capture/capture'
import type { FindEarlier } from './currency/find-earlier'
import type { BackgroundGeneration } from './maintenance/background-generation'
import type { OutboxWork } from './maintenance/outbox-work'
import type { Schedule } from './maintenance/schedule'
import type { CatchUp } from './maintenance/sync-vectors'
import type { CompilePack, ContextOf } from './pack/compile-pack'
import type { Remember } from './pack/remember'
import type { Administration } from './people/administration'
import type { Costs } from './people/cost'
import type { Departure } from './people/departure'
import type { Identity } from './people/identity'
import type { ResolveNames } from './people/project-names'
import type { Projects } from './people/projects'
import type { SignIn } from './people/sign-in'
import type { Usage } from './people/usage'
import type { SearchCode } from './searching/code/search-code'
import type { Changes } from './searching/history/changes'
import type { ReadHistory } from './searching/history/read-history'
import type { GetCurrent } from './searching/memories/current'
import type { Orient } from './searching/memories/orient'
import type { Recall } from './searching/memories/recall'
import type { RankedSearches } from './searching/ranked/ranked-search'
import type { GrepTexts } from './searching/texts/grep-texts'
import type { ReadTexts } from './searching/texts/read-texts'
import type { StalePairs } from './stale/stale-pairs'
import type { SuggestModel } from './suggest-model'
import type { Transfer } from './transfer/transfer'
import type { ExplainMiss } from './why/explain-miss'
import type { IndexCode } from './writing/code/index-code'
import type { DeleteEntries } from './writing/entries/delete-entries'
import type { RestoreEntries } from './writing/entries/restore-entries'
import type { StoreEntries } from './writing/entries/store-entries'
import type { UpdateEntries } from './writing/entries/update-entries'
import type { ReportEvent } from './writing/events/report-event'
import type { MemoryService } from './writing/memories/memories'
import type { Summarize } from './writing/memories/summarize'

/** All services, ready for one request. Tools and routes use nothing else. */
export interface Services {
  /** Stores entries that were read piece by piece. */
  readonly storeEntries: StoreEntries
  readonly updateEntries: UpdateEntries
  readonly deleteEntries: DeleteEntries
  readonly rankedSearches: RankedSearches
  readonly grepTexts: GrepTexts
  readonly readTexts: ReadTexts
  /** Returns the coverage of the configured model; null if semantic search is switched off. */
  readonly vectorCounts: ((scope: Scope) => Promise<VectorCounts>) | null
  /** Maximum vectors of an organization that semantic search compares; Infinity for all. */
  readonly vectorCapacity: number
  /** Vectors of the organization with the most; 0 if all are compared. */
  readonly mostVectors: () => Promise<number>
  readonly generation: BackgroundGeneration | null
  /** Reads of entries that need no service around the port. */
  readonly entries: Pick<
    EntryStore,
    'read' | 'readWithin' | 'page' | 'previews' | 'threads' | 'statistics' | 'imageType'
  >
  readonly receipts: Receipts
  /** Reads earlier states of entries; `restoreEntries` restores them. */
  readonly history: Pick<History, 'asOf'>
  readonly readHistory: ReadHistory
  readonly restoreEntries: RestoreEntries
  /** Names of threads and projects, and their entries. */
  readonly directory: Directory
  /** Overviews for pages of the dashboard. */
  readonly overview: StoreOverview
  /** Signs and opens sessions of the dashboard. */
  readonly sessions: () => Promise<SessionSeal>
  readonly endedSessions: EndedSessions
  readonly images: ImageStore
  readonly fullText: Pick<FullText, 'engine' | 'language' | 'stemming'> & Pick<IndexMaintenance, 'isCurrent'>
  /** `work` processes queued work; `workLeft` does so after the answer of a request that has written, and nothing for others. */
  readonly maintenance: { readonly work: OutboxWork; readonly workLeft: () => Promise<void> }
  readonly schedule: Schedule
  readonly catchUp: CatchUp
  readonly suggestModel: SuggestModel
  /** Entries as memories in layers. */
  readonly memories: MemoryService
  /** Returns the current time and the memories since the last visit. */
  readonly orient: Orient
  readonly getCurrent: GetCurrent
  readonly recall: Recall
  /** Stores events that coding agents report. */
  readonly reportEvent: ReportEvent
  readonly summarize: Summarize
  /** Finds earlier memories that a new one may replace. */
  readonly earlierOf: FindEarlier['ofDraft']
  /** Pairs of memories of which the earlier one may be outdated. */
  readonly stalePairs: StalePairs
  /** Compiles context packs and stores memories for them. */
  readonly packs: {
    readonly context: ContextOf
    /** Compiles a pack with its text and the omitted entries. */
    readonly explained: CompilePack
    readonly remember: Remember
  }
  /** Explains why a call did not return a memory. */
  readonly explainMiss: ExplainMiss
  /** Indexes and searches source code of projects. */
  readonly code: IndexCode & { readonly search: SearchCode }
  /** Receives events of hooks and reviews captured sessions. */
  readonly capture: Capture
  /** Exports and imports organizations. */
  readonly transfer: Transfer
  /** The change feed. */
  readonly changes: Changes
  readonly identity: Identity
  readonly administration: Administration
  /** Lets a person leave, and returns what is stored of a person. */
  readonly departure: Departure
  /** How much each key is used. */
  readonly usage: Usage
  readonly costs: Costs
  /** Signs people in by identity providers. */
  readonly signIn: SignIn
  /** The projects of an organization, with their names. */
  readonly projects: Projects
  /** Resolves project names of a call. */
  readonly names: ResolveNames
  /** Null for no limits. */
  readonly limiter: Limiter | null
  /** Locks token requests of one OAuth grant. */
  readonly grantTurns: GrantLocks
  readonly health: {
    readonly database: DatabaseHealth
    readonly objects: ObjectStoreHealth
    readonly vectors: ObjectStoreHealth | null
    /** Health of remote model providers, by their purpose. */
    readonly models: Readonly<Record<string, ModelHealth>>
  }
  /** Runs work after the response is sent. */
  readonly afterwards: (work: Promise<unknown>) => void
  readonly now: () => Millis
  readonly ids: Ids
  /** Releases resources of the request; work after the response may still use everything. */
  readonly close: () => Promise<void>
}
