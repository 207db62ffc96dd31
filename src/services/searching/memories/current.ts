import type { Scope } from '../../../domain/identity/scope'
import { CANDIDATES, type Candidate, choose } from '../../../domain/recall/current'
import { recallFilter } from '../../../domain/recall/filter'
import { type GhostMessage, ghostMessagesOf, testsOrBuilds } from '../../../domain/recall/ghost-messages'
import { type Suggestion, suggestionsOf } from '../../../domain/recall/hints'
import type { Memory } from '../../../domain/recall/memory'
import { contextText, type WorkContext } from '../../../domain/recall/moment'
import { type Pattern, patternOf } from '../../../domain/recall/pattern'
import { jointSimilarity, type Levels, meaningOf, wordSimilarity } from '../../../domain/recall/similarity'
import type { Filter } from '../../../domain/search/filter'
import type { Clock } from '../../../ports/clock'
import type {
  AtHandMemory,
  CurrentMemories,
  Memories,
  SimilarMemoriesRequest,
  VectorProgress,
} from '../../../ports/memories'
import type { VectorSearch } from '../../../ports/vector-index'
import { type FinishIndex, NOTHING_PENDING } from '../../maintenance/pending-index'
import { attempt, type Outcome } from '../../outcome'
import type { SearchSemantic } from '../ranked/search-semantic'
import type { RecallWords } from './recall-words'

/** What stands before a coding agent at this moment (fabric contract §5). Paths are normal ones. */
export type CurrentRequest = WorkContext

export interface Current {
  readonly working: readonly Memory[]
  readonly relevant: readonly Memory[]
  readonly patterns: readonly ShownPattern[]
  readonly suggestions: readonly Suggestion[]
  readonly ghostMessages: readonly GhostMessage[]
}

/** A pattern, and the memory that it is. */
export type ShownPattern = Pattern & { readonly memory: Memory }

/** Vectors that are looked at where an index knows nothing of projects: so many, that those of one are among them. */
const LOOKED_AT = 1_000
/** The nearest of all layers, a few more than count, since some may have expired. */
const NEAREST = { layers: [1, 2, 3], most: CANDIDATES.nearest + 10, least: Number.MIN_VALUE } as const
/** Errors and fixes beside those that are shown, among which that of the command is looked for. */
const BUGS = 10
/** Texts of all that is shown together. */
const MAX_BYTES = 8_000_000

/** What is compared with what. */
interface Asked {
  readonly scope: Scope
  readonly project: string | null
  /** Stands for the moment; empty when nothing does. */
  readonly text: string
  readonly atHand: readonly AtHandMemory[]
  readonly vectors: VectorProgress | null
}

export type GetCurrent = ReturnType<typeof createGetCurrent>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createGetCurrent({
  current,
  memories,
  words,
  semantic,
  levels,
  clock,
  afterwards,
  finishing = NOTHING_PENDING,
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
  readonly finishing?: FinishIndex
}) {
  /** Tells the index of vectors what it has not heard of. */
  const tell = (semantic: SearchSemantic, scope: Scope): void =>
    afterwards(async () => void (await semantic.catchUp(scope)))

  /** The embedded text and what an index beside the database found, where it is asked; null when meaning cannot be asked. */
  async function askMeaning(
    semantic: SearchSemantic,
    { scope, project, text, atHand, vectors }: Asked,
  ): Promise<SimilarMemoriesRequest | null> {
    const embedded = await attempt(() => semantic.embed(text))
    if (!embedded.ok) return null
    const { query } = embedded.value
    const request = { query, model: semantic.model, ...NEAREST, project }
    const byDatabase = current.comparesVectors ? { ...request, found: null } : null
    if (vectors === null) return byDatabase
    const { newest, due } = vectors
    const beside = atHand.flatMap(({ vectors }) => vectors)
    const ask = (): Promise<Outcome<VectorSearch | null>> =>
      attempt(async () => {
        const nearby = await semantic.findNearby(scope, embedded.value, { ...NEAREST, project, beside })
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
  async function candidatesOf(asked: Asked, filter: Filter, moment: WorkContext): Promise<Candidate[]> {
    const { scope, text, atHand } = asked
    const [near, known] =
      text === '' || semantic === null
        ? [null, null]
        : await Promise.all([askMeaning(semantic, asked), attempt(levels)])
    const meant = near !== null && known?.ok ? known.value : null
    if (text === '' && atHand.length === 0) return []
    const [hits, compared] = await Promise.all([
      text === '' ? [] : (words?.lookUp(scope, { query: text, filter, moment }) ?? []),
      current.candidates(scope, filter, moment, atHand, near),
    ])
    const shares = new Map(hits.map(({ atMoment, share }) => [atMoment.id, share]))
    const cosines = new Map(compared.map(({ id, cosine }) => [id, cosine]))
    const similarityOf = (id: number): number => {
      const share = shares.get(id) ?? 0
      // Without vectors words alone tell, as in a recall.
      if (meant === null) return wordSimilarity(share)
      return jointSimilarity(meaningOf(cosines.get(id) ?? meant.nothing, meant), share)
    }
    const all = new Map([...hits.map(({ atMoment }) => atMoment), ...compared].map((one) => [one.id, one]))
    return [...all.values()].map((one) => ({ one, similarity: text === '' ? 0 : similarityOf(one.id) }))
  }

  /** What stands before an agent now; it writes nothing. Three round trips and one call of the embedder. */
  return async (scope: Scope, request: CurrentRequest): Promise<Current> => {
    const moment = { ...request, merged: scope.merged }
    const { project } = moment
    const filter = recallFilter({ kinds: [], layers: [], tags: [], project, merged: scope.merged })
    const now = clock.now()
    const look = () => current.atHand(scope, project, moment, semantic?.model ?? null)
    const first = await finishing.searching(scope, look)
    const text = contextText(moment, first.newest)
    const asked = { scope, project, text, atHand: first.memories, vectors: first.vectors }
    const chosen = choose(await candidatesOf(asked, filter, moment), moment, now)
    // Only a command that tests or builds is told of them.
    const bugs = testsOrBuilds(moment.currentCommand) ? chosen.bugs.slice(0, BUGS) : []
    const wanted = [...chosen.working, ...chosen.relevant, ...chosen.patterns, ...bugs]
    const ids = [...new Set(wanted.map(({ id }) => id))]
    const { memories: read } = await memories.shown(scope, project, filter, ids, MAX_BYTES)
    const byId = new Map(read.map((memory) => [memory.id, memory]))
    const whole = (all: readonly { readonly id: number }[]): Memory[] => all.flatMap(({ id }) => byId.get(id) ?? [])
    const used = new Map(chosen.patterns.map(({ id, usedAt }) => [id, usedAt]))
    const shown = {
      working: whole(chosen.working),
      relevant: whole(chosen.relevant),
      patterns: whole(chosen.patterns).map((memory) => ({
        ...{ ...patternOf(memory, used.get(memory.id) ?? memory.createdAt), memory },
      })),
    }
    const answered = { ...shown, bugs: whole(bugs), opened: first.opened }
    return {
      ...shown,
      suggestions: suggestionsOf(answered, now),
      ghostMessages: ghostMessagesOf(answered, moment, now),
    }
  }
}
