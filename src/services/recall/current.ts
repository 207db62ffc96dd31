import type { Layer } from '../../domain/entry/entry'
import type { Scope } from '../../domain/identity/scope'
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
import type { Levels } from '../../domain/recall/similarity'
import type { Filter } from '../../domain/search/filter'
import type { Clock } from '../../ports/clock'
import type { AtHand, AtMoment, CurrentMemories, NearRequest, VectorsKnown } from '../../ports/current'
import type { Memories } from '../../ports/memories'
import type { VectorSearch } from '../../ports/vector-index'
import { attempt, type Outcome } from '../outcome'
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

/** Vectors that are looked at where an index knows nothing of projects: so many, that those of one are among them. */
const LOOKED_AT = 1_000
/**
 * The nearest of each layer, a few more than count, since some may have expired; in layer 3 those that are near enough. Of layer 1 they
 * come beside the fifty with the best scores apart from it.
 */
const NEAREST = CANDIDATES.nearest + 10
const LAYERS = [
  { layer: 1, most: MOST.working, least: Number.MIN_VALUE },
  { layer: 2, most: NEAREST, least: Number.MIN_VALUE },
  { layer: 3, most: NEAREST, least: LEAST_SEMANTIC - 1e-6 },
] as const
/** Cosines are compared up to so many parts, since indexes differ beyond. */
const PARTS = 1_000_000
/** Texts of all that is shown together. */
const MAX_BYTES = 8_000_000

/** What is compared with what. */
interface Asked {
  readonly scope: Scope
  readonly project: string | null
  /** Stands for the moment; empty when nothing does. */
  readonly text: string
  readonly atHand: Pick<AtHand, 'memories' | 'patterns'>
  readonly vectors: VectorsKnown | null
}

/** A memory, and how similar it is to the text that stands for the moment. */
interface Similar {
  readonly one: AtMoment
  readonly similarity: number
}

/** What was found, and of it what came whole. */
interface Found {
  readonly similar: readonly Similar[]
  readonly whole: ReadonlyMap<number, () => Memory>
}

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
  readonly memories: Pick<Memories, 'shown'>
  /** Null when switched off. */
  readonly words: RecallWords | null
  readonly semantic: SearchSemantic | null
  readonly levels: () => Promise<Levels>
  readonly clock: Clock
  /** Does what nobody waits for, once the answer is made. */
  readonly afterwards: (work: () => Promise<void>) => void
}) {
  /** Tells the index of vectors what it has not heard of. */
  const tell = (semantic: SearchSemantic, scope: Scope): void =>
    afterwards(async () => void (await semantic.catchUp(scope)))

  /** The embedded text and what an index beside the database found, where it is asked; null when meaning cannot be asked. */
  async function askMeaning(
    semantic: SearchSemantic,
    { scope, project, text, atHand, vectors }: Asked,
  ): Promise<NearRequest | null> {
    const embedded = await attempt(() => semantic.embed(text))
    if (!embedded.ok) return null
    const { query } = embedded.value
    const request = { query, model: semantic.model, layers: LAYERS, project }
    const byDatabase = current.comparesVectors ? { ...request, found: null } : null
    if (vectors === null) return byDatabase
    const { newest, due } = vectors
    const beside = atHand.memories.flatMap(({ vectors }) => vectors)
    const ask = (): Promise<Outcome<VectorSearch | null>> =>
      attempt(async () => {
        const nearby = await semantic.findNearby(scope, embedded.value, { layers: LAYERS, project, beside })
        if (nearby !== null || byDatabase !== null) return nearby
        return (await semantic.ask(scope, embedded.value, LOOKED_AT)).found
      })
    let asked = await ask()
    const isFarBehind = asked.ok && asked.value !== null && asked.value.confirmedUpTo < due
    if (byDatabase !== null && (isFarBehind || !asked.ok || asked.value === null)) {
      tell(semantic, scope)
      return byDatabase
    }
    // An index that lags far behind is told, which the work behind writes does as a rule: here first, since the database cannot do without.
    if (isFarBehind && (await semantic.catchUp(scope))) asked = await ask()
    return asked.ok && asked.value !== null ? { ...request, found: { ...asked.value, newest } } : null
  }

  /**
   * What may be shown, with similarities as a recall has them (fabric contract §4). One round trip, however large the store is: what is at
   * hand, the nearest vectors, and the rarer words.
   */
  async function candidatesOf(asked: Asked, filter: Filter, moment: Moment): Promise<Found> {
    const { scope, text, atHand } = asked
    const near = text === '' || semantic === null ? null : await askMeaning(semantic, asked)
    if (text === '' && atHand.memories.length === 0) return { similar: [], whole: new Map() }
    const [hits, { near: compared, patterns }] = await Promise.all([
      text === '' ? [] : (words?.glance(scope, { query: text, filter, moment }) ?? []),
      current.candidates(scope, filter, moment, atHand, near),
    ])
    const similar = new Map<number, Similar>()
    const whole = new Map(patterns)
    const note = (one: AtMoment, similarity: number): void => {
      const known = similar.get(one.id)?.similarity ?? 0
      similar.set(one.id, { one, similarity: Math.max(similarity, known) })
      if (one.whole !== null) whole.set(one.id, one.whole)
    }
    for (const one of compared) note(one, Math.min(1, Math.round(one.cosine * PARTS) / PARTS))
    for (const { atMoment, share } of hits) note(atMoment, share)
    return { similar: [...similar.values()], whole }
  }

  /**
   * What stands before an agent now; each memory that is shown is noted as accessed. Two round trips where all that is shown came along
   * with what it is chosen from, else three; and one call of the embedder.
   */
  return async (scope: Scope, { project, ...moment }: CurrentRequest): Promise<Current> => {
    const filter = recallFilter({ kinds: [], layers: [], tags: [], project })
    const now = clock.now()
    const first = await current.atHand(scope, project, moment, semantic?.model ?? null)
    const { patterns, vectors, memories: atHand } = first
    const asked = { scope, project, text: contextText(moment, first.newest), atHand: first, vectors }
    const { similar, whole: brought } = await candidatesOf(asked, filter, moment)
    const ranked = (all: readonly Similar[]): AtMoment[] =>
      all
        .map(({ one, similarity }) => ({ one, score: scoreNow(one, one.marks, similarity, moment, now) }))
        .sort((a, b) => b.score - a.score || b.one.id - a.one.id)
        .map(({ one }) => one)
    const ofLayer = (layer: Layer): Similar[] => similar.filter(({ one }) => one.layer === layer)
    const nearest = (layer: 2 | 3, least: number): Similar[] =>
      ofLayer(layer)
        .filter(({ similarity }) => similarity >= least)
        .sort((a, b) => b.similarity - a.similarity || b.one.id - a.one.id)
        .slice(0, CANDIDATES.nearest)

    const working = ranked(ofLayer(1)).slice(0, MOST.working)
    const taken = new Set(patterns.map(({ id }) => id))
    const others = new Set(atHand.map(({ id }) => id))
    const beside = similar.filter(({ one }) => one.layer > 1 && others.has(one.id))
    const relevant = ranked([...new Set([...beside, ...nearest(2, Number.MIN_VALUE), ...nearest(3, LEAST_SEMANTIC)])])
      .filter(({ id }) => !taken.has(id))
      .slice(0, MOST.relevant)

    const ids = [...working, ...relevant, ...patterns].map(({ id }) => id)
    const unread = ids.filter((id) => !brought.has(id))
    const { memories: rest } = await memories.shown(scope, filter, unread, MAX_BYTES)
    const read = [...rest, ...ids.flatMap((id) => brought.get(id)?.() ?? [])]
    // To be shown now is no use that is shown.
    const byId = new Map(read.map((memory) => [memory.id, memory]))
    const whole = (all: readonly { readonly id: number }[]): Memory[] => all.flatMap(({ id }) => byId.get(id) ?? [])
    const used = new Map(patterns.map(({ id, usedAt }) => [id, usedAt]))
    const shown = {
      working: whole(working),
      relevant: whole(relevant),
      patterns: whole(patterns).map((memory) => patternOf(memory, used.get(memory.id) ?? memory.createdAt)),
    }
    const told = { ...shown, opened: first.opened }
    return { ...shown, suggestions: suggestionsOf(told), ghostMessages: ghostMessagesOf(told, moment) }
  }
}
