import { Problem } from '../domain/errors'
import type { Principal } from '../domain/identity/scope'
import type { FeedPage } from '../services/searching/history/changes'
import type { Services } from '../services/services'
import { shownChange } from '../tools/history/feed-wire'
import { COMMENT_MS, type Pages } from './event-stream'

/** The feed as server-sent events: each carries the cursor from which a reader goes on (history contract §4). */

const utf8 = new TextEncoder()

/** The events of a page; each carries the cursor behind it, and the last one, or a block without data, that behind the page. */
async function events({ changes }: Services, principal: Principal, page: FeedPage): Promise<string> {
  const last = page.changes.at(-1)
  const ids = await Promise.all(
    page.changes.map((change) => changes.seal(principal, change === last ? page.next : change.position)),
  )
  return page.changes.map((change, i) => `id: ${ids[i]}\ndata: ${JSON.stringify(shownChange(change))}\n\n`).join('')
}

/** How a stream says why it is over. */
const farewell = ({ code, message, details }: Problem): string =>
  `event: end\ndata: ${JSON.stringify({ error: { code, message, ...(details === undefined ? {} : { details }) } })}\n\n`

/** The live stream; whoever is cut off goes on from the `id` that came last. */
export function eventStream(services: Services, principal: Principal, pages: Pages): ReadableStream<Uint8Array> {
  const { changes, now } = services
  let spoke = now()
  let begun = false
  /** A block without data: it moves the reader's cursor and nothing else. */
  const onlyCursor = async ({ next }: FeedPage) => `id: ${await changes.seal(principal, next)}\n\n`

  /** What goes out next; null at the end. */
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
      // What is no Problem is a failure of ours: the reader comes back, and is told then if it lasts.
      if (text instanceof Problem) controller.enqueue(utf8.encode(farewell(text)))
      controller.close()
      await pages.close()
    },
    // Whoever has gone is noticed when something is sent.
    cancel: () => pages.close(),
  })
}

export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}
