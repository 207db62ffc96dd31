import type { SqlConnection } from '../adapters/sql/core/connection'
import { createSqlMemoryPairs } from '../adapters/sql/stores/currency/memory-pairs'
import type { Config } from '../config'
import type { Clock } from '../ports/clock'
import type { LanguageModel } from '../ports/language-model'
import type { ModelCalls } from '../ports/model-calls'
import { createFindDisagreements, WITHOUT_DISAGREEMENTS } from '../services/currency/disagreements'
import type { FindEarlier } from '../services/currency/find-earlier'
import { judgeStep, pairSteps } from '../services/currency/pair-steps'

/** The part of the composition that keeps pairs of memories on one subject. */
export function composeCurrency(
  config: Config,
  given: {
    readonly connection: SqlConnection
    readonly clock: Clock
    /** Null where no background work asks a model. */
    readonly languageModel: LanguageModel | null
    readonly calls: ModelCalls
    readonly findEarlier: Pick<FindEarlier, 'around'>
    readonly log: (event: string, fields: Record<string, unknown>) => void
  },
) {
  const { connection, clock, languageModel: model, calls, findEarlier, log } = given
  const pairs = createSqlMemoryPairs(connection, clock)
  const judges = config.contradictionJudge && model !== null
  return {
    pairs,
    steps: pairSteps({ pairs, findEarlier }),
    /** Steps that wait for a model. */
    slowSteps: judges ? [judgeStep({ pairs, model, calls, clock, log })] : [],
    findDisagreements: judges ? createFindDisagreements({ pairs }) : WITHOUT_DISAGREEMENTS,
  }
}
