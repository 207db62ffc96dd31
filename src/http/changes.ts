import { Hono } from 'hono'
import { checkThreadId } from '../domain/entry/draft'
import { invalidInput, Problem } from '../domain/errors'
import {
  FEED_ACTIONS,
  FEED_LIMIT,
  type FeedAction,
  type FeedChange,
  type FeedFilter,
  MAX_FEED_LIMIT,
} from '../domain/history/feed'
import type { Principal } from '../domain/identity/scope'
import type { FeedPage } from '../services/searching/history/changes'
import type { Services } from '../services/services'
import { shownChange } from '../tools/history/change-serializer'
import { type Credential, requireNamedOrg } from './auth'
import { COMMENT_MS, openPages, type Pages } from './event-stream'
import { namedProjectOrNone } from './named-project'
import { checkNames } from './query-names'
import { ticking } from './waiting'

/** Serves the change feed as server-sent events; each event carries the cursor to resume from (history contract §4). */

const utf8 = new TextEncoder()

/** The events of a page. Each carries the cursor after it; the last one, or a block without data, the cursor after the page. */
async function events({ changes }: Services, principal: Principal, page: FeedPage): Promise<string> {
  const last = page.changes.at(-1)
  const ids = await Promise.all(
    page.changes.map((change) => changes.seal(principal, change === last ? page.next : change.position)),
  )
  return page.changes.map((change, i) => `id: ${ids[i]}\ndata: ${JSON.stringify(shownChange(change))}\n\n`).join('')
}

/** Event that reports why a stream ended. */
const farewell = ({ code, message, details }: Problem): string =>
  `event: end\ndata: ${JSON.stringify({ error: { code, message, ...(details === undefined ? {} : { details }) } })}\n\n`

/** The live stream. A disconnected reader resumes from the last `id`. */
export function eventStream(services: Services, principal: Principal, pages: Pages): ReadableStream<Uint8Array> {
  const { changes, now } = services
  let spoke = now()
  let begun = false
  /** A block without data, which only moves the reader's cursor. */
  const onlyCursor = async ({ next }: FeedPage) => `id: ${await changes.seal(principal, next)}\n\n`

  /** The next block to send; null at the end. */
  async function more(): Promise<string | null> {
    for (;;) {
      const page: FeedPage | null = begun ? await pages.next() : pages.first
      const first = !begun
      begun = true
      if (page === null) return null
      if (page.changes.length > 0) return events(services, principal, page)
      if (first) return `retry: 1000\n${await onlyCursor(page)}`
      if (now() - spoke >= COMMENT_MS) return `: nothing new\n${await onlyCursor(page)}`
    }
  }

  return new ReadableStream({
    async pull(controller) {
      const text = await more().catch((error: unknown) => error)
      spoke = now()
      if (typeof text === 'string') return controller.enqueue(utf8.encode(text))
      // Any other error is a server failure: the reader reconnects, and gets an error then if it persists.
      if (text instanceof Problem) controller.enqueue(utf8.encode(farewell(text)))
      controller.close()
      await pages.close()
    },
    // A disconnect is noticed only when something is sent.
    cancel: () => pages.close(),
  })
}

export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

/** Serves the change feed (history contract §4) at `GET /api/v1/orgs/:org/changes`, as a page of lines or a live stream. */
interface Variables {
  readonly services: Services
  readonly credential: Credential
  /** The slot of the request among those that run at once; a stream is counted as a stream instead. */
  readonly afterAnswer: (() => Promise<void>)[]
}

const PARAMETERS = ['after', 'thread_id', 'project', 'actions', 'limit']

function readActions(value: string | undefined): readonly FeedAction[] | null {
  if (value === undefined || value === '') return null
  const words = value.split(',').map((word) => word.trim())
  const known: readonly string[] = FEED_ACTIONS
  if (!words.every((word) => known.includes(word)))
    throw invalidInput(`actions must be some of: ${FEED_ACTIONS.join(', ')}`)
  return words as FeedAction[]
}

function readLimit(value: string | undefined): number {
  if (value === undefined || value === '') return FEED_LIMIT
  const number = /^\d{1,15}$/.test(value) ? Number(value) : 0
  if (number < 1) throw invalidInput('limit must be a whole number from 1 to 200')
  return Math.min(number, MAX_FEED_LIMIT)
}

/** @throws Problem invalid_input that names the parameter, or forbidden for a project that the key does not reach */
async function readQuery(services: Services, principal: Principal, query: Record<string, string>) {
  checkNames(query, PARAMETERS, 'the feed')
  const given = (name: string) => (query[name] === undefined || query[name] === '' ? null : query[name])
  const thread = given('thread_id')
  const { scope, project } = await namedProjectOrNone(services, principal, given('project'))
  const filter: FeedFilter = {
    threadId: thread === null ? null : checkThreadId(thread),
    project,
    actions: readActions(query.actions),
  }
  return { scope, after: given('after') ?? undefined, filter, limit: readLimit(query.limit) }
}

const lines = (changes: readonly FeedChange[]): string =>
  changes.map((change) => `${JSON.stringify(shownChange(change))}\n`).join('')

/** Returns the address of the next page. */
function nextUrl(address: string, cursor: string): string {
  const url = new URL(address)
  url.searchParams.set('after', cursor)
  return `${url.pathname}${url.search}`
}

export function createChangesRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  routes.get('/:org/changes', async (c) => {
    const { services, credential, afterAnswer } = c.var
    const caller = requireNamedOrg(credential, c.req.param('org'))
    const { scope: principal, after, filter, limit } = await readQuery(services, caller, c.req.query())
    if (/\btext\/event-stream\b/i.test(c.req.header('accept') ?? '')) {
      const pages = await openPages(services, principal, {
        after: c.req.header('last-event-id') ?? after,
        filters: [filter],
      })
      // From here on the request is counted as a stream of its key.
      services.afterwards(Promise.all(afterAnswer.splice(0).map((leave) => leave())))
      return c.body(ticking(eventStream(services, principal, pages), ':\n\n'), 200, STREAM_HEADERS)
    }
    const { changes, next } = await services.changes.list(principal, { after, filter, limit, waitMs: 0 })
    return c.body(lines(changes), 200, {
      'Content-Type': 'application/x-ndjson; charset=utf-8',
      'X-Next-Cursor': next,
      Link: `<${nextUrl(c.req.url, next)}>; rel="next"`,
    })
  })

  return routes
}
