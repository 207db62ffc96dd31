import { Problem } from '../domain/errors'
import type { FeedFilter } from '../domain/history/feed'
import type { Principal } from '../domain/identity/scope'
import type { FeedPage } from '../services/searching/history/changes'
import type { Services } from '../services/services'
import { LOCAL } from './auth'

/** Streams of the feed that stay open: how they begin, live and end. */

/**
 * A comment goes out so often while there is nothing else: proxies let go of silent connections. A little less, since looks come
 * in steps.
 */
export const COMMENT_MS = 14_000
/**
 * A stream ends by itself after this, and its reader goes on from its cursor: each look costs a round trip, of which one
 * request may make a thousand, and a stream of quiet looks every few seconds would come to that in an hour.
 */
const MAX_STREAM_MS = 20 * 60_000
/** Looks of a busy stream. */
const MAX_LOOKS = 300

const tooMany = () =>
  new Problem('limit_exceeded', 'This key has too many streams open; close one, or ask page by page (list_changes)')

/** @throws Problem unauthorized when the credential that opened a stream no longer counts */
async function requireKey({ identity }: Services, principal: Principal): Promise<void> {
  if (principal !== LOCAL) await identity.principalOfKeyId(principal.keyId)
}

export interface Pages {
  /** The first page, which was read before anybody was told that the stream is open: nothing falls between. */
  readonly first: FeedPage
  /** The next page; null when the stream has lasted long enough. @throws Problem unauthorized when its key was revoked */
  next(): Promise<FeedPage | null>
  close(): Promise<void>
}

export interface Opening {
  /** A cursor, `start`, or nothing for now. */
  readonly after: string | undefined
  /** What the stream is about: any of these. */
  readonly filters: readonly FeedFilter[]
  /** Throws Problem unauthorized when the reader's session or address is no longer valid; checked with each page. */
  readonly requireOpen?: () => Promise<void>
}

/**
 * Opens a stream for a key.
 *
 * @throws Problem limit_exceeded when the key has too many; whatever the feed says of the cursor
 */
export async function openPages(
  services: Services,
  principal: Principal,
  { after, filters, requireOpen = async () => {} }: Opening,
): Promise<Pages> {
  const { changes, now } = services
  const from = await changes.start(principal, after)
  const stream = { id: crypto.randomUUID(), key: principal.keyId }
  if (!(await changes.admit(principal, stream))) throw tooMany()
  const pages = changes.follow(principal, from, { filters, stream })
  try {
    const { value: first } = await pages.next()
    const until = now() + MAX_STREAM_MS
    // Without it, a client that goes takes the request with it before the stream has left the ones that are counted.
    const over = Promise.withResolvers<void>()
    services.afterwards(over.promise)
    let looks = 0
    return {
      first,
      async next() {
        if (now() >= until || ++looks > MAX_LOOKS) return null
        const { value } = await pages.next()
        // Asked after the page was read, so that nothing from after the revocation goes out.
        await Promise.all([requireKey(services, principal), requireOpen()])
        return value
      },
      async close() {
        // The generator may rest, and ends when it wakes; nobody waits for that.
        void pages.return(undefined as never).catch(() => {})
        await changes.leave(principal, stream)
        over.resolve()
      },
    }
  } catch (error) {
    await changes.leave(principal, stream)
    throw error
  }
}
