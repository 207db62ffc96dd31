import { createR2ImageStore, withoutImageStore } from '../adapters/r2/image-store'
import { createGateLimiter } from '../adapters/rate-limit-object'
import { createGrantLocks } from '../adapters/rate-limit-object/grant-locks'
import type { Announce, SqlConnection } from '../adapters/sql/core/connection'
import { createSqlEntryStates } from '../adapters/sql/stores/entries/entry-states'
import { createSqlEntryStore } from '../adapters/sql/stores/entries/entry-store'
import { createSqlReceipts } from '../adapters/sql/stores/history/receipts'
import { createSqlIdentityStore } from '../adapters/sql/stores/identity/identity-store'
import { createSqlUsageStore } from '../adapters/sql/stores/identity/usage-store'
import { createSqlModelCalls } from '../adapters/sql/stores/maintenance/model-calls'
import { createSqlNotices } from '../adapters/sql/stores/maintenance/notices'
import { createSqlOutbox } from '../adapters/sql/stores/maintenance/outbox'
import { createSqlSettings } from '../adapters/sql/stores/maintenance/settings'
import { createSqlVectorRows } from '../adapters/sql/stores/search/vector-rows'
import { indexedFieldTypes } from '../adapters/sqlite/migrations'
import { createWebhook } from '../adapters/webhook/webhook'
import type { Config } from '../config'
import { leftOutWarning } from '../domain/capacity'
import { modelKey } from '../domain/meaning/vector'
import { perObject } from '../domain/per-object'
import type { Millis } from '../domain/time'
import type { Log } from '../http/log'
import type { Clock } from '../ports/clock'
import type { EntryStore } from '../ports/entry-store'
import type { Ids } from '../ports/ids'
import type { VectorIndex } from '../ports/vector-index'
import { captureSteps } from '../services/capture/capture'
import { proposalStep } from '../services/capture/propose-memories'
import { createFindEarlier } from '../services/currency/find-earlier'
import { createBackgroundGeneration } from '../services/maintenance/background-generation'
import { noticeStep } from '../services/maintenance/notice-step'
import { createSyncVectors } from '../services/maintenance/sync-vectors'
import { keyExpiryStep } from '../services/people/key-expiry-step'
import { usageStep } from '../services/people/usage'
import { createReadHistory } from '../services/searching/history/read-history'
import { createSearchSemantic } from '../services/searching/ranked/search-semantic'
import { createReadTexts } from '../services/searching/texts/read-texts'
import type { Services } from '../services/services'
import { createSuggestModel } from '../services/suggest-model'
import { backupStep } from '../services/transfer/backup-step'
import { createDeleteEntries } from '../services/writing/entries/delete-entries'
import { createGenerate } from '../services/writing/entries/generate'
import { createStoreEntries, type WriteDependencies } from '../services/writing/entries/store-entries'
import { createUpdateEntries } from '../services/writing/entries/update-entries'
import {
  chooseLevels,
  composeCurrency,
  composeDashboard,
  composeFeed,
  composeIdentity,
  composeMemories,
  composePacks,
  composeProjectNames,
  composeSearches,
} from './features'
import type { Bindings } from './isolate'
import { analyzerFor, namesCacheOf, timedIndex } from './isolate'
import { composeFinishing, composeMaintenance } from './maintenance'
import { chooseModels, isEnglishOnly } from './models'
import { captureOnDemand, methodsOnDemand, modules, transferOnDemand } from './on-demand'
import { chooseIndex, chooseStorage, vectorHealth } from './storage'

export interface WorkerContext {
  readonly log: Log
  readonly waitUntil: (work: Promise<unknown>) => void
  readonly clock?: Clock
  readonly ids?: Ids
  /** Replaces the configured index in tests. */
  readonly index?: VectorIndex
  /** Wraps the database connection in tests. */
  readonly through?: <Connection extends SqlConnection>(connection: Connection) => Connection
}

const systemClock: Clock = { now: () => Date.now() }
const randomIds: Ids = { next: () => crypto.randomUUID().replaceAll('-', '') }
const sleep = (ms: Millis): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const HOUR_MS = 3_600_000

/** Reports how many entries each call stores or changes, for the usage of its key. */
function countingStored(store: EntryStore, log: Log): EntryStore {
  const report = (entries: number) => log('DEBUG', 'stored', { entries })
  return {
    ...store,
    async save(...args) {
      const saved = await store.save(...args)
      report(saved.length)
      return saved
    },
    async change(...args) {
      const changed = await store.change(...args)
      report(changed.length)
      return changed
    },
    async patch(...args) {
      const patched = await store.patch(...args)
      report(patched === null ? 0 : 1)
      return patched
    },
  }
}
/** Number of vectors of the largest organization; counted once an hour per isolate. */
const countedVectors = perObject((_: Bindings) => ({ at: Number.NEGATIVE_INFINITY, vectors: 0 }))

/** Wires services to adapters, from bindings and configuration. Called once per request. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function composeServices(bindings: Bindings, config: Config, surroundings: WorkerContext): Services {
  const { log, waitUntil, clock = systemClock, ids = randomIds, through = (connection) => connection } = surroundings
  const now = () => clock.now()
  const analyzer = analyzerFor(config.fts.language)
  const {
    embedder,
    summarizer,
    languageModel,
    reranker,
    health: models,
  } = chooseModels(config, { analyzer, ai: bindings.AI, builtin: bindings.BUILTIN_MODEL, log })
  const announce: Announce = (org, sights) => afterwards(bell.publish(org, sights))
  const storage = chooseStorage(bindings, config, { analyzer, clock, log })
  const { storing, close } = storage
  const connection = {
    ...through(storage.connection),
    announce,
    leave: (org: string, isDue: boolean) => left.note(org, isDue),
  }
  const indexedFields = indexedFieldTypes(config.indexedFields)
  const afterwards = (work: Promise<unknown>) =>
    waitUntil(work.catch((error: unknown) => log('WARNING', 'afterwards_failed', { message: String(error) })))
  const settings = createSqlSettings(connection)
  const warn = (event: string, fields: Record<string, unknown>) => log('WARNING', event, fields)
  const { bell, changes } = composeFeed(bindings, config, {
    ...{ connection, settings, clock, sleep },
    onFailure: (error) => warn('feed_bell_failed', { message: String(error) }),
  })
  const stored = createSqlEntryStore(connection, analyzer, clock, indexedFields, config.quotas, config.history)
  const entries = countingStored(storing(stored, afterwards), log)
  const texts = methodsOnDemand(modules.entryTexts, ({ createSqlEntryTexts }) =>
    createSqlEntryTexts(connection, clock, indexedFields),
  )
  const rows = createSqlVectorRows(connection, clock, indexedFields)
  const images = bindings.IMAGES === undefined ? withoutImageStore : createR2ImageStore(bindings.IMAGES)
  const index = surroundings.index ?? timedIndex(chooseIndex(bindings, config, { connection, settings, clock }), log)
  const sync = createSyncVectors({ index, rows, log: warn })
  const generating = {
    embedder,
    summarizer,
    chunking: config.chunking,
    onEmbeddingFailure: config.embedding.onFailure,
    minContentLength: config.summary?.minContentLength ?? 0,
  }
  const generate = createGenerate(generating)
  // Restored entries keep their summaries.
  const generateVectors = createGenerate({ ...generating, summarizer: null })
  const history = methodsOnDemand(modules.history, ({ createSqlHistory }) =>
    createSqlHistory(connection, analyzer, clock, config.quotas, config.history),
  )
  const generation = createBackgroundGeneration({ generate, summarizer, rows, summaries: entries, now })
  const embedsHere = config.embedding.provider === 'local'
  const onEmbeddingFailure = config.embedding.onFailure
  const levels = chooseLevels(config, bindings, embedder, settings)
  const code = methodsOnDemand(modules.code, ({ composeCode }) =>
    composeCode({
      ...{ connection, embedder, analyzer, levels, clock, onEmbeddingFailure },
      quotas: config.quotas,
    }),
  )
  const calls = createSqlModelCalls(connection, clock, config.modelCallsPerDay)
  const currency = composeCurrency(config, {
    ...{ connection, clock, languageModel, log: warn },
    calls,
    findEarlier: { around: (scope, memory) => findEarlier.around(scope, memory) },
  })
  // Proposals have no vectors while they wait for review; full-text search finds them.
  const writingWithoutModels = (): WriteDependencies => withoutModels
  const proposals =
    config.captureProposals && languageModel !== null
      ? [
          proposalStep({
            ...{ model: languageModel, calls, clock, ids, log: warn, memories: currency.pairs.memories },
            outbox: createSqlOutbox(connection, clock),
            storeEntries: (...args) => createStoreEntries(writingWithoutModels())(...args),
            updateEntries: (...args) => createUpdateEntries(writingWithoutModels())(...args),
          }),
        ]
      : []
  const {
    outbox,
    work,
    left,
    schedule,
    catchUp,
    index: fullTextIndex,
  } = composeMaintenance(bindings, config, {
    ...{ connection, analyzer, clock, ids, images, embedder, rows, sync, generation, log: warn },
    embedCode: code.embedPending,
    before: [
      ...captureSteps(() => capture.sessions),
      ...currency.steps,
      // Without a bucket the journal must not record backups.
      ...(bindings.BACKUP_BUCKET === undefined ? [] : [backupStep(() => transfer.backups)]),
      keyExpiryStep({ store: createSqlIdentityStore(connection, clock), clock, log: warn }),
      usageStep(createSqlUsageStore(connection), clock, config.auditDays),
    ],
    behind: [
      ...currency.slowSteps,
      ...proposals,
      ...(config.webhook === null
        ? []
        : [
            noticeStep({
              ...{
                notices: createSqlNotices(connection, config.quotas, clock, bindings.BACKUP_BUCKET !== undefined),
                clock,
              },
              webhook: createWebhook(config.webhook, clock),
            }),
          ]),
    ],
  })
  const vectorCapacity = embedder === null ? Number.POSITIVE_INFINITY : index.capacity(embedder.dimensions)
  const unfinished: Services['catchUp']['warnings'] = async (scope, goesBy) => {
    const isByMeaning = embedder !== null && goesBy.includes('vectors')
    const leftOut = isByMeaning ? leftOutWarning(index.leftOut({ org: scope.org, model: modelKey(embedder) })) : null
    return [...(await catchUp.warnings(scope, goesBy)), ...(leftOut === null ? [] : [leftOut])]
  }
  const { finishing, fullText } = composeFinishing(bindings, {
    ...{ connection, analyzer, clock, fullText: storage.fullText, embedsHere },
    generation: embedder === null ? null : generation,
  })
  const searchSemantic =
    embedder === null ? null : createSearchSemantic({ embedder, index, rows, sync, now, finishing })
  const writing = {
    entries,
    images,
    outbox,
    limits: { ...config.imageLimits, indexed: new Set(indexedFields.keys()) },
    generate,
  }
  const naming = composeProjectNames(connection, clock, namesCacheOf(bindings))
  const transferring = { ...writing, connection, settings, embedder, analyzer, clock, ids }
  const transfer = transferOnDemand(bindings.BACKUP_BUCKET !== undefined, modules.transfer, ({ composeTransfer }) =>
    composeTransfer(config, bindings, {
      ...transferring,
      ...{ names: naming.names, generate: embedsHere ? generateVectors : null },
    }),
  )
  const storeEntries = createStoreEntries(writing)
  const updateEntries = createUpdateEntries(writing)
  const deleteEntries = createDeleteEntries({ entries, terms: config.history, now })
  const isApproved = config.packTrust === 'approved'
  const findEarlier = createFindEarlier({ entries, fullText, analyzer, clock })
  const packs = composePacks({
    ...{ connection, clock, analyzer, entries, storeEntries, fullText, embedder, index, searchSemantic },
    ...{ finishing, levels, unfinished },
    words: config.fts.enabled,
    findEarlier,
    findDisagreements: currency.findDisagreements,
    isApproved,
  })
  const memories = composeMemories({
    ...{ connection, clock, analyzer, entries, deleteEntries, storeEntries, updateEntries, generate },
    ...{ embedder, rows, index },
    ...{ fullText, searchSemantic, levels, finishing, code, afterwards, unfinished },
    words: config.fts.enabled,
  })
  const { captureDays } = config
  // Captured text is not sent to models before it is approved; full-text search finds it.
  const withoutModels = { ...writing, generate: createGenerate({ ...generating, embedder: null, summarizer: null }) }
  const restoring = { history, generate: generateVectors, now, redact: config.redact }
  const searches = composeSearches({
    ...{ connection, clock, analyzer, entries, texts, fullText, searchSemantic, reranker },
    overfetch: config.hybrid.overfetch,
    findDisagreements: currency.findDisagreements,
    levels,
    unfinished: async (scope, goesBy) => [...(await unfinished(scope, goesBy)), ...finishing.warnings(goesBy)],
  })
  const capture = captureOnDemand(modules.capture, ({ composeCapture }) =>
    composeCapture({
      ...{
        connection,
        clock,
        ids,
        analyzer,
        captureDays,
        entries,
        deleteEntries,
        withoutModels,
        writing,
        restoring,
        recall: memories.recall,
        pages: searches.entries,
        searches: config.fts.enabled ? searches.rankedSearches : null,
        naming,
      },
      ...{ remember: packs.remember, quotas: config.quotas, log: warn, isApproved },
      proposes: config.captureProposals && languageModel !== null,
    }),
  )
  const dashboard = composeDashboard(bindings, config, { connection, settings, clock })
  return {
    storeEntries,
    packs,
    earlierOf: findEarlier.ofDraft,
    async explainMiss(...given) {
      const { createExplainMiss } = await import('../services/why/explain-miss')
      const explainMiss = createExplainMiss({
        ...{ entries, history, explained: packs.explained, rankedSearches: searches.rankedSearches, analyzer, clock },
        states: createSqlEntryStates(connection),
        hybrid: {
          ...{ method: config.hybrid.fusion, k: config.hybrid.k },
          legs: { fts: config.fts.enabled, semantic: config.semantic.enabled },
        },
        model: embedder === null ? null : modelKey(embedder),
        missed: catchUp.missed,
        isApproved,
      })
      return explainMiss(...given)
    },
    stalePairs: methodsOnDemand(modules.stalePairs, ({ createStalePairs }) =>
      createStalePairs({
        ...{ pairs: currency.pairs, usage: capture.usage, entries, updateEntries, remember: packs.remember },
      }),
    ),
    ...memories,
    capture,
    updateEntries,
    deleteEntries,
    ...searches,
    readTexts: createReadTexts({ texts, entries }),
    ...dashboard,
    receipts: createSqlReceipts(connection, clock, config.history),
    history,
    readHistory: createReadHistory({ history }),
    async restoreEntries(...asked) {
      const { createRestoreEntries } = await modules.restoreEntries.load()
      return createRestoreEntries(restoring)(...asked)
    },
    images,
    fullText: { ...fullText, isCurrent: () => fullTextIndex.isCurrent() },
    vectorCounts: embedder === null ? null : (scope) => rows.counts(scope, modelKey(embedder)),
    vectorCapacity,
    async mostVectors() {
      if (embedder === null || vectorCapacity === Number.POSITIVE_INFINITY) return 0
      const counted = countedVectors(bindings)
      if (now() - counted.at >= HOUR_MS)
        Object.assign(counted, { at: now(), vectors: await rows.largest(modelKey(embedder)) })
      return counted.vectors
    },
    generation: embedder === null ? null : generation,
    code,
    maintenance: { work, workLeft: left.workOff },
    schedule,
    catchUp,
    suggestModel: createSuggestModel({ isEnglishOnly: isEnglishOnly(config), overview: dashboard.overview }),
    health: { database: connection.health, objects: images.health, vectors: vectorHealth(index, embedder), models },
    ...composeIdentity({
      ...{
        connection,
        clock,
        analyzer,
        ids,
        deleteEntries,
        adminToken: config.adminToken,
        signIn: config.signIn,
        // Only `npm start` sets a token for the schedule.
        host: bindings.SCHEDULE_TOKEN === undefined ? 'cloudflare' : 'machine',
        hasRows: config.storageBackend === 'sqlite',
        afterwards,
        ...naming,
      },
      wake: (org) => bell.publish(org, null),
    }),
    changes,
    transfer,
    limiter: createGateLimiter({
      gates: bindings.GATES,
      rateLimit: bindings.RATE_LIMITER ?? null,
      limits: config.limits,
      onFailure: (error) => log('WARNING', 'limiter_failed', { message: String(error) }),
    }),
    grantTurns: createGrantLocks(bindings.GATES),
    afterwards,
    now,
    ids,
    close,
  }
}
