import { type CursorSeal, staleCursor } from '../../../domain/history/cursor'
import { type FeedChange, type FeedFilter, MAX_FEED_LIMIT, UNFILTERED_FEED } from '../../../domain/history/feed'
import type { Scope } from '../../../domain/identity/scope'
import type { Millis } from '../../../domain/time'
import type { ChangeNotifier, Listener, OpenStream, Woken } from '../../../ports/change-notifier'
import type { Clock } from '../../../ports/clock'
import type { ChangeFeed, FeedPage, FeedStart, NewestChanges } from '../../../ports/history'
import type { LastSeen, Visitor } from '../../../ports/memories'

/** Interval of database reads while a caller waits: a notifier that fails delays news by no more. */
const LOOK_MS = 7_500
/** Minimum interval of database reads without a notification. */
const LEAST_MS = 5_000
/** Pause after a notification without a visible change. */
const FRUITLESS_MS = 1_000
/** Streams that one key may have open at the same time. */
const MAX_STREAMS = 10

/** Session name under which the last call of each owner's agent is recorded. */
const CALLS = '#changes'
const OVERLAP_MS = 1_000

export type { FeedPage } from '../../../ports/history'

export interface ListRequest {
  /** A cursor, `start`, or undefined for future changes only. */
  readonly after: string | undefined
  /** Milliseconds since 1970. Starts with the first change at or after this time, instead of `after`. */
  readonly since?: Millis
  readonly filter: FeedFilter
  readonly limit: number
  /** Maximum time to wait for a change; 0 to answer immediately. */
  readonly waitMs: Millis
}

export interface NewestRequest extends Omit<NewestChanges, 'before'> {
  /** The cursor `older` of the page before; null for the first page. */
  readonly before: string | null
}

export interface ChangesPage {
  readonly changes: readonly FeedChange[]
  /** The cursor for the next call. */
  readonly next: string
  readonly more: boolean
}

interface Following {
  /** Filters of which any match wakes the follower. */
  readonly filters: readonly FeedFilter[]
  readonly stream: OpenStream
}

/** The change feed for callers: with cursors instead of positions, and with waiting. */
export interface Changes {
  /**
   * Lists changes.
   *
   * @throws Problem invalid_input for an invalid or expired cursor
   * @example
   * await services.changes.list(principal, { after: 'start', filter: { threadId: null, project: null, actions: null }, limit: 50, waitMs: 0 })
   */
  list(scope: Scope, request: ListRequest): Promise<ChangesPage>
  /** Returns at most `limit` newest changes, newest first, and the cursor after them. */
  latest(scope: Scope, limit: number, filter?: FeedFilter): Promise<Omit<ChangesPage, 'more'>>
  /**
   * Returns changes newest first, with the cursor after the newest of all, and one for the changes before these; null at the end.
   *
   * @throws Problem invalid_input for an invalid cursor
   */
  newest(scope: Scope, request: NewestRequest): Promise<Omit<ChangesPage, 'more'> & { readonly older: string | null }>
  /** Returns the position where a stream starts. @throws Problem as `list` */
  start(scope: Scope, after: string | undefined): Promise<FeedStart>
  /** Yields pages as they arrive, and an empty one from time to time. Runs until the consumer stops. */
  follow(scope: Scope, from: FeedStart, following: Following): AsyncGenerator<FeedPage, never>
  seal(scope: Scope, position: number): Promise<string>
  /**
   * Returns the last call of the caller's agent.
   *
   * `since` is one second before that call, because a change in progress may be listed later (milliseconds since 1970; null for a
   * first call). `note` records a call at the current time, without audit or version.
   */
  lastCall(
    visitor: Visitor,
    project: string | null,
  ): Promise<{ readonly since: Millis | null; readonly note: () => Promise<void> }>
  /** Reports whether the key may open another stream. Close it with `leave`. */
  admit(scope: Scope, stream: OpenStream): Promise<boolean>
  leave(scope: Scope, stream: OpenStream): Promise<void>
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createChanges(dependencies: {
  readonly feed: ChangeFeed
  readonly bell: ChangeNotifier
  /** Returns the seal of the deployment. */
  readonly seal: () => Promise<CursorSeal>
  readonly sightings: LastSeen
  readonly clock: Clock
  readonly sleep: (ms: Millis) => Promise<void>
}): Changes {
  const { feed, bell, seal, sightings, clock, sleep } = dependencies

  /** Sends the notifier only the fields that decide visibility. */
  const listening = (
    { org, projects, owner }: Scope,
    filters: readonly FeedFilter[],
    stream?: OpenStream,
  ): Listener => ({
    scope: { org, projects, owner },
    filters,
    ...(stream === undefined ? {} : { stream }),
  })

  /** Waits for a notification or until the time has passed. */
  async function rest(listener: Listener, mark: string | null, ms: Millis): Promise<Woken & { heard: boolean }> {
    const { org } = listener.scope
    const until = clock.now() + ms
    const woken = mark === null ? null : await bell.wait(org, listener, mark, ms)
    if (woken !== null) return { ...woken, heard: true }
    await sleep(Math.max(0, until - clock.now()))
    return { notified: false, mark: (await bell.mark(org)) ?? '', heard: false }
  }

  async function start({ org }: Scope, after: string | undefined): Promise<FeedStart> {
    if (after === undefined) return 'now'
    if (after === 'start') return 'start'
    const position = await (await seal()).open(org, after)
    if (position === null) throw staleCursor()
    return position
  }

  /** Returns the first page that is not empty, or the last one before the time has passed. */
  async function awaited(scope: Scope, from: FeedStart, { filter, limit, waitMs }: ListRequest): Promise<FeedPage> {
    const listener = listening(scope, [filter])
    let mark = waitMs > 0 ? await bell.mark(scope.org) : null
    let page = await feed.page(scope, filter, from, limit)
    const deadline = clock.now() + waitMs
    let looked = clock.now()
    for (let left = waitMs; left > 0 && page.changes.length === 0; left = deadline - clock.now()) {
      const woken = await rest(listener, mark, Math.min(left, LOOK_MS))
      mark = woken.mark
      if (!woken.notified && clock.now() - looked < LEAST_MS) continue
      page = await feed.page(scope, filter, page.next, limit)
      looked = clock.now()
      if (woken.notified && page.changes.length === 0)
        await sleep(Math.max(0, Math.min(FRUITLESS_MS, deadline - clock.now())))
    }
    return page
  }

  return {
    start,

    async list(scope, request) {
      const from =
        request.since === undefined ? await start(scope, request.after) : await feed.position(scope, request.since)
      const page = await awaited(scope, from, request)
      return { changes: page.changes, next: await (await seal()).seal(scope.org, page.next), more: page.more }
    },

    async latest(scope, limit, filter) {
      const [{ changes, next }, sealing] = await Promise.all([feed.latest(scope, limit, filter), seal()])
      return { changes, next: await sealing.seal(scope.org, next) }
    },

    async newest(scope, { before, ...request }) {
      const sealing = await seal()
      const position = before === null ? null : await sealing.open(scope.org, before)
      if (before !== null && position === null) throw staleCursor()
      const { changes, next, older } = await feed.newest(scope, { ...request, before: position })
      return {
        changes,
        next: await sealing.seal(scope.org, next),
        older: older === null ? null : await sealing.seal(scope.org, older),
      }
    },

    async *follow(scope, from, { filters, stream }) {
      const [only, ...others] = filters
      // With several filters, each selects its own changes from the visible ones.
      const filter = only !== undefined && others.length === 0 ? only : UNFILTERED_FEED
      const listener = listening(scope, filters, stream)
      let mark = await bell.mark(scope.org)
      let page = await feed.page(scope, filter, from, MAX_FEED_LIMIT)
      for (;;) {
        yield page
        let notified = false
        if (!page.more) {
          const woken = await rest(listener, mark, LOOK_MS)
          ;({ notified, mark } = woken)
        }
        page = await feed.page(scope, filter, page.next, MAX_FEED_LIMIT)
        if (notified && page.changes.length === 0) await sleep(FRUITLESS_MS)
      }
    },

    async lastCall(visitor, project) {
      const visit = { project, sessionId: CALLS }
      const { last, newestId } = await sightings.since(visitor, visit, { memories: 1, content: 1 })
      return {
        since: last === null ? null : last.seenAt - OVERLAP_MS,
        note: () => sightings.note(visitor, visit, { seenAt: clock.now(), lastId: newestId }),
      }
    },
    seal: async ({ org }, position) => (await seal()).seal(org, position),
    admit: ({ org }, stream) => bell.admit(org, stream, MAX_STREAMS),
    leave: ({ org }, stream) => bell.closeStream(org, stream),
  }
}
