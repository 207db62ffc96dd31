import { Problem } from '../domain/errors'
import type { Principal } from '../domain/identity/scope'
import type { FeedPage } from '../services/searching/history/changes'
import type { Services } from '../services/services'
import { shownChange } from '../tools/history/feed-wire'
import { COMMENT_MS, type Pages } from './event-stream'

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
