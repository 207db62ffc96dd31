import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlOutbox } from '../adapters/sql/stores/maintenance/outbox'
import { createSqlScheduleJournal } from '../adapters/sql/stores/maintenance/schedule-journal'
import { createSqlIndexMaintenance } from '../adapters/sql/stores/search/index-maintenance'
import { createSqlPendingIndex } from '../adapters/sql/stores/search/pending-index'
import { createSqlLongTexts } from '../adapters/sql/stores/texts/staged-texts'
import { createUnfinishedDeletes } from '../adapters/sql/tables/changes/pending-deletion'
import type { Config } from '../config'
import { modelKey } from '../domain/meaning/vector'
import type { Analyzer } from '../domain/search/analysis'
import type { Clock } from '../ports/clock'
import type { FullText } from '../ports/full-text'
import type { Ids } from '../ports/ids'
import type { ImageStore } from '../ports/image-store'
import type { Embedder } from '../ports/models'
import type { VectorRows } from '../ports/vector-rows'
import type { BackgroundGeneration } from '../services/maintenance/background-generation'
import { createOutboxWork } from '../services/maintenance/outbox-work'
import { createFinishIndex, type FinishIndex, searchUpToDate } from '../services/maintenance/pending-index'
import { createSchedule, type Step } from '../services/maintenance/schedule'
import { createAfterWrite, scheduleSteps } from '../services/maintenance/steps'
import { createCatchUp, type SyncVectors } from '../services/maintenance/sync-vectors'
import { type Bindings, catchUpState, embeddingTurn, pendingState } from './isolate'
import { confirmed } from './models'
import { methodsOnDemand, modules } from './on-demand'

/** Wires background work: after answers, and by the schedule. */
export function composeMaintenance(
  bindings: Bindings,
  config: Config,
  given: {
    readonly connection: SqlConnection
    readonly analyzer: Analyzer
    readonly clock: Clock
    readonly ids: Ids
    readonly images: ImageStore
    readonly embedder: Embedder | null
    readonly rows: Pick<VectorRows, 'waiting'>
    readonly sync: SyncVectors
    readonly generation: BackgroundGeneration
    readonly embedCode: Parameters<typeof scheduleSteps>[0]['embedCode']
    /** Steps of other features that run first. */
    readonly before: readonly Step[]
    /** Steps that wait for a model and run last. */
    readonly behind: readonly Step[]
    readonly log: (event: string, fields: Record<string, unknown>) => void
  },
) {
  const { connection, analyzer, clock, ids, images, embedder, rows, sync, generation, embedCode, before, behind, log } =
    given
  const outbox = createSqlOutbox(connection, clock)
  const index = createSqlIndexMaintenance(connection, analyzer)
  const spaceOf = embedder && ((org: string) => ({ org, model: modelKey(embedder), dimensions: embedder.dimensions }))
  const work = createOutboxWork({
    ...{ outbox, images, index, generation, log },
    deletes: createUnfinishedDeletes(connection),
    longTexts: createSqlLongTexts(connection),
    syncOrg: async (org, model) => {
      // Vectors of a model that is no longer configured are not used.
      const space = spaceOf?.(org)
      if (space?.model === model) await confirmed(sync(space))
    },
    turn: embeddingTurn(bindings, () => clock.now()),
  })
  const schedule = createSchedule({
    steps: [
      ...before,
      ...scheduleSteps({
        retention: methodsOnDemand(modules.retention, ({ createSqlRetention }) =>
          createSqlRetention(connection, clock, config.history, ids),
        ),
        ...{ work, outbox, images, index, generation, embedCode, clock },
        embedsHere: config.embedding.provider === 'local',
        embedsBehind: config.embedding.provider === 'builtin',
        changesDays: config.changesDays,
        auditDays: config.auditDays,
      }),
      ...behind,
    ],
    journal: createSqlScheduleJournal(connection),
    ...{ clock, log },
  })
  const model = embedder && modelKey(embedder)
  const catchUp = createCatchUp(
    schedule,
    catchUpState(bindings, model),
    config.embedding.provider === 'builtin' && model !== null ? (scope) => rows.waiting(scope, model) : null,
  )
  const left = createAfterWrite({ work, outbox, sync, spaceOf })
  return { outbox, work, left, schedule, catchUp, index }
}

/** Maximum bytes of texts without vectors that a search embeds itself: in this process, and with a remote model. */
const VECTORS = { here: 4_000_000, elsewhere: 1_000_000 }

/** Wires searches so that they include committed entries without index content. */
export function composeFinishing(
  bindings: Bindings,
  given: {
    readonly connection: SqlConnection
    readonly analyzer: Analyzer
    readonly clock: Clock
    readonly fullText: FullText
    /** Null without semantic search. */
    readonly generation: BackgroundGeneration | null
    /** Whether vectors are created here, without a remote service. */
    readonly embedsHere: boolean
  },
): { readonly finishing: FinishIndex; readonly fullText: FullText } {
  const { connection, analyzer, clock, fullText, generation, embedsHere } = given
  const finishing = createFinishIndex({
    pending: createSqlPendingIndex(connection, analyzer, clock),
    generation,
    vectorBytes: embedsHere ? VECTORS.here : VECTORS.elsewhere,
    state: pendingState(bindings, clock.now()),
    now: () => clock.now(),
  })
  const goesBy = embedsHere ? (['words', 'vectors'] as const) : (['words'] as const)
  return { finishing, fullText: searchUpToDate(fullText, finishing, goesBy) }
}
