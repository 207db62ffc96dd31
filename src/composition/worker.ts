import { createGateLimiter } from '../adapters/gate-object'
import { createR2ImageStore, withoutImageStore } from '../adapters/r2/image-store'
import type { Announce, SqlConnection } from '../adapters/sql/core/connection'
import { createSqlEntryStore } from '../adapters/sql/stores/entries/entry-store'
import { createSqlHistory } from '../adapters/sql/stores/history/history'
import { createSqlReceipts } from '../adapters/sql/stores/history/receipts'
import { createSqlAuditLog } from '../adapters/sql/stores/identity/audit-log'
import { createSqlIdentityStore } from '../adapters/sql/stores/identity/identity-store'
import { createSqlOutbox } from '../adapters/sql/stores/keeping/outbox'
import { createSqlRetention } from '../adapters/sql/stores/keeping/retention'
import { createSqlScheduleJournal } from '../adapters/sql/stores/keeping/schedule-journal'
import { createSqlSettings } from '../adapters/sql/stores/keeping/settings'
import { createSqlCurrentMemories } from '../adapters/sql/stores/memories/current'
import { createSqlMemories } from '../adapters/sql/stores/memories/memories'
import { createSqlSightings } from '../adapters/sql/stores/memories/sightings'
import { createSqlIndexMaintenance } from '../adapters/sql/stores/search/index-maintenance'
import { createSqlVectorRows } from '../adapters/sql/stores/search/vector-rows'
import { createSqlEntryTexts } from '../adapters/sql/stores/texts/entry-texts'
import { createSqlLongTexts } from '../adapters/sql/stores/texts/long-texts'
import { createUnfinishedDeletes } from '../adapters/sql/tables/changes/unfinished-deletes'
import { indexedFieldNames } from '../adapters/sqlite/migrations'
import type { Config } from '../config'
import { modelKey } from '../domain/meaning/vector'
import { createRestingPace } from '../domain/pace'
import { EVERYTHING } from '../domain/search/filter'
import type { Log } from '../http/log'
import type { Clock } from '../ports/clock'
import type { Ids } from '../ports/ids'
import type { VectorIndex } from '../ports/vector-index'
import { captureSteps } from '../services/capture/capture-steps'
import { createBackgroundGeneration } from '../services/keeping/background-generation'
import { createCatchUp } from '../services/keeping/catch-up'
import { createLeftWork } from '../services/keeping/left-work'
import { createOutboxWork } from '../services/keeping/outbox-work'
import { createSchedule } from '../services/keeping/schedule'
import { scheduleSteps } from '../services/keeping/steps'
import { createSyncVectors } from '../services/keeping/sync-vectors'
import type { FindCandidates } from '../services/pack/find-candidates'
import { createAdministration } from '../services/people/administration'
import { createIdentity } from '../services/people/identity'
import { createReadHistory } from '../services/searching/history/read-history'
import { createGetCurrent } from '../services/searching/memories/current'
import { createOrient } from '../services/searching/memories/orient'
import { createRankMemories } from '../services/searching/memories/rank-memories'
import { createRecall } from '../services/searching/memories/recall'
import { createRecallWords } from '../services/searching/memories/recall-words'
import { createSearchSemantic } from '../services/searching/ranked/search-semantic'
import { createReadTexts } from '../services/searching/texts/read-texts'
import type { Services } from '../services/services'
import { backupStep } from '../services/transfer/backups'
import { createGenerate } from '../services/writing/entries/generate'
import { createRestoreEntries } from '../services/writing/entries/restore-entries'
import { createStoreEntries } from '../services/writing/entries/store-entries'
import { createUpdateEntries } from '../services/writing/entries/update-entries'
import { createReportEvent } from '../services/writing/events/report-event'
import { createSimilarMemories } from '../services/writing/events/similar-memories'
import { createMemoryService } from '../services/writing/memories/memories'
import { createSummarize } from '../services/writing/memories/summarize'
import type { Bindings } from './bindings'
import { composeCapture } from './capture'
import { composeCode } from './code'
import { composeDashboard } from './dashboard'
import { composeFeed } from './feed'
import { composeFinishing } from './finishing'
import { analyzerFor, catchUpState, embeddingTurn, writesOf } from './isolate'
import { chooseLevels } from './levels'
import { chooseModels, confirmed } from './models'
import { composePacks } from './packs'
import { composeSearches } from './searches'
import { chooseIndex, chooseStorage, vectorHealth } from './storage'
import { timedIndex } from './timed'
import { composeTransfer } from './transfer'

export interface Surroundings {
  readonly log: Log
  readonly waitUntil: (work: Promise<unknown>) => void
  readonly clock?: Clock
  readonly ids?: Ids
  /** In the place of the configured index, for tests. */
  readonly index?: VectorIndex
  /** What stands before the database, for tests. */
  readonly through?: <Connection extends SqlConnection>(connection: Connection) => Connection
  /** What stands before the candidates of packs, for benches that choose from the same ones again. */
  readonly watching?: (find: FindCandidates) => FindCandidates
}

const systemClock: Clock = { now: () => Date.now() }
const randomIds: Ids = { next: () => crypto.randomUUID().replaceAll('-', '') }
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** One for all requests of the isolate, since they share its time. */
const pace = createRestingPace(sleep)
/** The one door between the house and its adapters: bindings and configuration to services. */
export function composeServices(bindings: Bindings, config: Config, surroundings: Surroundings): Services {
  const { log, waitUntil, clock = systemClock, ids = randomIds, through = (connection) => connection } = surroundings
  const now = () => clock.now()
  const analyzer = analyzerFor(config.fts.language)
  const {
    embedder,
    summarizer,
    reranker,
    health: models,
  } = chooseModels(config, { analyzer, ai: bindings.AI, pace, log })
  const announce: Announce = (org, sights) => afterwards(bell.tell(org, sights))
  const storage = chooseStorage(bindings, config, { analyzer, clock, log, pace })
  const { storing, close } = storage
  const leaves = createLeftWork(writesOf(bindings))
  const connection = { ...through(storage.connection), announce, leave: leaves.note }
  const indexedFields = indexedFieldNames(config.indexedFields)
  const afterwards = (work: Promise<unknown>) =>
    waitUntil(work.catch((error: unknown) => log('WARNING', 'afterwards_failed', { message: String(error) })))
  const settings = createSqlSettings(connection)
  const warn = (event: string, fields: Record<string, unknown>) => log('WARNING', event, fields)
  const { bell, changes } = composeFeed(bindings, config, {
    ...{ connection, settings, clock, sleep, pace },
    onFailure: (error) => warn('feed_bell_failed', { message: String(error) }),
  })
  const stored = createSqlEntryStore(connection, analyzer, clock, indexedFields, pace, config.quotas, config.history)
  const entries = storing(stored, afterwards)
  const texts = createSqlEntryTexts(connection, clock, indexedFields)
  const rows = createSqlVectorRows(connection, clock, indexedFields)
  const fullTextIndex = createSqlIndexMaintenance(connection, analyzer, pace)
  const images = bindings.IMAGES === undefined ? withoutImageStore : createR2ImageStore(bindings.IMAGES)
  const index = surroundings.index ?? timedIndex(chooseIndex(bindings, config, { connection, settings, clock }), log)
  const identityStore = createSqlIdentityStore(connection, clock)
  const sync = createSyncVectors({ index, rows, pace })
  const making = {
    embedder,
    summarizer,
    chunking: config.chunking,
    onEmbeddingFailure: config.embedding.onFailure,
    minContentLength: config.summary?.minContentLength ?? 0,
    pace,
  }
  const generate = createGenerate(making)
  // Summaries of what comes back are kept with it.
  const vectorsAlone = createGenerate({ ...making, summarizer: null })
  const history = createSqlHistory(connection, analyzer, clock, pace, config.quotas, config.history)
  const generation = createBackgroundGeneration({ generate, summarizer, rows, summaries: entries, now })
  const outbox = createSqlOutbox(connection, clock)
  const longTexts = createSqlLongTexts(connection)
  const work = createOutboxWork({
    outbox,
    images,
    index: fullTextIndex,
    deletes: createUnfinishedDeletes(connection, pace),
    longTexts,
    generation,
    syncOrg: async (org, model) => {
      // Vectors of a model that is no longer configured are looked at by nobody.
      if (embedder !== null && model === modelKey(embedder))
        await confirmed(sync({ org, model, dimensions: embedder.dimensions }))
    },
    turn: embeddingTurn(bindings, now),
    log: warn,
  })
  const embedsHere = config.embedding.provider === 'local'
  const retention = createSqlRetention(connection, clock, config.history, ids)
  const onEmbeddingFailure = config.embedding.onFailure
  const levels = chooseLevels(config, bindings, embedder, settings)
  const code = composeCode({
    ...{ connection, embedder, analyzer, levels, clock, onEmbeddingFailure, pace },
    quotas: config.quotas,
  })
  const schedule = createSchedule({
    steps: [
      ...captureSteps(() => capture.sessions),
      backupStep(() => transfer.backups),
      ...scheduleSteps({
        retention,
        work,
        outbox,
        images,
        index: fullTextIndex,
        generation,
        embedCode: code.embedPending,
        embedsHere,
        clock,
        changesDays: config.changesDays,
        auditDays: config.auditDays,
      }),
    ],
    journal: createSqlScheduleJournal(connection),
    clock,
    log: warn,
    pace,
  })
  const catchUp = createCatchUp(schedule, catchUpState(bindings))
  const { finishing, fullText } = composeFinishing(bindings, {
    ...{ connection, analyzer, clock, pace, fullText: storage.fullText, embedsHere },
    generation: embedder === null ? null : generation,
  })
  const searchSemantic =
    embedder === null ? null : createSearchSemantic({ embedder, index, rows, sync, now, pace, finishing })
  const writing = { entries, images, outbox, limits: { ...config.imageLimits, indexed: indexedFields }, generate, pace }
  const moving = { ...writing, connection, settings, embedder, analyzer, clock, ids }
  const transfer = composeTransfer(config, bindings, { ...moving, generate: embedsHere ? vectorsAlone : null })
  const storeEntries = createStoreEntries(writing)
  const memoryRows = createSqlMemories(connection, clock, pace)
  const recallWords = createRecallWords({ fullText, analyzer, pace })
  const legs = { words: config.fts.enabled ? recallWords : null, semantic: searchSemantic, levels, finishing }
  const packs = composePacks({
    ...{
      connection,
      clock,
      analyzer,
      pace,
      entries,
      storeEntries,
      fullText,
      embedder,
      index,
      searchSemantic,
      finishing,
    },
    watching: surroundings.watching,
    words: config.fts.enabled,
  })
  const memories = createMemoryService({
    ...{ memories: memoryRows, entries, storeEntries, generate },
    isEmbedded: async (scope, id) =>
      embedder === null || (await rows.ofEntries(scope, modelKey(embedder), EVERYTHING, [id], 1, null)).length > 0,
  })
  const recall = createRecall({ rank: createRankMemories(legs), memories: memoryRows, analyzer })
  const { captureDays } = config
  // No model is asked for what nobody may ever keep: it is found by its words.
  const unmade = { ...writing, generate: createGenerate({ ...making, embedder: null, summarizer: null }) }
  const restoring = { history, generate: vectorsAlone, now, redact: config.redact, pace }
  const capture = composeCapture({
    ...{ connection, clock, ids, captureDays, entries, unmade, writing, restoring, recall },
    ...{ remember: packs.remember, quotas: config.quotas, pace, log: warn },
  })
  const administration = createAdministration({
    store: identityStore,
    audit: createSqlAuditLog(connection, clock),
    clock,
  })
  return {
    pace,
    storeEntries,
    packs,
    memories,
    reportEvent: createReportEvent({
      ...{ memories, code, clock },
      similarMemories: createSimilarMemories({ fullText, entries, analyzer, pace }),
    }),
    orient: createOrient({ sightings: createSqlSightings(connection, clock), clock }),
    getCurrent: createGetCurrent({
      current: createSqlCurrentMemories(connection, clock, index.nearby !== null),
      ...{ memories: memoryRows, clock, ...legs },
      afterwards: (work) => afterwards(work()),
    }),
    recall,
    capture,
    recallWords,
    summarize: createSummarize({ memories: memoryRows, storeEntries, clock }),
    updateEntries: createUpdateEntries(writing),
    ...composeSearches({
      ...{ connection, clock, analyzer, pace, entries, texts, fullText, searchSemantic, reranker },
      overfetch: config.hybrid.overfetch,
      unfinished: (goesBy) => [...catchUp.warnings(goesBy), ...finishing.warnings(goesBy)],
    }),
    readTexts: createReadTexts({ texts, entries, pace }),
    ...composeDashboard(bindings, config, { connection, settings, clock, pace }),
    receipts: createSqlReceipts(connection, clock, config.history),
    history,
    readHistory: createReadHistory({ history, pace }),
    restoreEntries: createRestoreEntries(restoring),
    images,
    fullText: { ...fullText, isCurrent: () => fullTextIndex.isCurrent() },
    vectorCounts: embedder === null ? null : (scope) => rows.counts(scope, modelKey(embedder)),
    generation: embedder === null ? null : generation,
    code,
    maintenance: { work, workLeft: () => (leaves.isDue() ? work() : Promise.resolve()) },
    schedule,
    catchUp,
    health: { database: connection.health, objects: images.health, vectors: vectorHealth(index, embedder), models },
    identity: createIdentity({ store: identityStore, adminToken: config.adminToken, clock, afterwards }),
    administration: {
      ...administration,
      // Streams of a key end with it: those that wait are woken to find that out.
      async revokeKey(...given) {
        const outcome = await administration.revokeKey(...given)
        afterwards(bell.tell(outcome.key.org, null))
        return outcome
      },
    },
    changes,
    transfer,
    limiter: createGateLimiter({
      gates: bindings.GATES,
      rateLimit: bindings.RATE_LIMITER ?? null,
      limits: config.limits,
      onFailure: (error) => log('WARNING', 'limiter_failed', { message: String(error) }),
    }),
    afterwards,
    now,
    ids,
    close,
  }
}
