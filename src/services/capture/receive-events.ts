import type { HookClient } from '../../domain/capture/hook-event'
import { CHECKPOINT_EVERY_MS, hasExpired, SESSION_LEASE_MS, SILENT_MS } from '../../domain/capture/hook-event'
import type { HookEvent, HookRequest } from '../../domain/capture/hook-request'
import { MOST_WAITING } from '../../domain/capture/review'
import { initialState, type SessionState, withEvent, withShown } from '../../domain/capture/session-state'
import { type Attachment, PendingNames } from '../../domain/identity/project-attachment'
import { NamesChanged } from '../../domain/identity/project-resolution'
import { mayAct, type Principal } from '../../domain/identity/scope'
import { firstCodePoints } from '../../domain/text'
import type { CapturedSession, CaptureStore } from '../../ports/capture'
import type { Clock } from '../../ports/clock'
import { attempt, withRetries } from '../outcome'
import type { ResolveNames } from '../people/project-names'
import type { CitedLines, ForModel, RecallForHooks } from './recall-for-hooks'
import { type SessionCounts, threadOfSession, type WriteSession } from './write-session'

export interface Received {
  readonly stored: number
  readonly repeated: number
  /** The output that the client prints, in its own format; null for none. */
  readonly output: Record<string, unknown> | null
  /** Cited lines of the memories in the output, at a start. */
  readonly cited: readonly CitedLines[]
  readonly notice: string | null
  /** Counts of the last session that this request wrote; null if it wrote none. For the person only. */
  readonly memory: (SessionCounts & { readonly session: string }) | null
  /** At a start, the number of sessions that await review (at most 100); otherwise null. */
  readonly waiting: number | null
  /** At a start, the number of proposals by the session's ID, of sessions that await review and have proposals. */
  readonly proposed: Readonly<Record<string, number>>
}

/** Maximum characters of a client's session ID. Thread names have at most 256. */
const LONGEST_SESSION = 200

/** Sessions that one request writes. Each needs several statements, and a request on D1 may execute a thousand. */
const MOST_WRITTEN = 10

/**
 * Attempts to write the row of a session.
 *
 * Clients run many tools at once, so that requests of one session conflict. One of them succeeds each time.
 */
const TRIES = 32

const NOT_CAPTURED = 'this key does not capture sessions (capture: false); memory is recalled'

const NOWHERE = { project: null, remote: null, folder: null }

/** Attempts to resolve names that change while they are added. */
const RESOLVED = 5

export type ReceiveEvents = ReturnType<typeof createReceiveEvents>

/** A session with the events that just arrived. */
interface Touched {
  readonly session: CapturedSession
  readonly events: readonly HookEvent[]
  readonly gathered: SessionState
  readonly writes: boolean
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createReceiveEvents({
  store,
  recall,
  writeSession,
  names,
  attach,
  captureDays,
  clock,
}: {
  readonly store: CaptureStore
  readonly names: Pick<ResolveNames, 'places'>
  /** Adds names. @throws NamesChanged */
  readonly attach: (by: Principal, pending: PendingNames) => Promise<void>
  readonly recall: RecallForHooks
  readonly writeSession: WriteSession
  /** Days that captured sessions are retained; 0 captures nothing. */
  readonly captureDays: number
  readonly clock: Clock
}) {
  const nameOf = (client: string, { happening }: HookEvent): string =>
    `${client}:${firstCodePoints(happening.session, LONGEST_SESSION)}`

  /** Returns the event with the project where it may be stored; null if the key has no access. */
  function placed(by: Principal, event: HookEvent, key: string | null): HookEvent | null {
    const { named: _, ...place } = event.place
    if (key !== null) return { ...event, place: { ...place, project: key } }
    if (by.projects === null) return { ...event, place }
    const [only] = by.projects
    return place.project === null && only !== undefined && by.projects.length === 1
      ? { ...event, place: { ...place, project: only } }
      : null
  }

  /** Returns events with their projects, the keys of merged projects, and the names that captured events add. */
  async function resolved(by: Principal, events: readonly HookEvent[], isFresh: boolean) {
    const merged = new Map<string, readonly string[]>()
    const given = new Map<string, Attachment>()
    const places = new Map(events.map(({ place: { named } }) => [JSON.stringify(named ?? NOWHERE), named ?? NOWHERE]))
    const { version, found } = await names.places(by, [...places.values()], isFresh)
    const projects = new Map([...places.keys()].map((id, i) => [id, found[i] ?? null]))
    const open = events.map((event) => {
      const project = projects.get(JSON.stringify(event.place.named ?? NOWHERE)) ?? null
      if (project !== null && project.homes.length > 1) merged.set(project.key, project.homes)
      if (event.place.captures)
        for (const one of project?.attachments ?? []) given.set(`${one.name.normal}\n${one.home}`, one)
      return { event, here: placed(by, event, project?.key ?? null) }
    })
    return { open, merged, pending: new PendingNames(version, [...given.values()]) }
  }

  /**
   * Reports whether a session must be written now: its turn ended, or its context ends or is compacted.
   *
   * A session whose writer died is due with its next event of any kind.
   */
  function isDueNow({ written, claimedAt }: CapturedSession, events: readonly HookEvent[]): boolean {
    const now = clock.now()
    if (written?.closed) return false
    if (claimedAt !== null) return claimedAt <= now - SESSION_LEASE_MS
    const isIdle = written === null || now - written.at >= CHECKPOINT_EVERY_MS
    return events.some(
      ({ happening: { what, isSubagent } }) =>
        !isSubagent && (what.kind === 'compact' || what.kind === 'end' || (what.kind === 'stop' && isIdle)),
    )
  }

  /** Reports whether the entry of the collected state has expired, so that new events start from scratch. */
  const isOver = ({ written, gathered }: CapturedSession): boolean =>
    written !== null && gathered.place.at <= written.at && hasExpired(written, captureDays, clock.now())

  function touch(client: string, known: readonly CapturedSession[], fresh: readonly HookEvent[]): Touched[] {
    const bySession = Map.groupBy(fresh, (event) => nameOf(client, event))
    let writing = 0
    return [...bySession].map(([name, events]) => {
      const first = events[0] as HookEvent
      const session = known.find((one) => one.name === name) ?? {
        ...{
          name,
          revision: 0,
          written: null,
          claimedAt: null,
          dueAt: null,
          gathered: initialState(first.place, first.at),
        },
      }
      const gathered = events.reduce(
        (all, { happening, place, at }) => withEvent(all, happening, place, at),
        isOver(session) ? initialState(first.place, first.at) : session.gathered,
      )
      // The schedule writes further sessions.
      const writes = writing < MOST_WRITTEN && isDueNow(session, events)
      if (writes) writing++
      return { session, events, gathered, writes }
    })
  }

  const withRecalled = (
    gathered: SessionState,
    { happening: { what }, at }: HookEvent,
    { ids, text }: ForModel,
  ): SessionState => {
    const { recalled } = gathered
    // A subagent has its own context.
    if (what.kind === 'agent') return withShown(gathered, ids, at)
    // A cleared or compacted session has lost what it was shown.
    const before = what.kind === 'start' && what.source === 'anew' ? [] : recalled.ids
    const chars = recalled.chars + (what.kind === 'prompt' ? text.length : 0)
    return withShown({ ...gathered, recalled: { ids: [...new Set([...before, ...ids])], chars } }, ids, at)
  }

  /** Returns the text for the model, if the client accepts it; null if the event asks no question. */
  async function recalled(
    by: Principal,
    hooks: HookClient,
    client: string,
    event: HookEvent,
    known: SessionState | null,
    notes: boolean,
  ) {
    const { what, isSubagent, name } = event.happening
    const thread = threadOfSession(nameOf(client, event))
    if (what.kind === 'agent') {
      if (hooks.answer.agent === undefined) return null
      // A subagent without its own task works on the last prompt.
      const task = what.task ?? known?.prompts.told.at(-1)?.text ?? ''
      const found = await attempt(() => recall.atSubagent(by, task, event, thread))
      return found.ok ? found.value : null
    }
    if (isSubagent || (what.kind !== 'start' && what.kind !== 'prompt')) return null
    const takes = what.kind === 'start' ? hooks.answer.start : hooks.answer.prompt
    if (takes('', name) === null) return null
    if (what.kind === 'start') return recall.atStart(by, nameOf(client, event), event, notes)
    // A prompt continues without memory if the recall fails.
    const found = await attempt(() => recall.atPrompt(by, what.text, event, known, thread))
    return found.ok ? found.value : null
  }

  /** Formats a text for the client. */
  function shaped(hooks: HookClient, { happening }: HookEvent, text: string | null): Record<string, unknown> | null {
    if (text === null || text === '') return hooks.answer.empty?.(happening) ?? null
    const { what, name } = happening
    if (what.kind === 'agent') return hooks.answer.agent?.(text, name) ?? null
    return what.kind === 'start' ? hooks.answer.start(text, name) : hooks.answer.prompt(text, name)
  }

  const noticeOf = ({ unread, events }: HookRequest, closed: ReadonlySet<string>, captures: boolean): string | null => {
    const isStart = events.some(({ happening }) => happening.what.kind === 'start')
    const parts = [
      ...(captures || !isStart ? [] : [NOT_CAPTURED]),
      ...(unread === 0 ? [] : [`${unread} ${unread === 1 ? 'event was' : 'events were'} unknown or incomplete`]),
      ...[...closed].map((project) =>
        project === ''
          ? 'events without a project are not open to this key'
          : `project ${project} is not open to this key`,
      ),
    ]
    return parts.length === 0 ? null : parts.join('; ')
  }

  /**
   * Stores new events, answers the event that expects an answer, and writes the sessions that are due.
   *
   * Takes two round trips without an answer. A client that only reads causes no write.
   */
  return async (caller: Principal, client: string, hooks: HookClient, request: HookRequest): Promise<Received> => {
    const isCapturing = captureDays > 0 && caller.captures !== false && mayAct(caller.role, 'writer')
    const { open, merged } = await inProjects(caller, request.events, isCapturing)
    const by: Principal = merged.size === 0 ? caller : { ...caller, merged }
    const closed = new Set(open.flatMap(({ event, here }) => (here === null ? [event.place.project ?? ''] : [])))
    const events = open.flatMap(({ here }) => (here === null ? [] : [here]))
    const notice = noticeOf(request, closed, caller.captures !== false)
    const asked = events.find(({ id }) => id === request.answer) ?? null
    const kept = isCapturing ? events.filter(({ place }) => place.captures) : []
    const alone = async (message: string | null): Promise<Received> => {
      const recall = asked && (await recalled(by, hooks, client, asked, null, false))
      const output = asked && shaped(hooks, asked, recall?.text ?? null)
      const cited = recall?.cited ?? []
      return { stored: 0, repeated: 0, output, cited, notice: message, memory: null, waiting: null, proposed: {} }
    }
    if (kept.length === 0) return alone(notice)
    const outcome = await attempt(() => withRetries(() => keep(by, hooks, client, kept, asked), TRIES))
    // If the store is full, the model still gets its memories, and the person gets a notice.
    if (!outcome.ok && outcome.problem.code === 'limit_exceeded') return alone(outcome.problem.message)
    if (!outcome.ok) throw outcome.problem
    const received = outcome.value
    const failed: string[] = []
    let memory: Received['memory'] = null
    for (const { session, gathered, writes } of received.touched) {
      if (!writes) continue
      const written = await attempt(() => writeSession(by, { ...session, revision: session.revision + 1, gathered }))
      if (written.ok) memory = { session: session.name.slice(client.length + 1), ...written.value }
      else failed.push(written.problem.message)
    }
    const message = [...(notice === null ? [] : [notice]), ...failed].join('; ')
    const { stored, output, cited } = received
    const sessions = received.waiting ?? []
    const proposed = Object.fromEntries(
      sessions.flatMap(({ name, proposed: count }) =>
        count > 0 && name.startsWith(`${client}:`) ? [[name.slice(client.length + 1), count]] : [],
      ),
    )
    const waiting = received.waiting?.length ?? null
    const again = request.again.filter((id) => kept.some((event) => event.id === id)).length
    const repeated = kept.length - stored + again
    return { stored, repeated, output, cited, notice: message === '' ? null : message, memory, waiting, proposed }
  }

  /** Resolves and adds the names; repeats if the directory changed in between. */
  async function inProjects(by: Principal, events: readonly HookEvent[], isCapturing: boolean) {
    for (let attempt = 1; ; attempt++) {
      const found = await resolved(by, events, attempt > 1)
      if (!isCapturing || found.pending.attachments.length === 0) return found
      try {
        await attach(by, found.pending)
        return found
      } catch (error) {
        if (!(error instanceof NamesChanged)) throw error
        // The events are stored anyway; the next event adds the names.
        if (attempt === RESOLVED) return found
      }
    }
  }

  async function keep(
    by: Principal,
    hooks: HookClient,
    client: string,
    events: readonly HookEvent[],
    asked: HookEvent | null,
  ) {
    const names = [...new Set(events.map((event) => nameOf(client, event)))]
    const ids = [...new Set([...events.map(({ id }) => id), ...(asked === null ? [] : [asked.id])])]
    const known = await store.known(by, ids, names)
    const fresh = events.filter(({ id }) => !known.events.has(id))
    const isRepeated = asked !== null && known.events.has(asked.id)
    const before = asked && (known.sessions.find(({ name }) => name === nameOf(client, asked))?.gathered ?? null)
    const notes = asked?.place.captures === true
    const isStart = events.some(({ happening }) => happening.what.kind === 'start')
    // Both queries start together to share a round trip.
    const [recall, waiting] = await Promise.all([
      asked === null || isRepeated ? null : recalled(by, hooks, client, asked, before, notes),
      isStart ? store.waiting(by, MOST_WAITING) : null,
    ])
    const text = isRepeated ? (known.events.get(asked.id) ?? null) : (recall?.text ?? null)
    const touched = touch(client, known.sessions, fresh)
    const now = clock.now()
    if (fresh.length > 0)
      await store.store(by, by, {
        events: fresh.map(({ id }) => ({ id, output: id === asked?.id ? text || null : null })),
        sessions: touched.map(({ session, events: own, gathered, writes }) => ({
          name: session.name,
          revision: session.revision,
          gathered: recall && asked && own.includes(asked) ? withRecalled(gathered, asked, recall) : gathered,
          claimedAt: writes ? now : session.claimedAt,
          dueAt: session.written?.closed ? null : session.dueAt === null ? now + SILENT_MS : 'stays',
        })),
      })
    const cited = recall?.cited ?? []
    return { touched, stored: fresh.length, output: asked && shaped(hooks, asked, text), cited, waiting }
  }
}
