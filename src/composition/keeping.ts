import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlOutbox } from '../adapters/sql/stores/keeping/outbox'
import { createSqlRetention } from '../adapters/sql/stores/keeping/retention'
import { createSqlScheduleJournal } from '../adapters/sql/stores/keeping/schedule-journal'
import { createSqlIndexMaintenance } from '../adapters/sql/stores/search/index-maintenance'
import { createSqlLongTexts } from '../adapters/sql/stores/texts/long-texts'
import { createUnfinishedDeletes } from '../adapters/sql/tables/changes/unfinished-deletes'
import type { Config } from '../config'
import { modelKey } from '../domain/meaning/vector'
import type { Analyzer } from '../domain/search/analysis'
import type { Clock } from '../ports/clock'
import type { Embedder } from '../ports/embedder'
import type { Ids } from '../ports/ids'
import type { ImageStore } from '../ports/image-store'
import type { VectorRows } from '../ports/vector-rows'
import type { BackgroundGeneration } from '../services/keeping/background-generation'
import { createCatchUp } from '../services/keeping/catch-up'
import { createLeftWork } from '../services/keeping/left-work'
import { createOutboxWork } from '../services/keeping/outbox-work'
import { createSchedule, type Step } from '../services/keeping/schedule'
import { scheduleSteps } from '../services/keeping/steps'
import type { SyncVectors } from '../services/keeping/sync-vectors'
import type { Bindings } from './bindings'
import { catchUpState, embeddingTurn } from './isolate'
import { confirmed } from './models'

/** The part of the composition that does what writes leave to be done: behind answers, and by the schedule. */
export function composeKeeping(
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
    /** Steps of other parts, which come first. */
    readonly before: readonly Step[]
    readonly log: (event: string, fields: Record<string, unknown>) => void
  },
) {
  const { connection, analyzer, clock, ids, images, embedder, rows, sync, generation, embedCode, before, log } = given
  const outbox = createSqlOutbox(connection, clock)
  const index = createSqlIndexMaintenance(connection, analyzer)
  const spaceOf = embedder && ((org: string) => ({ org, model: modelKey(embedder), dimensions: embedder.dimensions }))
  const work = createOutboxWork({
    ...{ outbox, images, index, generation, log },
    deletes: createUnfinishedDeletes(connection),
    longTexts: createSqlLongTexts(connection),
    syncOrg: async (org, model) => {
      // Vectors of a model that is no longer configured are looked at by nobody.
      const space = spaceOf?.(org)
      if (space?.model === model) await confirmed(sync(space))
    },
    turn: embeddingTurn(bindings, () => clock.now()),
  })
  const schedule = createSchedule({
    steps: [
      ...before,
      ...scheduleSteps({
        retention: createSqlRetention(connection, clock, config.history, ids),
        ...{ work, outbox, images, index, generation, embedCode, clock },
        embedsHere: config.embedding.provider === 'local',
        embedsBehind: config.embedding.provider === 'builtin',
        changesDays: config.changesDays,
        auditDays: config.auditDays,
      }),
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
  const left = createLeftWork({ work, outbox, sync, spaceOf })
  return { outbox, work, left, schedule, catchUp, index }
}
