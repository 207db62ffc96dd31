import { bothHold, holdsFrom, isLater } from '../../domain/currency/later-first'
import {
  contentMark,
  JUDGED_LENGTH,
  type Judged,
  type Verdict,
  verdictIn,
  verdictPrompt,
} from '../../domain/currency/pair'
import { SUBJECT } from '../../domain/currency/subject'
import { linksOfMetadata } from '../../domain/entry/link'
import { DAY_MS, formatSecond } from '../../domain/time'
import { addressesAgent } from '../../domain/trust/agent-directed'
import type { Clock } from '../../ports/clock'
import type { MemoryPairs, PairOfOrg, PairWithMemories, StoredMemory } from '../../ports/memory-pairs'
import type { ModelCalls } from '../../ports/model-calls'
import type { LanguageModel } from '../../ports/models'
import type { Step, StepResult } from '../maintenance/schedule'
import { attempt } from '../outcome'
import type { FindEarlier } from './find-earlier'

/** Memories of one batch for which pairs are searched; each takes two round trips. */
const SOUGHT = 20
/** Pairs that one batch checks. */
const CHECKED = 200
/** Pairs that a model judges in one run; each call may take a minute. */
const JUDGED = 5

/** Returns the verdict in the metadata of one memory about the other, if any. */
function isSettled(later: PairWithMemories['memories'][0], earlier: PairWithMemories['memories'][1]): Verdict | null {
  if (later === null || earlier === null) return null
  const replaces = ({ metadata }: typeof later, { id }: typeof later): boolean =>
    linksOfMetadata(metadata).some(({ relation, to }) => relation === 'supersedes' && to === id)
  if (replaces(later, earlier) || replaces(earlier, later)) return 'replaces'
  return bothHold(later, earlier) ? 'both_hold' : null
}

/** Returns the schedule steps for pairs of memories on one subject: one finds them, one removes resolved ones. */
export function pairSteps({
  pairs,
  findEarlier,
}: {
  readonly pairs: MemoryPairs
  readonly findEarlier: Pick<FindEarlier, 'around'>
}): Step[] {
  /** Finds the pairs of a memory with others of its project that its owner can read. */
  async function pairsOf(memory: StoredMemory): Promise<PairOfOrg[]> {
    const { org, owner, project } = memory
    const scope = { org, owner, projects: project === null ? null : [project] }
    const others = await findEarlier.around(scope, { ...memory, replaced: new Set() })
    return others.flatMap((other) => {
      if (isSettled(memory, other) !== null) return []
      const [later, earlier] = isLater(memory, other) ? [memory, other] : [other, memory]
      return [{ org, later: later.id, earlier: earlier.id }]
    })
  }

  async function seek(): Promise<StepResult> {
    const part = await pairs.fresh(SOUGHT)
    if (part.upTo === null) return { done: 0, next: null }
    const found: PairOfOrg[] = []
    for (const memory of await pairs.memories(part.ids, SUBJECT.codePoints)) found.push(...(await pairsOf(memory)))
    await pairs.add(found)
    await pairs.recordScanned(part)
    return { done: found.length, next: part.isPart ? 'more' : null }
  }

  /** Removes pairs of deleted memories and resolved pairs. Reopens pairs whose contents have changed. */
  async function check(cursor: string | null): Promise<StepResult> {
    const all = await pairs.page(cursor === null ? null : (JSON.parse(cursor) as PairOfOrg), CHECKED)
    const [gone, changed]: [PairOfOrg[], PairOfOrg[]] = [[], []]
    for (const pair of all) {
      const { memories, verdict, judged } = pair
      const [later, earlier] = memories
      const settled = isSettled(later, earlier)
      if (later === null || earlier === null || settled === 'replaces') gone.push(pair)
      else if (settled === 'both_hold' && (verdict !== settled || judged !== contentMark(later, earlier)))
        await pairs.judge(pair, settled, contentMark(later, earlier))
      else if (settled === null && judged !== null && judged !== contentMark(later, earlier)) changed.push(pair)
    }
    await pairs.remove(gone)
    await pairs.reopen(changed)
    const last = all.length < CHECKED ? undefined : all.at(-1)
    const next = last && JSON.stringify({ org: last.org, later: last.later, earlier: last.earlier })
    return { done: gone.length + changed.length, next: next ?? null }
  }

  return [
    { name: 'memories on one subject', every: 0, rounds: 4, round: seek },
    { name: 'pairs of memories', every: DAY_MS, daily: true, rounds: 10, round: check },
  ]
}

const judgedOf = (memory: StoredMemory): Judged => ({
  ...{ id: memory.id, title: memory.title, text: memory.text },
  at: formatSecond(holdsFrom(memory)),
})

/**
 * Lets a model judge waiting pairs (CONTRADICTION_JUDGE), within the daily limit of calls.
 *
 * A model that fails, is late, or answers in another form is asked again a few times.
 */
export function judgeStep({
  pairs,
  model,
  calls,
  clock,
  log,
}: {
  readonly pairs: MemoryPairs
  readonly model: LanguageModel
  readonly calls: ModelCalls
  readonly clock: Clock
  readonly log: (event: string, fields: Record<string, unknown>) => void
}): Step {
  async function judge(pair: PairOfOrg): Promise<'judged' | 'skipped' | 'limit'> {
    const read = new Map((await pairs.memories([pair.later, pair.earlier], JUDGED_LENGTH)).map((one) => [one.id, one]))
    const [later, earlier] = [read.get(pair.later), read.get(pair.earlier)]
    // The check step removes this pair.
    if (later === undefined || earlier === undefined) return 'skipped'
    const mark = contentMark(later, earlier)
    const settled = isSettled(later, earlier)
    // A text that addresses an agent is never sent to the model: a person decides.
    if (settled !== null || addressesAgent(later) || addressesAgent(earlier)) {
      await pairs.judge(pair, settled, mark)
      return 'skipped'
    }
    if (!(await calls.take())) {
      await pairs.putOff(pair, (Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS)
      return 'limit'
    }
    const answer = await attempt(() => model.answer(verdictPrompt(judgedOf(later), judgedOf(earlier))))
    const verdict = answer.ok ? verdictIn(answer.value, later.id, earlier.id) : null
    if (verdict === null) {
      log('judge_without_verdict', {
        org: pair.org,
        reason: answer.ok ? 'no verdict in the answer' : answer.problem.message,
      })
      return 'skipped'
    }
    await pairs.judge(pair, verdict, mark)
    return 'judged'
  }

  return {
    name: 'judged pairs',
    every: 0,
    rounds: JUDGED,
    round: async () => {
      const [pair] = await pairs.claim(1)
      if (pair === undefined) return { done: 0, next: null }
      const did = await judge(pair)
      return { done: did === 'judged' ? 1 : 0, next: did === 'limit' ? null : 'more' }
    },
  }
}
