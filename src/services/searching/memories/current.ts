import type { Scope } from '../../../domain/identity/scope'
import { type Pattern, patternOf } from '../../../domain/recall/code-pattern'
import { type GhostMessage, ghostMessagesOf, testsOrBuilds } from '../../../domain/recall/ghost-messages'
import type { Memory } from '../../../domain/recall/memory'
import { CANDIDATES, type Candidate, choose } from '../../../domain/recall/rank-current'
import { recallFilter } from '../../../domain/recall/recall-filter'
import { jointSimilarity, type Levels, meaningOf, wordSimilarity } from '../../../domain/recall/similarity'
import { type Suggestion, suggestionsOf } from '../../../domain/recall/suggestions'
import { contextText, type WorkContext } from '../../../domain/recall/work-context'
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

/** The current situation of a coding agent (fabric contract §5). Paths are normalized. */
export type CurrentRequest = WorkContext

export interface Current {
  readonly working: readonly Memory[]
  readonly relevant: readonly Memory[]
  readonly patterns: readonly ShownPattern[]
  readonly suggestions: readonly Suggestion[]
  readonly ghostMessages: readonly GhostMessage[]
}

/** A pattern with its memory. */
export type ShownPattern = Pattern & { readonly memory: Memory }

/** Vectors that are read if the index does not know projects, so that enough belong to the project. */
const LOOKED_AT = 1_000
/** Closest memories of all layers; a few more than needed, because some may have expired. */
const NEAREST = { layers: [1, 2, 3], most: CANDIDATES.nearest + 10, least: Number.MIN_VALUE } as const
/** Further errors and fixes in which the one of the command is searched. */
const BUGS = 10
/** Bytes of all texts that are shown. */
const MAX_BYTES = 8_000_000

/** The text and filter of a comparison. */
interface Asked {
  readonly scope: Scope
  readonly project: string | null
  /** Text that describes the situation; empty for none. */
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
  /** Null if switched off. */
  readonly words: RecallWords | null
  readonly semantic: SearchSemantic | null
  readonly levels: () => Promise<Levels>
  readonly clock: Clock
  /** Runs work after the answer. */
  readonly afterwards: (work: () => Promise<void>) => void
  readonly finishing?: FinishIndex
}) {
  /** Sends pending changes to the vector index. */
  const tell = (semantic: SearchSemantic, scope: Scope): void =>
    afterwards(async () => void (await semantic.catchUp(scope)))

  /** Asks the vector index; null if semantic search is unavailable. */
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
    // An index that lags far behind is synced here first; usually the work after writes does that.
    if (isFarBehind && (await semantic.catchUp(scope))) asked = await ask()
    return asked.ok && asked.value !== null ? { ...request, found: { ...asked.value, newest } } : null
  }

  /**
   * Returns candidates with the similarities of a recall (fabric contract §4).
   *
   * Takes one round trip for any store size: recent memories, closest vectors, and rarer words.
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
      // Without vectors only words count, as in a recall.
      if (meant === null) return wordSimilarity(share)
      return jointSimilarity(meaningOf(cosines.get(id) ?? meant.nothing, meant), share)
    }
    const all = new Map([...hits.map(({ atMoment }) => atMoment), ...compared].map((one) => [one.id, one]))
    return [...all.values()].map((one) => ({ one, similarity: text === '' ? 0 : similarityOf(one.id) }))
  }

  /** Returns the memories for the current situation; writes nothing. Takes three round trips and one call of the embedder. */
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
    // Errors are shown only for a command that tests or builds.
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
