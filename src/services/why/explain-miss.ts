import { hasEnded, validUntil } from '../../domain/currency/validity'
import type { Entry } from '../../domain/entry/entry'
import { own } from '../../domain/entry/metadata'
import { isWork } from '../../domain/entry/work'
import { type Caller, homesOf } from '../../domain/identity/scope'
import type { PackArguments } from '../../domain/pack/pack-request'
import type { Analyzer } from '../../domain/search/analysis'
import { and, type Filter, matches } from '../../domain/search/filter'
import type { FusionMethod } from '../../domain/search/fusion'
import { RANK_DEPTH } from '../../domain/search/window'
import { formatSecond, type Millis } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { EntryState, EntryStates } from '../../ports/entry-state'
import type { EntryStore } from '../../ports/entry-store'
import type { History } from '../../ports/history'
import type { CatchUp } from '../maintenance/sync-vectors'
import type { CompilePack, PackTrace } from '../pack/compile-pack'
import { orderedBy } from '../searching/ranked/ranked-page'
import type { RankedSearches } from '../searching/ranked/ranked-search'

/** Why a call did not return a memory. The first of several causes decides. */
export type MissCause =
  | ('returned' | 'not_found' | 'expired' | 'deleted' | 'not_stored' | 'review' | 'diary' | 'archived' | 'project')
  | ('filter' | 'approval' | 'ended' | 'superseded' | 'not_indexed' | 'duplicate' | 'budget' | 'rank' | 'cut')
  | ('doubt' | 'no_match')

export interface Cause {
  readonly cause: MissCause
  /** Sentences for a person: the cause, and what to do. */
  readonly message: string
  /** Another memory that the message names. */
  readonly other?: number
}

/** A memory's place in the ranking of a call. */
export interface RankedPlace {
  readonly id: number
  readonly place: number
  readonly score: number
}

export interface Explanation {
  readonly id: number
  readonly returned: boolean
  /** The first one decides. */
  readonly causes: readonly Cause[]
  /** Null where the memory was not ranked. */
  readonly ranked: RankedPlace | null
  /** The last memory that the call returned for its score; null for none. */
  readonly last: RankedPlace | null
  readonly notes: readonly string[]
}

/** A search whose ranking is explained. */
export interface ExplainedSearch {
  readonly query: string
  readonly mode: 'hybrid' | 'words' | 'meaning'
  readonly limit: number
}

interface Called {
  readonly id: number
  /** The key of the project that the call names; null for none. */
  readonly project: string | null
  /** Milliseconds since 1970; null for now. */
  readonly asOf: Millis | null
  /** Conditions of the call, next to its project. */
  readonly conditions: readonly Filter[]
  /** IDs that the call returned; null where it was not made, as for an earlier instant. */
  readonly returned: readonly number[] | null
}

export type ExplainedCall = Called &
  (
    | { readonly tool: 'context'; readonly pack: PackArguments }
    | { readonly tool: 'search'; readonly search: ExplainedSearch }
  )

export type ExplainMiss = (caller: Caller, call: ExplainedCall) => Promise<Explanation>

/** Bytes of the memory that are read. */
const MAX_BYTES = 8_000_000
/** Code points of a text that are searched for words of the query. */
const LOOKED_AT = 200_000

const ARGUMENT_OF: Partial<Record<Filter['op'], string>> = {
  thread: 'thread',
  tag: 'tags',
  kind: 'kind',
  by: 'by',
  created: 'since or until',
}

const NOT_FOUND: Cause = { cause: 'not_found', message: 'No memory with this ID exists, or it is not yours.' }
const rounded = (score: number): string => (score >= 10 ? score.toFixed(1) : score.toFixed(3))
const compared = (own: RankedPlace, last: RankedPlace | null): string =>
  last === null
    ? `Its score is ${rounded(own.score)}.`
    : `Its score is ${rounded(own.score)}; the last memory returned for its score, ${last.id}, has ${rounded(last.score)}.`

/** The result of ranking the memory again. */
interface Ranking {
  readonly outcome: 'shown' | 'budget' | 'duplicate' | 'superseded' | 'rank' | 'cut' | 'doubt' | 'absent'
  readonly ranked: RankedPlace | null
  readonly best: RankedPlace | null
  readonly last: RankedPlace | null
  readonly repeats: number | null
  readonly limit: number
  readonly warnings: readonly string[]
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createExplainMiss({
  entries,
  states,
  history,
  explained,
  rankedSearches,
  hybrid,
  analyzer,
  clock,
  model,
  missed,
  isApproved,
}: {
  readonly entries: Pick<EntryStore, 'readWithin'>
  readonly states: EntryStates
  readonly history: Pick<History, 'versions' | 'asOf'>
  readonly explained: CompilePack
  readonly rankedSearches: Pick<RankedSearches, 'byBoth' | 'byWords' | 'byMeaning'>
  readonly hybrid: {
    readonly method: FusionMethod
    readonly k: number
    readonly legs: { readonly fts: boolean; readonly semantic: boolean }
  }
  readonly analyzer: Analyzer
  readonly clock: Clock
  /** As `modelKey` names it; null where meaning is not searched. */
  readonly model: string | null
  /** Indexes that are not complete since an upgrade. */
  readonly missed: CatchUp['missed']
  /** Whether packs have approved entries alone (PACK_TRUST). */
  readonly isApproved: boolean
}): ExplainMiss {
  /** Of an ID that the key cannot read. It learns of an end only where it could read the memory before. */
  async function unreadable(caller: Caller, id: number): Promise<Cause> {
    const [state, past] = await Promise.all([
      states.stateOf(caller, id, null),
      history.versions(caller, id, { limit: 1, offset: 0 }),
    ])
    const end = state?.expiresAt ?? null
    if (end !== null && end <= clock.now())
      return { cause: 'expired', message: `It expired at ${formatSecond(end)}. Expired memories cannot be read.` }
    const [last] = past?.versions ?? []
    // A memory that others can no longer read ends for them without a deletion.
    if (past?.deleted !== true || last?.action !== 'deleted') return NOT_FOUND
    const message = `It was deleted at ${formatSecond(last.at)}. Call restore while its history is retained.`
    return { cause: 'deleted', message }
  }

  /** Causes that do not depend on the query, the decisive one first. */
  function fixedCauses(caller: Caller, call: ExplainedCall, entry: Entry, replaced: Cause | null): Cause[] {
    const { project, asOf, conditions, tool } = call
    const causes: Cause[] = []
    const add = (cause: MissCause, message: string): void => void causes.push({ cause, message })
    if (asOf !== null && entry.createdAt > asOf)
      add('not_stored', `It was stored at ${formatSecond(entry.createdAt)}, after the instant that you ask about.`)
    if (entry.captured)
      add('review', 'It is a captured session that waits for review. Approve it on the page /review of the dashboard.')
    else if (own(entry.metadata, 'diary') === true)
      add('diary', 'It is a page of a diary. Only packs for the agent that wrote it include it.')
    else if (entry.archived) add('archived', 'It is archived. Lists, searches and packs leave archived memories out.')
    else if (tool === 'context' && isWork(entry.kind) && own(entry.metadata, 'status') === 'archived')
      add('archived', 'Its status is "archived". Packs leave archived work out.')
    if (project !== null && entry.project !== null && !homesOf(caller, project).includes(entry.project))
      add(
        'project',
        `It belongs to project ${entry.project}, and the call names project ${project}. Call without a project, or with ${entry.project}.`,
      )
    for (const condition of conditions)
      if (!matches(condition, entry))
        add('filter', `It does not pass the filter ${ARGUMENT_OF[condition.op] ?? 'where'}. Call without this filter.`)
    if (tool !== 'context') return causes
    if (isApproved && !entry.approved)
      add('approval', 'No person has approved its current version, and this server has PACK_TRUST=approved.')
    const end = validUntil(entry.metadata)
    if (end !== null && hasEnded(entry.metadata, asOf ?? clock.now()))
      add('ended', `It was valid until ${formatSecond(end)}. Packs leave ended memories out; search returns them.`)
    return replaced === null ? causes : [...causes, replaced]
  }

  /** The memory that replaces this one within the scope of the call. */
  async function replacedBy(caller: Caller, call: ExplainedCall): Promise<Cause | null> {
    const scope = call.project === null ? caller : { ...caller, projects: homesOf(caller, call.project) }
    const [entry] = (await entries.readWithin(scope, [call.id], MAX_BYTES)).entries
    const other = entry?.supersededBy
    if (other === undefined) return null
    if (call.asOf !== null || isApproved) {
      const [newer] = (await entries.readWithin(scope, [other], MAX_BYTES)).entries
      const isLater = call.asOf !== null && newer !== undefined && newer.createdAt > call.asOf
      // Packs of approved memories disregard a successor that waits for approval.
      if (isLater || (isApproved && newer?.approved === false)) return null
    }
    return {
      cause: 'superseded',
      message: `Memory ${other} supersedes it. Packs show the newer memory instead.`,
      other,
    }
  }

  async function inPack(caller: Caller, pack: PackArguments, call: ExplainedCall): Promise<Ranking> {
    const compiled = await explained(caller, { ...pack, ...(call.asOf === null ? {} : { asOf: call.asOf }) })
    const { outcome, place, score, best, last, repeats }: PackTrace = compiled.trace(call.id)
    /** Of a memory that was replaced after the instant in question: its score decides. */
    const byScore = (): Ranking['outcome'] =>
      score < (best?.score ?? 0) / 2 ? 'cut' : score < (last?.score ?? 0) ? 'rank' : 'shown'
    const isLater = outcome === 'superseded' && call.asOf !== null
    return {
      outcome: isLater ? byScore() : outcome === 'limit' ? 'rank' : outcome,
      ranked: place === null ? null : { id: call.id, place, score },
      ...{ best, last, repeats },
      limit: compiled.pack.total_items,
      warnings: compiled.pack.diagnostics.degraded
        ? ['Meaning or words could not be searched: the ranking is based on the other.']
        : [],
    }
  }

  async function inSearch(caller: Caller, search: ExplainedSearch, call: ExplainedCall): Promise<Ranking> {
    const { query, mode, limit } = search
    const scope = call.project === null ? caller : { ...caller, projects: homesOf(caller, call.project) }
    const until: Filter[] = call.asOf === null ? [] : [{ op: 'created', from: null, to: Math.floor(call.asOf / 1000) }]
    const filter = and([...call.conditions, ...until])
    const request = { query, filter, limit: RANK_DEPTH, offset: 0, previewLength: 1 }
    const page =
      mode === 'words'
        ? { ...(await rankedSearches.byWords(scope, { ...request, mode: 'match', highlight: false })), doubt: 'none' }
        : mode === 'meaning'
          ? { ...(await rankedSearches.byMeaning(scope, request)), doubt: 'none' }
          : await rankedSearches.byBoth(scope, { ...request, ...hybrid })
    const placed = page.ordering.map((one, i): RankedPlace => ({ id: one.id, place: i + 1, score: orderedBy(one) }))
    const ranked = placed.find(({ id }) => id === call.id) ?? null
    const outcome = (): Ranking['outcome'] => {
      if (ranked !== null) return ranked.place <= limit ? 'shown' : 'rank'
      if (page.doubt === 'nothing') return 'doubt'
      return placed.length >= RANK_DEPTH ? 'rank' : 'absent'
    }
    return {
      ...{ outcome: outcome(), ranked, repeats: null, limit, warnings: page.warnings },
      best: placed[0] ?? null,
      last: placed.slice(0, limit).at(-1) ?? null,
    }
  }

  /** Words of the query that the memory holds. */
  function wordsIn(query: string, { title, text }: Entry): string[] {
    const held = new Set(analyzer.tokenize(`${title ?? ''}\n${text.slice(0, LOOKED_AT)}`).map(({ term }) => term))
    const words = analyzer
      .tokenize(query)
      .filter(({ term, isStopWord, pair }) => !isStopWord && !pair && held.has(term))
    return [...new Set(words.map(({ word }) => word))]
  }

  /** Returns the causes that lie in the indexes of the call. */
  function unindexed(call: ExplainedCall, state: EntryState | null): Cause | null {
    const mode = call.tool === 'search' ? call.search.mode : 'hybrid'
    const words = mode !== 'meaning' && hybrid.legs.fts && (state?.hasWords === false || missed().includes('words'))
    const vectors = mode !== 'words' && hybrid.legs.semantic && model !== null && state?.hasVectors === false
    if (!words && !vectors) return null
    const what = words && vectors ? 'Its words and vectors are' : words ? 'Its words are' : 'Its vectors are'
    const otherwise = words === vectors ? '' : ` Until then only ${words ? 'meaning' : 'words'} can find it.`
    return { cause: 'not_indexed', message: `${what} not indexed yet.${otherwise} The server retries by itself.` }
  }

  /** The cause that the ranking states. */
  function rankedCause(call: ExplainedCall, entry: Entry, ranking: Ranking): Cause {
    const { outcome, ranked, best, last, repeats, limit } = ranking
    const query = call.tool === 'context' ? call.pack.goal : call.search.query
    const more = call.tool === 'context' ? 'max_tokens' : 'limit'
    switch (outcome) {
      case 'shown':
      case 'budget':
        return {
          cause: 'budget',
          message: `It is number ${ranked?.place} of the ranking, and the answer has no tokens left for it. Raise ${more}, or narrow the query.`,
        }
      case 'duplicate':
        return {
          cause: 'duplicate',
          message: `It says nearly the same as memory ${repeats}, which the pack shows instead.`,
          ...(repeats === null ? {} : { other: repeats }),
        }
      case 'superseded':
        return { cause: 'superseded', message: 'Another memory supersedes it. Packs show the newer memory instead.' }
      case 'doubt':
        return {
          cause: 'doubt',
          message:
            ranked === null || limit === 0
              ? 'Nothing clearly fits this query, so the call returned nothing for it. Use words of the memory.'
              : 'Nothing clearly fits this goal, so the pack shows only the most similar memories. Use words of the memory.',
        }
      case 'cut':
        return {
          cause: 'cut',
          message: `Its score ${rounded(ranked?.score ?? 0)} is below half of the best (${best?.id}: ${rounded(best?.score ?? 0)}). Packs end there. Use words of the memory, or search.`,
        }
      case 'rank':
        return {
          cause: 'rank',
          message:
            ranked === null
              ? `It is behind the first ${RANK_DEPTH} of the ranking. Use rarer words, or a filter.`
              : `It is number ${ranked.place} of the ranking, and the call returned ${limit}. ${compared(ranked, last)} Raise limit, or use rarer words.`,
        }
      case 'absent': {
        const words = wordsIn(query, entry)
        return words.length === 0
          ? {
              cause: 'no_match',
              message: 'It holds no word of the query, and its meaning is not among the most similar.',
            }
          : {
              cause: 'rank',
              message: `It holds ${words.join(', ')}, and other memories hold more or rarer words of the query. Use rarer words.`,
            }
      }
    }
  }

  return async (caller, call) => {
    const { id, asOf } = call
    const none = { id, returned: false, ranked: null, last: null, notes: [] }
    const [now] = (await entries.readWithin(caller, [id], MAX_BYTES)).entries
    if (now === undefined) return { ...none, causes: [await unreadable(caller, id)] }
    const place = call.returned?.indexOf(id) ?? -1
    if (place >= 0) {
      const message = `The call returned it, as number ${place + 1}.`
      return { ...none, returned: true, causes: [{ cause: 'returned', message }] }
    }
    const then = asOf === null ? [] : (await history.asOf(caller, [id], asOf, MAX_BYTES)).entries
    const entry = then[0] ?? now
    const notes =
      asOf === null ? [] : ['State and filters are those of that instant; texts and ranking are those of today.']
    const [replaced, state] = await Promise.all([
      call.tool === 'context' ? replacedBy(caller, call) : null,
      states.stateOf(caller, id, model),
    ])
    const fixed = fixedCauses(caller, call, entry, replaced)
    if (fixed.length > 0) return { ...none, causes: fixed, notes }
    const ranking = await (call.tool === 'context'
      ? inPack(caller, call.pack, call)
      : inSearch(caller, call.search, call))
    const { ranked, last, outcome } = ranking
    const told = { id, ranked, last, notes: [...notes, ...ranking.warnings] }
    if (outcome === 'shown' && call.returned === null) {
      const message = `A call at that instant returned it, as number ${ranked?.place ?? 1} of its ranking.`
      return { ...told, returned: true, causes: [{ cause: 'returned', message }] }
    }
    const late = ['rank', 'cut', 'doubt', 'absent'].includes(outcome) ? unindexed(call, state) : null
    const cause = rankedCause(call, entry, ranking)
    return { ...told, returned: false, causes: late === null ? [cause] : [late, cause] }
  }
}
