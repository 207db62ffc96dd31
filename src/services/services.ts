import type { Scope } from '../domain/identity/scope'
import type { SessionSeal } from '../domain/identity/session'
import type { Millis } from '../domain/time'
import type { Directory, EndedSessions, StoreOverview } from '../ports/directory'
import type { EntryStore } from '../ports/entry-store'
import type { FullText } from '../ports/full-text'
import type { GrantLocks } from '../ports/grant-turns'
import type { History, Receipts } from '../ports/history'
import type { Ids } from '../ports/ids'
import type { ImageStore } from '../ports/image-store'
import type { Limiter } from '../ports/limiter'
import type { DatabaseHealth, ModelHealth, ObjectStoreHealth } from '../ports/models'
import type { IndexMaintenance } from '../ports/retention'
import type { VectorCounts } from '../ports/vector-rows'
import type { Capture } from './capture/capture'
import type { FindEarlier } from './currency/find-earlier'
import type { BackgroundGeneration } from './keeping/background-generation'
import type { OutboxWork } from './keeping/outbox-work'
import type { Schedule } from './keeping/schedule'
import type { CatchUp } from './keeping/sync-vectors'
import type { CompilePack, ContextOf } from './pack/compile-pack'
import type { Remember } from './pack/remember'
import type { Administration } from './people/administration'
import type { Identity } from './people/identity'
import type { ResolveNames } from './people/project-names'
import type { Projects } from './people/projects'
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

/** What the product does, ready for one request. Tools and routes see nothing else of the house. */
export interface Services {
  /** Of what is read piece by piece before a service gets it. */
  readonly storeEntries: StoreEntries
  readonly updateEntries: UpdateEntries
  readonly deleteEntries: DeleteEntries
  readonly rankedSearches: RankedSearches
  readonly grepTexts: GrepTexts
  readonly readTexts: ReadTexts
  /** Coverage of the configured model; null when semantic search is switched off. */
  readonly vectorCounts: ((scope: Scope) => Promise<VectorCounts>) | null
  /** Vectors of an organization that a search by meaning compares; Infinity for all. */
  readonly vectorCapacity: number
  /** Vectors of the organization that has the most; 0 where all are compared. */
  readonly mostVectors: () => Promise<number>
  readonly generation: BackgroundGeneration | null
  /** Reads need no story of their own: the port is the service. */
  readonly entries: Pick<
    EntryStore,
    'read' | 'readWithin' | 'page' | 'previews' | 'threads' | 'statistics' | 'imageType'
  >
  readonly receipts: Receipts
  /** What entries were; old states come back through `restoreEntries`. */
  readonly history: Pick<History, 'asOf'>
  readonly readHistory: ReadHistory
  readonly restoreEntries: RestoreEntries
  /** Names of threads and projects, and what stands under them. */
  readonly directory: Directory
  /** What pages for people show beside what tools answer. */
  readonly overview: StoreOverview
  /** Signs and opens sessions of the dashboard. */
  readonly sessions: () => Promise<SessionSeal>
  readonly endedSessions: EndedSessions
  readonly images: ImageStore
  readonly fullText: Pick<FullText, 'engine' | 'language' | 'stemming'> & Pick<IndexMaintenance, 'isCurrent'>
  /** `work` does what is queued; `workLeft` does so behind the answer of a request that has written, and nothing behind others. */
  readonly maintenance: { readonly work: OutboxWork; readonly workLeft: () => Promise<void> }
  readonly schedule: Schedule
  readonly catchUp: CatchUp
  readonly suggestModel: SuggestModel
  /** Entries as memories in layers. */
  readonly memories: MemoryService
  /** Where a caller stands in time, and what it missed. */
  readonly orient: Orient
  readonly getCurrent: GetCurrent
  readonly recall: Recall
  /** Remembers what coding agents report. */
  readonly reportEvent: ReportEvent
  readonly summarize: Summarize
  /** Earlier memories that a new one may replace. */
  readonly earlierOf: FindEarlier['ofDraft']
  /** Pairs of memories of which the earlier one may be outdated. */
  readonly stalePairs: StalePairs
  /** The working set for a goal, and what goes into it. */
  readonly packs: {
    readonly context: ContextOf
    /** The same, with what was left out. */
    readonly explained: CompilePack
    readonly remember: Remember
  }
  /** Explains why a call did not return a memory. */
  readonly explainMiss: ExplainMiss
  /** Source code of projects: filling the index, and searching it. */
  readonly code: IndexCode & { readonly search: SearchCode }
  /** What the hooks of clients send, and what becomes of it. */
  readonly capture: Capture
  /** Export and import. */
  readonly transfer: Transfer
  /** The feed of what changed. */
  readonly changes: Changes
  readonly identity: Identity
  readonly administration: Administration
  /** The projects of an org, with their names. */
  readonly projects: Projects
  /** Which projects the names of a call mean. */
  readonly names: ResolveNames
  /** Null: nobody is limited. */
  readonly limiter: Limiter | null
  /** Token requests of OAuth grants, one after the other. */
  readonly grantTurns: GrantLocks
  readonly health: {
    readonly database: DatabaseHealth
    readonly objects: ObjectStoreHealth
    readonly vectors: ObjectStoreHealth | null
    /** Model providers behind an address, by what they are for. */
    readonly models: Readonly<Record<string, ModelHealth>>
  }
  /** Lets work go on after the response is sent. */
  readonly afterwards: (work: Promise<unknown>) => void
  readonly now: () => Millis
  readonly ids: Ids
  /** Lets go of what a request held; what goes on after the response may still use everything. */
  readonly close: () => Promise<void>
}
