import type { Filter } from '../../domain/filter'
import {
  CANDIDATES,
  contextText,
  type GhostMessage,
  ghostMessagesOf,
  LEAST_SEMANTIC,
  MOST,
  type Moment,
  type Pattern,
  patternOf,
  type Suggestion,
  scoreNow,
  suggestionsOf,
} from '../../domain/recall/current'
import { recallFilter } from '../../domain/recall/filter'
import type { Memory } from '../../domain/recall/memory'
import type { Scope } from '../../domain/scope'
import type { Clock } from '../../ports/clock'
import type { Candidate, CurrentMemories } from '../../ports/current'
import type { Memories } from '../../ports/memories'
import { attempt } from '../outcome'
import type { SearchSemantic } from '../search-semantic'
import type { RecallWords } from './recall-words'

/** What stands before a coding agent at this moment (fabric contract §5). */
export interface CurrentRequest extends Moment {
  readonly project: string | null
}

export interface Current {
  readonly working: readonly Memory[]
  readonly relevant: readonly Memory[]
  readonly patterns: readonly Pattern[]
  readonly suggestions: readonly Suggestion[]
  readonly ghostMessages: readonly GhostMessage[]
}

/** Memories and vectors that a leg brings: enough for the nearest of both layers. */
const NEAREST = 2 * CANDIDATES.nearest
const EVERYTHING_NEAR = Number.MIN_VALUE
/** Texts of all that is shown together. */
const MAX_BYTES = 8_000_000

type Similarities = ReadonlyMap<number, number>

export type GetCurrent = ReturnType<typeof createGetCurrent>

export function createGetCurrent({
  current,
  memories,
  words,
  semantic,
  clock,
  afterwards,
}: {
  readonly current: CurrentMemories
  readonly memories: Pick<Memories, 'recalled'>
  /** Null when switched off. */
  readonly words: RecallWords | null
  readonly semantic: SearchSemantic | null
  readonly clock: Clock
  /** Bookkeeping that no answer waits for. */
  readonly afterwards: (work: Promise<unknown>) => void
}) {
  /**
   * What is near to a text, with similarities as a recall has them (fabric contract §4), and the memories themselves. Two round
   * trips: the words and the index, then the rows of what both found.
   */
  async function nearTo(scope: Scope, filter: Filter, text: string, moment: Moment) {
    const none = { candidates: [] as Candidate[], similarities: new Map() as Similarities }
    if (text === '') return none
    const embedded = semantic && (await attempt(() => semantic.embed(text)))
    const [byWords, asked] = await Promise.all([
      words?.(scope, { query: text, filter, threshold: 0, first: 'most' }) ?? null,
      semantic && embedded?.ok ? attempt(() => semantic.find(scope, embedded.value, NEAREST)) : null,
    ])
    const hits = byWords?.hits ?? []
    const ids = hits.toSorted((a, b) => b.similarity - a.similarity || b.id - a.id).slice(0, NEAREST)
    const found = asked?.ok ? asked.value.found.hits.filter(({ cosine }) => cosine > 0) : []
    const vectors = found.slice(0, NEAREST).map(({ id }) => id)
    const [near, candidates] = await Promise.all([
      semantic && asked?.ok
        ? attempt(() => semantic.answer(scope, asked.value, filter, NEAREST, EVERYTHING_NEAR))
        : null,
      current.named(scope, filter, moment, { ids: ids.map(({ id }) => id), vectors }),
    ])
    const similarities = new Map(hits.map(({ id, similarity }) => [id, similarity]))
    const nearest = near?.ok ? near.value.hits : []
    for (const { id, cosine } of nearest) similarities.set(id, Math.max(similarities.get(id) ?? 0, Math.min(1, cosine)))
    // What the index had not confirmed, or other projects kept from its first hits.
    const known = new Set(candidates.map(({ memory }) => memory.id))
    const missing = nearest.map(({ id }) => id).filter((id) => !known.has(id))
    const others = await current.named(scope, filter, moment, { ids: missing, vectors: [] })
    return { candidates: [...candidates, ...others], similarities }
  }

  return async (scope: Scope, { project, ...moment }: CurrentRequest): Promise<Current> => {
    const filter = recallFilter({ kinds: [], layers: [], tags: [], project })
    const now = clock.now()
    const atHand = await current.atHand(scope, project, moment)
    const { candidates, similarities } = await nearTo(scope, filter, contextText(moment, atHand.newest), moment)
    const similarity = ({ memory }: Candidate): number => similarities.get(memory.id) ?? 0
    const ranked = (all: readonly Candidate[]): Candidate[] =>
      [...new Map(all.map((one) => [one.memory.id, one])).values()]
        .map((one) => ({ one, score: scoreNow(one.memory, one.marks, similarity(one), moment, now) }))
        .sort((a, b) => b.score - a.score || b.one.memory.id - a.one.memory.id)
        .map(({ one }) => one)
    const nearest = (layer: 2 | 3, least: number): Candidate[] =>
      candidates
        .filter((one) => one.memory.layer === layer && similarity(one) > 0 && similarity(one) >= least)
        .sort((a, b) => similarity(b) - similarity(a) || b.memory.id - a.memory.id)
        .slice(0, CANDIDATES.nearest)

    const ofWorking = candidates.filter(({ memory }) => memory.layer === 1)
    const working = ranked([...atHand.working, ...ofWorking]).slice(0, MOST.working)
    const patterns = atHand.patterns.slice(0, MOST.patterns)
    const taken = new Set(patterns.map(({ memory }) => memory.id))
    const relevant = ranked([...atHand.recent, ...atHand.ofFile, ...nearest(2, 0), ...nearest(3, LEAST_SEMANTIC)])
      .filter(({ memory }) => !taken.has(memory.id))
      .slice(0, MOST.relevant)

    const shown = [...working, ...relevant, ...patterns]
    const whole = await wholeTexts(scope, filter, shown)
    const textOf = ({ memory }: Candidate): Memory => ({ ...memory, text: whole.get(memory.id) ?? memory.text })
    const result = {
      working: working.map(textOf),
      relevant: relevant.map(textOf),
      patterns: patterns.map((one) => patternOf(textOf(one), one.accessedAt)),
      opened: atHand.opened,
    }
    const { opened: _, ...told } = result
    return { ...told, suggestions: suggestionsOf(result), ghostMessages: ghostMessagesOf(result, moment) }
  }

  /** Texts that were too long to be brought with every candidate; each that is shown is noted as accessed. */
  async function wholeTexts(scope: Scope, filter: Filter, shown: readonly Candidate[]): Promise<Map<number, string>> {
    const ids = shown.map(({ memory }) => memory.id)
    if (!shown.some(({ cut }) => cut)) {
      // Nothing is wanted but the note, for which nobody has to wait.
      if (ids.length > 0) afterwards(memories.recalled(scope, filter, ids, 0))
      return new Map()
    }
    const { memories: read } = await memories.recalled(scope, filter, ids, MAX_BYTES)
    return new Map(read.map(({ id, text }) => [id, text]))
  }
}
