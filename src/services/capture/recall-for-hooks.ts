import type { HookEvent } from '../../domain/capture/hook-request'
import {
  promptText,
  START_SECTIONS,
  type StartEntry,
  type StartMemories,
  startText,
} from '../../domain/capture/recall-text'
import type { SessionState } from '../../domain/capture/session-state'
import { sourceNote } from '../../domain/entry/citation'
import type { Scope } from '../../domain/identity/scope'
import { recallFilter } from '../../domain/recall/recall-filter'
import { and } from '../../domain/search/filter'
import { sha256Hex } from '../../domain/text'
import { addressesAgent } from '../../domain/trust/agent-directed'
import type { CaptureStore, StartPlace } from '../../ports/capture'
import type { Recall } from '../searching/memories/recall'
import type { OwnSessions } from './own-sessions'
import { threadOfSession } from './write-session'

/** Memories shown at one prompt, and candidates that are checked, since a session may have seen some already. */
const MAX_RECALLED = 3
const HIGHLIGHT_LIMIT = 12
/** Candidates that each retriever returns. Few are enough, and each prompt of a client costs their rows. */
const KEPT = 50
/** Minimum similarity of a recalled entry (fabric contract §4). */
const THRESHOLD = 0.7
/** Maximum characters shown at the prompts of one session. */
const BUDGET = 6_000
/** Characters of a prompt that are searched for. */
const QUERY = 2_000
const BYTES = 200_000

/** A text for a model, and the IDs of the entries in it; empty for nothing. */
export interface ForModel {
  readonly text: string
  readonly ids: readonly number[]
  /** Cited lines of the entries in the text, which the hook program compares with the files; at the start of a session. */
  readonly cited?: readonly CitedLines[]
}

/** Cited lines of a memory, of which no check has found a change. */
export interface CitedLines {
  readonly id: number
  readonly path: string
  readonly lines: string
  readonly hash: string
  readonly around?: string
}

/** Citations that the hook program compares at the start of a session. */
const MOST_CITED = 20

/** Returns the cited lines of entries that a text contains. */
function citedBy({ facets }: StartMemories, ids: readonly number[]): CitedLines[] {
  const entries = new Map(Object.values(facets).flatMap((some) => some.map((entry) => [entry.id, entry] as const)))
  return ids
    .flatMap((id) =>
      (entries.get(id)?.sources ?? []).flatMap(({ path, lines, hash, around, changed_at: changedAt }) =>
        hash === undefined || changedAt !== undefined
          ? []
          : [{ id, path, lines, hash, ...(around === undefined ? {} : { around }) }],
      ),
    )
    .slice(0, MOST_CITED)
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
  /** Whether only entries count whose current version a person has approved (PACK_TRUST=approved). */
  readonly isApproved?: boolean
}) {
  /** Returns the entries that address an agent and are not approved by a person. */
  async function unapproved(
    scope: Scope,
    entries: readonly Pick<StartEntry, 'id' | 'title' | 'text'>[],
  ): Promise<ReadonlySet<number>> {
    const ids = entries.filter(addressesAgent).map(({ id }) => id)
    if (ids.length === 0) return new Set()
    const approved = await store.approved(scope, ids)
    return new Set(ids.filter((id) => !approved.has(id)))
  }

  /** Returns a test whether a successor replaces its predecessor: with PACK_TRUST=approved, only if it is approved itself. */
  async function replacing(scope: Scope, ids: readonly number[]): Promise<(id: number) => boolean> {
    if (!isApproved) return () => true
    const approved = await store.approved(scope, ids)
    return (id) => approved.has(id)
  }

  /** Removes entries that address an agent, unless a person has approved them. */
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
   * Returns the text for the start of a session.
   *
   * A resumed session gets it only if it has changed since the last start there.
   *
   * @param notes whether to record the start for the next one
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
    return isSame ? NOTHING : { ...start, cited: citedBy(standing, start.ids) }
  }

  /**
   * Returns at most three entries about a prompt that are new to the session: memories first, then one captured session of the
   * owner.
   */
  async function atPrompt(
    scope: Scope,
    prompt: string,
    { place }: HookEvent,
    known: SessionState | null,
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
        ...{ offset: 0, limit: HIGHLIGHT_LIMIT },
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
    const noted = fresh.slice(0, MAX_RECALLED).map((entry) => ({ ...entry, note: sourceNote(entry.metadata) }))
    return promptText(noted, BUDGET - chars)
  }

  /**
   * Returns the text for a subagent, whose context is empty: entries about its task, then those of a start.
   *
   * "Where we left off" is only for the session itself.
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
    /** Returns the entries that a session starts with, by section. Texts that address an agent are left out until approved. */
    standing: async (scope: Scope, place: StartPlace): Promise<StartMemories> =>
      trusted(scope, await store.startMemories(scope, place, null, isApproved)),
  }
}
