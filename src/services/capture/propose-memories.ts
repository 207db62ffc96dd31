import { type Proposal, proposalPrompt, proposalsIn, SESSION_LENGTH } from '../../domain/capture/proposals'
import { type JsonObject, own } from '../../domain/entry/metadata'
import type { Caller } from '../../domain/identity/scope'
import { DAY_MS } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { Ids } from '../../ports/ids'
import type { MemoryPairs, StoredMemory } from '../../ports/memory-pairs'
import type { ModelCalls } from '../../ports/model-calls'
import type { LanguageModel } from '../../ports/models'
import type { Outbox, WorkItem } from '../../ports/outbox'
import type { Step } from '../maintenance/schedule'
import { attempt, done } from '../outcome'
import type { StoreEntries } from '../writing/entries/store-entries'
import type { UpdateEntries } from '../writing/entries/update-entries'

/** Sessions of one run; each model call may take a minute. */
const SESSIONS = 5
/** Attempts for one session if the model fails or its answer has another form. */
const MOST_ATTEMPTS = 3

/** Metadata that proposals inherit from their session. */
const SHARED = ['audience', 'client', 'branch', 'project', 'expires_at'] as const

/** Returns the metadata of a proposal. It is captured like its session, but never counts as where work was left off. */
function metadataOf(session: StoredMemory, { kind, title, quote, status }: Proposal): JsonObject {
  const shared = SHARED.flatMap((name) => {
    const value = own(session.metadata, name)
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return {
    ...{ ...Object.fromEntries(shared), captured: true, kind, title, quote, work: 'none' },
    ...(status === undefined ? {} : { status }),
  }
}

/**
 * Lets a chat model propose memories at the end of captured sessions (CAPTURE_PROPOSALS), within the daily limit of calls.
 *
 * Proposals are stored in the thread of their session and wait for the same review.
 */
export function proposalStep({
  outbox,
  memories,
  storeEntries,
  updateEntries,
  model,
  calls,
  clock,
  ids,
  log,
}: {
  readonly outbox: Pick<Outbox, 'claim' | 'finish' | 'retry' | 'putOff'>
  readonly memories: MemoryPairs['memories']
  readonly storeEntries: StoreEntries
  readonly updateEntries: (...args: Parameters<UpdateEntries>) => ReturnType<UpdateEntries>
  readonly model: LanguageModel
  readonly calls: ModelCalls
  readonly clock: Clock
  readonly ids: Ids
  readonly log: (event: string, fields: Record<string, unknown>) => void
}): Step {
  /** Returns the owner whose key captured the session, limited to its project. */
  const callerOf = ({ org, owner, createdBy, agent, project }: StoredMemory): Caller => ({
    ...{ org, owner, keyId: createdBy, agent, role: 'writer', projects: project === null ? null : [project] },
    ...{ action: 'hooks', tool: null, changeId: ids.next() },
  })

  /** Stores the proposals of a session. @returns their number; null if the session changed after the model read it */
  async function store(session: StoredMemory, proposals: readonly Proposal[]): Promise<number | null> {
    const { id, version } = session
    // Marked first, so that a session never gets its proposals twice.
    const metadataPatch = { proposed: proposals.length }
    const marked = await attempt(() =>
      updateEntries(callerOf(session), [done({ id, expectedVersion: version, metadataPatch })], true),
    )
    if (!marked.ok || marked.value[0]?.ok !== true) return null
    if (proposals.length === 0) return 0
    const drafts = proposals.map((proposal) =>
      done({
        ...{ threadId: session.threadId, source: 'agent' as const, text: proposal.content, captured: true as const },
        metadata: metadataOf(session, proposal),
        tags: proposal.tags,
        related: [{ relation: 'derived_from' as const, to: id }],
      }),
    )
    await storeEntries(callerOf(session), drafts, { atomic: true, dedupe: false })
    return proposals.length
  }

  async function propose(item: WorkItem): Promise<{ readonly stored: number; readonly isOver: boolean }> {
    const [session] = await memories([Number(item.key)], SESSION_LENGTH)
    const waits = session?.captured === true && own(session.metadata, 'proposed') === undefined
    if (session === undefined || !waits || item.attempts > MOST_ATTEMPTS) {
      await outbox.finish([item])
      return { stored: 0, isOver: false }
    }
    if (!(await calls.take())) {
      await outbox.putOff([item], (Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS)
      return { stored: 0, isOver: true }
    }
    const answer = await attempt(() => model.answer(proposalPrompt(session.text)))
    const proposals = answer.ok ? proposalsIn(answer.value, session.text) : null
    const stored = proposals === null ? null : await store(session, proposals)
    if (stored === null) {
      const reason = answer.ok ? 'the answer has no proposals, or the session has changed' : answer.problem.message
      log('proposals_not_made', { org: session.org, reason })
      await outbox.retry([item], reason)
      return { stored: 0, isOver: false }
    }
    await outbox.finish([item])
    return { stored, isOver: false }
  }

  return {
    name: 'proposals of sessions',
    every: 0,
    rounds: SESSIONS,
    round: async () => {
      const [item] = await outbox.claim([{ topic: 'propose', limit: 1 }])
      if (item === undefined) return { done: 0, next: null }
      const { stored, isOver } = await propose(item)
      return { done: stored, next: isOver ? null : 'more' }
    },
  }
}
