import { createFeedNotifier } from '../adapters/feed-object/index'
import type { SqlConnection } from '../adapters/sql/core/connection'
import { pagesWithCaptured } from '../adapters/sql/stores/entries/captured-page'
import { createSqlAuditLog } from '../adapters/sql/stores/identity/audit-log'
import { createSqlIdentityStore } from '../adapters/sql/stores/identity/identity-store'
import { createSqlProjectDirectory } from '../adapters/sql/stores/identity/project-directory'
import { createSqlUsageStore } from '../adapters/sql/stores/identity/usage-store'
import { createSqlLastSeen } from '../adapters/sql/stores/memories/last-seen'
import { createSqlMemories } from '../adapters/sql/stores/memories/memories'
import type { Config } from '../config'
import { type CursorSeal, createCursorSeal } from '../domain/history/cursor'
import { createSessionSeal, type SessionSeal } from '../domain/identity/session'
import { modelKey } from '../domain/meaning/vector'
import type { Levels } from '../domain/recall/similarity'
import type { Analyzer } from '../domain/search/analysis'
import { EVERYTHING } from '../domain/search/filter'
import type { Millis } from '../domain/time'
import type { ChangeNotifier } from '../ports/change-notifier'
import type { Clock } from '../ports/clock'
import type { EntryStore } from '../ports/entry-store'
import type { EntryTexts } from '../ports/entry-texts'
import type { FullText } from '../ports/full-text'
import type { Ids } from '../ports/ids'
import type { ModelCalls } from '../ports/model-calls'
import type { Embedder, LanguageModel, Reranker } from '../ports/models'
import type { ProjectDirectory } from '../ports/project-directory'
import type { Settings } from '../ports/settings'
import type { AccessGate, OpenIdProvider } from '../ports/sign-in'
import type { VectorIndex } from '../ports/vector-index'
import type { VectorRows } from '../ports/vector-rows'
import {
  createFindDisagreements,
  type FindDisagreements,
  WITHOUT_DISAGREEMENTS,
} from '../services/currency/disagreements'
import type { FindEarlier } from '../services/currency/find-earlier'
import { judgeStep, pairSteps } from '../services/currency/pair-steps'
import type { FinishIndex } from '../services/maintenance/pending-index'
import type { CatchUp } from '../services/maintenance/sync-vectors'
import type { CompilePack } from '../services/pack/compile-pack'
import { createRemember } from '../services/pack/remember'
import { createAdministration } from '../services/people/administration'
import type { Host } from '../services/people/cost'
import { createIdentity } from '../services/people/identity'
import { createResolveNames, type NamesCache, type ResolveNames } from '../services/people/project-names'
import { createSignIn } from '../services/people/sign-in'
import { createUsage } from '../services/people/usage'
import { type Changes, createChanges } from '../services/searching/history/changes'
import { createLevels } from '../services/searching/memories/levels'
import { createOrient } from '../services/searching/memories/orient'
import { createRankMemories } from '../services/searching/memories/rank-memories'
import { createRecall } from '../services/searching/memories/recall'
import { createRecallWords } from '../services/searching/memories/recall-words'
import { createRankedSearches } from '../services/searching/ranked/ranked-search'
import type { SearchSemantic } from '../services/searching/ranked/search-semantic'
import { createSearchText } from '../services/searching/ranked/search-text'
import { createSuggestWords } from '../services/searching/ranked/suggest-words'
import { createGrepTexts } from '../services/searching/texts/grep-texts'
import type { Services } from '../services/services'
import type { DeleteEntries } from '../services/writing/entries/delete-entries'
import type { Generate } from '../services/writing/entries/generate'
import type { StoreEntries } from '../services/writing/entries/store-entries'
import type { UpdateEntries } from '../services/writing/entries/update-entries'
import type { createReportEvent } from '../services/writing/events/report-event'
import { createMemoryService } from '../services/writing/memories/memories'
import { type Bindings, levelsOf } from './isolate'
import { methodsOnDemand, modules } from './on-demand'
import type { PackParts } from './packs'

/** Wires the detection of memories on one subject. */
export function composeCurrency(
  config: Config,
  given: {
    readonly connection: SqlConnection
    readonly clock: Clock
    /** Null when no background work uses a model. */
    readonly languageModel: LanguageModel | null
    readonly calls: ModelCalls
    readonly findEarlier: Pick<FindEarlier, 'around'>
    readonly log: (event: string, fields: Record<string, unknown>) => void
  },
) {
  const { connection, clock, languageModel: model, calls, findEarlier, log } = given
  const pairs = methodsOnDemand(modules.memoryPairs, ({ createSqlMemoryPairs }) =>
    createSqlMemoryPairs(connection, clock),
  )
  const judges = config.contradictionJudge && model !== null
  return {
    pairs,
    steps: pairSteps({ pairs, findEarlier }),
    /** Steps that wait for a model. */
    slowSteps: judges ? [judgeStep({ pairs, model, calls, clock, log })] : [],
    findDisagreements: judges ? createFindDisagreements({ pairs }) : WITHOUT_DISAGREEMENTS,
  }
}

/** Wires the directory, the overview and the sessions of the dashboard. */

/** Generated by a migration and never changed, so an isolate reads it once. */
const SESSION_SECRET = 'feed_secret'
const sessionSeals = new WeakMap<object, Promise<SessionSeal>>()

/** Signs with a secret of the database and ADMIN_TOKEN, so that changing ADMIN_TOKEN ends all sessions. */
function sessionSealOf({ DB, HYPERDRIVE }: Bindings, { adminToken }: Config, settings: Settings): Promise<SessionSeal> {
  const database = HYPERDRIVE ?? DB ?? settings
  const known = sessionSeals.get(database)
  if (known !== undefined) return known
  const make = async () => {
    const secret = await settings.read(SESSION_SECRET)
    if (secret === null) throw new Error(`the setting ${SESSION_SECRET} is missing`)
    return createSessionSeal(secret, adminToken)
  }
  const seal = make()
  sessionSeals.set(database, seal)
  seal.catch(() => sessionSeals.delete(database))
  return seal
}

export const composeDashboard = (
  bindings: Bindings,
  config: Config,
  given: { connection: SqlConnection; settings: Settings; clock: Clock },
): Pick<Services, 'directory' | 'overview' | 'sessions' | 'endedSessions'> => ({
  directory: methodsOnDemand(modules.directory, ({ createSqlDirectory }) =>
    createSqlDirectory(given.connection, given.clock),
  ),
  overview: methodsOnDemand(modules.storeOverview, ({ createSqlStoreOverview }) =>
    createSqlStoreOverview(given.connection, given.clock),
  ),
  endedSessions: methodsOnDemand(modules.directory, ({ createSqlEndedSessions }) =>
    createSqlEndedSessions(given.connection, given.clock),
  ),
  sessions: () => sessionSealOf(bindings, config, given.settings),
})

/** Wires the change feed. */

/** Seals of cursors by database. The secret in a database never changes, so an isolate reads it once. */
const cursorSeals = new WeakMap<object, Promise<CursorSeal>>()
const sealsByAddress = new Map<string, Promise<CursorSeal>>()
const CURSOR_SECRET = 'feed_secret'

function cursorSealOf({ DB, HYPERDRIVE }: Bindings, config: Config, settings: Settings): Promise<CursorSeal> {
  const make = async () => {
    const secret = await settings.read(CURSOR_SECRET)
    if (secret === null) throw new Error(`the setting ${CURSOR_SECRET} is missing`)
    return createCursorSeal(secret)
  }
  const onPostgres = config.storageBackend === 'postgresql'
  const address = `${HYPERDRIVE?.connectionString}\n${config.postgresqlSchema}`
  const known = onPostgres ? sealsByAddress.get(address) : DB && cursorSeals.get(DB)
  if (known !== undefined) return known
  const seal = make()
  if (onPostgres) sealsByAddress.set(address, seal)
  else if (DB !== undefined) cursorSeals.set(DB, seal)
  seal.catch(() => (onPostgres ? sealsByAddress.delete(address) : DB && cursorSeals.delete(DB)))
  return seal
}

/** Without a Durable Object notifications are not sent, so waiting calls poll. */
const SILENT: ChangeNotifier = {
  publish: async () => {},
  mark: async () => null,
  wait: async () => null,
  admit: async () => true,
  closeStream: async () => {},
}

export function composeFeed(
  bindings: Bindings,
  config: Config,
  given: {
    readonly connection: SqlConnection
    readonly settings: Settings
    readonly clock: Clock
    readonly sleep: (ms: Millis) => Promise<void>
    readonly onFailure: (error: unknown) => void
  },
): { readonly bell: ChangeNotifier; readonly changes: Changes } {
  const { connection, settings, clock, sleep, onFailure } = given
  const bell = bindings.FEEDS === undefined ? SILENT : createFeedNotifier(bindings.FEEDS, onFailure)
  const seal = () => cursorSealOf(bindings, config, settings)
  return {
    bell,
    changes: createChanges({
      ...{
        feed: methodsOnDemand(modules.changeFeed, ({ createSqlChangeFeed }) => createSqlChangeFeed(connection, clock)),
        bell,
        seal,
        clock,
        sleep,
      },
      sightings: createSqlLastSeen(connection, clock),
    }),
  }
}

/** Levels without a model, where cosines do not occur. */
const withoutLevels = async (): Promise<Levels> => ({ nothing: 0, answer: 1 })

/** Reference cosines of the configured model. */
export function chooseLevels(
  config: Config,
  bindings: Bindings,
  embedder: Embedder | null,
  settings: Settings,
): () => Promise<Levels> {
  if (embedder === null) return withoutLevels
  return createLevels({ embedder, settings, given: config.embedding.levels, remembered: levelsOf(bindings) })
}

/** Wires memories in layers and their recall. */
export function composeMemories(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly analyzer: Analyzer
  readonly entries: EntryStore
  readonly deleteEntries: DeleteEntries
  readonly storeEntries: StoreEntries
  readonly updateEntries: UpdateEntries
  readonly generate: Generate
  readonly embedder: Embedder | null
  readonly rows: VectorRows
  readonly index: VectorIndex
  readonly fullText: FullText
  /** Whether full-text search is enabled. */
  readonly words: boolean
  readonly searchSemantic: SearchSemantic | null
  readonly levels: Parameters<typeof createRankMemories>[0]['levels']
  readonly finishing: FinishIndex
  readonly unfinished: CatchUp['warnings']
  readonly code: Parameters<typeof createReportEvent>[0]['code']
  readonly afterwards: Services['afterwards']
}): Pick<Services, 'memories' | 'recall' | 'getCurrent' | 'orient' | 'reportEvent' | 'summarize'> {
  const { connection, clock, analyzer, entries, deleteEntries, storeEntries, updateEntries } = given
  const { generate, embedder, rows, index, fullText, searchSemantic, levels, finishing, unfinished, code, afterwards } =
    given
  const stored = createSqlMemories(connection, clock)
  const recallWords = createRecallWords({ fullText, analyzer })
  const retrievers = { words: given.words ? recallWords : null, semantic: searchSemantic, levels, finishing }
  const memories = createMemoryService({
    ...{ memories: stored, entries, deleteEntries, storeEntries, updateEntries, generate },
    isEmbedded: async (scope, id) =>
      embedder === null || (await rows.ofEntries(scope, modelKey(embedder), EVERYTHING, [id], 1, null)).length > 0,
  })
  return {
    memories,
    recall: createRecall({
      ...{ rank: createRankMemories({ ...retrievers, unfinished }), memories: stored, analyzer },
      ...(given.words ? { suggestWords: createSuggestWords({ fullText, analyzer }) } : {}),
    }),
    reportEvent: methodsOnDemand(modules.reportEvent, ({ createReportEvent, createSimilarMemories }) =>
      createReportEvent({
        ...{ memories, code, clock },
        similarMemories: createSimilarMemories({ fullText, entries, analyzer }),
      }),
    ),
    orient: createOrient({ sightings: createSqlLastSeen(connection, clock), clock }),
    async getCurrent(...asked) {
      const [{ createGetCurrent }, { createSqlCurrentMemories }] = await Promise.all([
        import('../services/searching/memories/current'),
        import('../adapters/sql/stores/memories/current'),
      ])
      const getCurrent = createGetCurrent({
        current: createSqlCurrentMemories(connection, clock, index.nearby !== null),
        ...{ memories: stored, clock, ...retrievers },
        afterwards: (work) => afterwards(work()),
      })
      return getCurrent(...asked)
    },
    async summarize(...asked) {
      const { createSummarize } = await modules.summarize.load()
      return createSummarize({ memories: stored, storeEntries, clock })(...asked)
    },
  }
}

/** Wires packs. */
export function composePacks(
  given: PackParts & {
    readonly entries: EntryStore
    readonly storeEntries: StoreEntries
    readonly findEarlier: FindEarlier
  },
): Services['packs'] {
  const { connection, clock, analyzer, entries, storeEntries, fullText, findEarlier } = given
  const compiler = methodsOnDemand(modules.packs, ({ composeCompilePack }) => ({ compile: composeCompilePack(given) }))
  const explained: CompilePack = (...asked) => compiler.compile(...asked)
  return {
    context: async (...asked) => (await explained(...asked)).pack,
    explained,
    remember: createRemember({
      storeEntries,
      entries,
      fullText,
      memories: createSqlMemories(connection, clock),
      analyzer,
      findEarlier,
    }),
  }
}

/** Wires the resolution of project names. @param cache cache of the isolate */
export function composeProjectNames(connection: SqlConnection, clock: Clock, cache: NamesCache) {
  const directory = createSqlProjectDirectory(connection, clock)
  return { directory, names: createResolveNames({ directory, cache }) }
}

/** Cached for the life of an isolate, because they hold the public keys of the providers. */
const gates = new Map<string, AccessGate>()
const providers = new Map<string, OpenIdProvider>()

function accessGateOf(settings: NonNullable<Config['signIn']['access']>, clock: Clock): AccessGate {
  const name = JSON.stringify(settings)
  const gate =
    gates.get(name) ?? methodsOnDemand(modules.accessGate, ({ createAccessGate }) => createAccessGate(settings, clock))
  gates.set(name, gate)
  return gate
}

function openIdProviderOf(settings: NonNullable<Config['signIn']['openId']>, clock: Clock): OpenIdProvider {
  const name = JSON.stringify(settings)
  const provider =
    providers.get(name) ??
    methodsOnDemand(modules.openidProvider, ({ createOpenIdProvider }) => createOpenIdProvider(settings, clock))
  providers.set(name, provider)
  return provider
}

/** Wires authentication, and administration of organizations, projects and keys. */
export function composeIdentity(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly directory: ProjectDirectory
  readonly names: ResolveNames
  readonly analyzer: Analyzer
  readonly ids: Ids
  readonly deleteEntries: DeleteEntries
  readonly signIn: Config['signIn']
  readonly adminToken: string | null
  readonly host: Host
  readonly hasRows: boolean
  readonly afterwards: Services['afterwards']
  /** Wakes streams that wait for changes of an organization. */
  readonly wake: (org: string) => Promise<unknown>
}): Pick<Services, 'identity' | 'administration' | 'departure' | 'usage' | 'costs' | 'signIn' | 'projects' | 'names'> {
  const { connection, clock, adminToken, afterwards, wake } = given
  const store = createSqlIdentityStore(connection, clock)
  const administration = createAdministration({
    ...{ store, clock, names: given.names },
    audit: createSqlAuditLog(connection, clock),
  })
  const departure = methodsOnDemand(modules.departure, ({ createDeparture, createSqlPeopleStore }) =>
    createDeparture({
      ...{ administration, store, clock, ids: given.ids, deleteEntries: given.deleteEntries },
      people: createSqlPeopleStore(connection, given.analyzer, clock),
    }),
  )
  const { access, openId } = given.signIn
  const usage = createSqlUsageStore(connection)
  return {
    usage: createUsage({ usage, store, administration, names: given.names, clock }),
    costs: methodsOnDemand(modules.costs, ({ createCosts }) =>
      createCosts({ usage, administration, clock, host: given.host, hasRows: given.hasRows }),
    ),
    signIn: createSignIn({
      access: access && accessGateOf(access, clock),
      openId: openId && openIdProviderOf(openId, clock),
      ...{ store, administration, clock },
    }),
    departure: {
      record: (...asked) => departure.record(...asked),
      reader: (...asked) => departure.reader(...asked),
      // As below.
      async leave(by, org, ...rest) {
        const outcome = await departure.leave(by, org, ...rest)
        afterwards(wake(org))
        return outcome
      },
    },
    projects: methodsOnDemand(modules.projects, ({ createProjects }) => createProjects({ directory: given.directory })),
    names: given.names,
    identity: createIdentity({ store, adminToken, clock, afterwards }),
    administration: {
      ...administration,
      // Streams of a revoked key are woken so that they notice and end.
      async revokeKey(...named) {
        const outcome = await administration.revokeKey(...named)
        afterwards(wake(outcome.key.org))
        return outcome
      },
      async rotateKey(...named) {
        const outcome = await administration.rotateKey(...named)
        afterwards(wake(outcome.key.org))
        return outcome
      },
    },
  }
}

/** Wires searches and lists of the threads family. */
export function composeSearches(given: {
  readonly connection: SqlConnection
  readonly clock: Clock
  readonly analyzer: Analyzer
  readonly entries: EntryStore
  readonly texts: EntryTexts
  readonly fullText: FullText
  readonly searchSemantic: SearchSemantic | null
  readonly reranker: Reranker | null
  readonly overfetch: number
  readonly findDisagreements: FindDisagreements
  readonly levels: () => Promise<Levels>
  readonly unfinished: CatchUp['warnings']
}): Pick<Services, 'rankedSearches' | 'grepTexts' | 'entries'> {
  const { connection, clock, analyzer, entries, texts, fullText, searchSemantic, reranker } = given
  const { overfetch, levels, unfinished } = given
  const searchText = createSearchText({ fullText, analyzer })
  const rankedSearches = createRankedSearches({
    ...{ entries, analyzer, searchText, searchSemantic, reranker, overfetch, levels, unfinished },
    suggestWords: createSuggestWords({ fullText, analyzer }),
    findDisagreements: given.findDisagreements,
  })
  return {
    rankedSearches,
    grepTexts: createGrepTexts({ texts }),
    entries: { ...entries, page: pagesWithCaptured(connection, clock, entries) },
  }
}
