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
import type { AtMoment, CurrentMemories, NearRequest } from '../../ports/current'
import type { Memories } from '../../ports/memories'
import type { VectorSearch } from '../../ports/vector-index'
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
/** Vectors that are looked at, since an index knows nothing of projects: so many, that those of one are among them. */
const LOOKED_AT = 1_000
/** Cosines are compared up to so many parts, since indexes differ beyond. */
const PARTS = 1_000_000
/** Texts of all that is shown together. */
const MAX_BYTES = 8_000_000

/** A memory, and how similar it is to the text that stands for the moment. */
interface Similar {
  readonly one: AtMoment
  readonly similarity: number
}

/** A cosine of 0 says nothing. */
const withoutNothing = (found: VectorSearch): VectorSearch => ({
  ...found,
  hits: found.hits.filter(({ cosine }) => cosine > 0),
})

export type GetCurrent = ReturnType<typeof createGetCurrent>

export function createGetCurrent({
  current,
  memories,
  words,
  semantic,
  clock,
}: {
  readonly current: CurrentMemories
  readonly memories: Pick<Memories, 'recalled'>
  /** Null when switched off. */
  readonly words: RecallWords | null
  readonly semantic: SearchSemantic | null
  readonly clock: Clock
}) {
  /** The embedded text and what an index beside the database found; null when meaning cannot be asked. */
  async function askMeaning(semantic: SearchSemantic, scope: Scope, text: string): Promise<NearRequest | null> {
    const embedded = await attempt(() => semantic.embed(text))
    if (!embedded.ok) return null
    const { query } = embedded.value
    const request = { query, model: semantic.model, depth: LOOKED_AT, most: NEAREST }
    if (current.findsVectors) return { ...request, found: null }
    const asked = await attempt(() => semantic.ask(scope, embedded.value, LOOKED_AT))
    return asked.ok ? { ...request, found: withoutNothing(asked.value.found) } : null
  }

  /**
   * What is near to a text, with similarities as a recall has them (fabric contract §4). One round trip, however large the store is:
   * the rarer words, and the nearest vectors.
   */
  async function nearTo(scope: Scope, filter: Filter, text: string, moment: Moment): Promise<Map<number, Similar>> {
    const similar = new Map<number, Similar>()
    if (text === '') return similar
    const asked = semantic && (await askMeaning(semantic, scope, text))
    const [hits, near] = await Promise.all([
      words?.glance(scope, { query: text, filter, moment }) ?? [],
      asked && attempt(() => current.near(scope, filter, moment, asked)),
    ])
    const note = (one: AtMoment, similarity: number): void => {
      const known = similar.get(one.id)?.similarity ?? 0
      if (similarity > known) similar.set(one.id, { one, similarity })
    }
    for (const { atMoment, similarity } of hits) note(atMoment, similarity)
    for (const one of near?.ok ? near.value : []) note(one, Math.min(1, Math.round(one.cosine * PARTS) / PARTS))
    return similar
  }

  /**
   * What stands before an agent now; each memory that is shown is noted as accessed. Three round trips and one call of the embedder.
   */
  return async (scope: Scope, { project, ...moment }: CurrentRequest): Promise<Current> => {
    const filter = recallFilter({ kinds: [], layers: [], tags: [], project })
    const now = clock.now()
    const atHand = await current.atHand(scope, project, moment)
    const similar = await nearTo(scope, filter, contextText(moment, atHand.newest), moment)
    const similarityOf = ({ id }: AtMoment): number => similar.get(id)?.similarity ?? 0
    const ranked = (all: readonly AtMoment[]): AtMoment[] =>
      [...new Map(all.map((one) => [one.id, one])).values()]
        .map((one) => ({ one, score: scoreNow(one, one.marks, similarityOf(one), moment, now) }))
        .sort((a, b) => b.score - a.score || b.one.id - a.one.id)
        .map(({ one }) => one)
    const nearest = (layer: 2 | 3, least: number): AtMoment[] =>
      [...similar.values()]
        .filter(({ one, similarity }) => one.layer === layer && similarity >= least)
        .sort((a, b) => b.similarity - a.similarity || b.one.id - a.one.id)
        .slice(0, CANDIDATES.nearest)
        .map(({ one }) => one)

    const ofWorking = [...similar.values()].map(({ one }) => one).filter(({ layer }) => layer === 1)
    const working = ranked([...atHand.working, ...ofWorking]).slice(0, MOST.working)
    const { patterns } = atHand
    const taken = new Set(patterns.map(({ id }) => id))
    const relevant = ranked([...atHand.recent, ...atHand.ofFile, ...nearest(2, 0), ...nearest(3, LEAST_SEMANTIC)])
      .filter(({ id }) => !taken.has(id))
      .slice(0, MOST.relevant)

    const ids = [...working, ...relevant, ...patterns].map(({ id }) => id)
    const { memories: read } = await memories.recalled(scope, filter, ids, MAX_BYTES)
    // To be shown now is no use that is shown.
    const byId = new Map(read.map((memory) => [memory.id, { ...memory, accessCount: memory.accessCount - 1 }]))
    const whole = (all: readonly AtMoment[]): Memory[] => all.flatMap(({ id }) => byId.get(id) ?? [])
    const used = new Map(patterns.map(({ id, usedAt }) => [id, usedAt]))
    const shown = {
      working: whole(working),
      relevant: whole(relevant),
      patterns: whole(patterns).map((memory) => patternOf(memory, used.get(memory.id) ?? memory.createdAt)),
    }
    const told = { ...shown, opened: atHand.opened }
    return { ...shown, suggestions: suggestionsOf(told), ghostMessages: ghostMessagesOf(told, moment) }
  }
}
