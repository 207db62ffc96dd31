import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlPendingIndex } from '../adapters/sql/stores/search/pending-index'
import type { Analyzer } from '../domain/search/analysis'
import type { Clock } from '../ports/clock'
import type { FullText } from '../ports/full-text'
import type { BackgroundGeneration } from '../services/keeping/background-generation'
import { createFinishIndex, type FinishIndex, searchingWhole } from '../services/keeping/pending-index'
import type { Bindings } from './bindings'
import { pendingState } from './isolate'

/** Bytes of texts whose vectors a search makes that finds them unmade: in this process, and by a model behind an address. */
const VECTORS = { here: 4_000_000, elsewhere: 1_000_000 }

/** The part of compose.ts by which searches find what was committed without its words or vectors. */
export function composeFinishing(
  bindings: Bindings,
  given: {
    readonly connection: SqlConnection
    readonly analyzer: Analyzer
    readonly clock: Clock
    readonly fullText: FullText
    /** Null where nothing is searched by meaning. */
    readonly generation: BackgroundGeneration | null
    /** Whether vectors are made here, without any service. */
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
  return { finishing, fullText: searchingWhole(fullText, finishing, goesBy) }
}
