// What is a model told at the start of a session, and at a prompt?

import {
  promptText,
  START_SECTIONS,
  type StartEntry,
  type StartMemories,
  startText,
} from '../../domain/capture/recalled'
import type { HookEvent } from '../../domain/capture/request'
import type { Gathered } from '../../domain/capture/session-state'
import type { Scope } from '../../domain/identity/scope'
import { recallFilter } from '../../domain/recall/filter'
import { and } from '../../domain/search/filter'
import { sha256Hex } from '../../domain/text'
import { addressesAgent } from '../../domain/trust/agent-directed'
import type { CaptureStore, StartPlace } from '../../ports/capture'
import type { Recall } from '../searching/memories/recall'
import type { OwnSessions } from './own-sessions'
import { threadOfSession } from './write-session'

/** Curated entries at one prompt, and what is looked at so that some of them are new to the session. */
const MAX_RECALLED = 3
const LOOKED_AT = 12
/**
 * Memories that each leg keeps, a quarter of a recall's: a client asks with each prompt, and what has its place among the first twelve is
 * hardly behind the first fifty by words and by meaning both. D1 reads 1,700 rows for it among 10,000, with 200 4,300.
 */
const KEPT = 50
/** Similarity from which an entry is recalled (fabric contract §4). */
const THRESHOLD = 0.7
/** Characters that prompts of one session bring. */
const BUDGET = 6_000
/** Of a prompt, what is looked for. */
const QUERY = 2_000
const BYTES = 200_000

/** A text for a model, and the entries that it tells; empty for nothing. */
export interface ForModel {
  readonly text: string
  readonly ids: readonly number[]
}

const NOTHING: ForModel = { text: '', ids: [] }

export type RecallForHooks = ReturnType<typeof createRecallForHooks>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createRecallForHooks({
  store,
  recall,
  own,
  isApproved = false,
}: {
  readonly store: CaptureStore
  readonly recall: Pick<Recall, 'page'>
  /** Captured sessions of the owner that are not approved. */
  readonly own: Pick<OwnSessions, 'about'>
  /** Whether only entries count of which a person has approved the current version (PACK_TRUST=approved). */
  readonly isApproved?: boolean
}) {
  /** Of these entries, those that address an agent and that no person has approved. */
  async function unapproved(
    scope: Scope,
    entries: readonly Pick<StartEntry, 'id' | 'title' | 'text'>[],
  ): Promise<ReadonlySet<number>> {
    const ids = entries.filter(addressesAgent).map(({ id }) => id)
    if (ids.length === 0) return new Set()
    const approved = await store.approved(scope, ids)
    return new Set(ids.filter((id) => !approved.has(id)))
  }

  /** Whether an entry of these, as a successor, replaces another one: where approved entries count alone, one that is approved. */
  async function replacing(scope: Scope, ids: readonly number[]): Promise<(id: number) => boolean> {
    if (!isApproved) return () => true
    const approved = await store.approved(scope, ids)
    return (id) => approved.has(id)
  }

  /** Without entries that address an agent, unless a person has approved them. */
  async function trusted(scope: Scope, standing: StartMemories): Promise<StartMemories> {
    const { facets, leftOff, before = [] } = standing
    const sessions = leftOff === null ? [] : [leftOff, ...before]
    const isLeftOut = await unapproved(scope, [...Object.values(facets).flat(), ...sessions])
    if (isLeftOut.size === 0) return standing
    const kept = START_SECTIONS.map((facet) => [facet, facets[facet].filter(({ id }) => !isLeftOut.has(id))] as const)
    return {
      facets: Object.fromEntries(kept) as unknown as StartMemories['facets'],
      ...(([last = null, ...rest]) => ({ leftOff: last, before: rest }))(
        sessions.filter(({ id }) => !isLeftOut.has(id)),
      ),
    }
  }

  /**
   * What stands. A client that replays what a session held is told nothing again, unless something is new since the last start there.
   *
   * @param notes whether the start is noted, so that the next one knows
   */
  async function atStart(
    scope: Scope,
    session: string,
    { place, happening }: HookEvent,
    notes: boolean,
  ): Promise<ForModel> {
    const standing = await trusted(scope, await store.startMemories(scope, place, threadOfSession(session), isApproved))
    const start = startText(standing, place.project)
    const digest = await sha256Hex(start.text)
    const isAgain = happening.what.kind === 'start' && happening.what.source === 'again'
    const isSame = isAgain && (await store.lastStart(scope, place)) === digest
    if (notes && !isSame) await store.noteStart(scope, place, digest)
    return isSame ? NOTHING : start
  }

  /** At most three entries about a prompt that are new to the session: memories, and behind them one captured session of the owner. */
  async function atPrompt(
    scope: Scope,
    prompt: string,
    { place }: HookEvent,
    known: Gathered | null,
    thread: string,
  ): Promise<ForModel> {
    const { ids: seen = [], chars = 0 } = known?.recalled ?? {}
    const query = prompt.slice(0, QUERY).trim()
    if (query === '' || chars >= BUDGET) return NOTHING
    const ofPlace = recallFilter({ kinds: [], layers: [], tags: [], project: place.project, merged: scope.merged })
    const filter = isApproved ? and([ofPlace, { op: 'approved' }]) : ofPlace
    const asked = recall.page(
      scope,
      {
        ...{ query, mode: 'hybrid', filter, threshold: THRESHOLD, kept: KEPT, project: place.project },
        ...{ offset: 0, limit: LOOKED_AT },
      },
      BYTES,
    )
    const [page, session] = await Promise.all([asked, isApproved ? null : own.about(scope, query, ofPlace, THRESHOLD)])
    const memories = page.results.map(({ memory }) => memory)
    const isReplaced = await replacing(
      scope,
      memories.flatMap(({ supersededBy }) => supersededBy ?? []),
    )
    const found = memories.filter(
      ({ id, layer, supersededBy }) =>
        layer !== 1 && (supersededBy === undefined || !isReplaced(supersededBy)) && !seen.includes(id),
    )
    const isNew = session !== null && !seen.includes(session.id) && session.threadId !== thread
    const offered = isNew && found.length < MAX_RECALLED ? [...found, session] : found
    const isLeftOut = await unapproved(scope, offered)
    const fresh = offered.filter(({ id }) => !isLeftOut.has(id))
    return promptText(fresh.slice(0, MAX_RECALLED), BUDGET - chars)
  }

  /**
   * The text for a subagent, whose context is empty: entries about its task, then those of a start. "Where we left off" is for the session
   * itself.
   */
  async function atSubagent(scope: Scope, task: string, event: HookEvent, thread: string): Promise<ForModel> {
    const read = await trusted(scope, await store.startMemories(scope, event.place, thread, isApproved))
    const about = await atPrompt(scope, task, event, null, thread)
    const isKnown = new Set(about.ids)
    const rest = START_SECTIONS.map(
      (facet) => [facet, read.facets[facet].filter(({ id }) => !isKnown.has(id))] as const,
    )
    const facets = Object.fromEntries(rest) as unknown as StartMemories['facets']
    const start = startText({ facets, leftOff: null }, event.place.project)
    return {
      text: [about.text, start.text].filter((text) => text !== '').join('\n'),
      ids: [...about.ids, ...start.ids],
    }
  }

  return {
    atStart,
    atPrompt,
    atSubagent,
    /** The entries that a session starts with, by section; texts that address an agent are left out until approved. */
    standing: async (scope: Scope, place: StartPlace): Promise<StartMemories> =>
      trusted(scope, await store.startMemories(scope, place, null, isApproved)),
  }
}
