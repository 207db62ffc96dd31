import { Problem } from '../domain/errors'
import type { FeedFilter } from '../domain/history/feed'
import type { Principal } from '../domain/identity/scope'
import type { FeedPage } from '../services/searching/history/changes'
import type { Services } from '../services/services'
import { LOCAL } from './auth'

/** Opens, feeds and closes streams of the change feed. */

/**
 * Interval of keep-alive comments: proxies close silent connections. A little less than their limit, since polls come
 * in steps.
 */
export const COMMENT_MS = 14_000
/**
 * Lifetime of a stream; its reader then resumes from its cursor. Each poll costs a round trip and one request may make a thousand,
 * which a stream that polls every few seconds would reach in an hour.
 */
const MAX_STREAM_MS = 20 * 60_000
/** Polls between two checks of a busy stream. */
const MAX_LOOKS = 300

const tooMany = () =>
  new Problem('limit_exceeded', 'This key has too many streams open; close one, or read pages with list_changes')

/** @throws Problem unauthorized when the credential that opened a stream is no longer valid */
async function requireKey({ identity }: Services, principal: Principal): Promise<void> {
  // Compared by its key, because readers pass copies of the principal.
  if (principal.keyId !== LOCAL.keyId) await identity.principalOfKeyId(principal.keyId)
}

export interface Pages {
  /** The first page, read before the stream was opened, so that no change is missed. */
  readonly first: FeedPage
  /** The next page; null when the stream has lasted long enough. @throws Problem unauthorized when its key was revoked */
  next(): Promise<FeedPage | null>
  close(): Promise<void>
}

export interface Opening {
  /** A cursor, `start`, or undefined for now. */
  readonly after: string | undefined
  /** Changes that the stream reports: any of these. */
  readonly filters: readonly FeedFilter[]
  /** Throws Problem unauthorized when the reader's session or address is no longer valid; checked with each page. */
  readonly requireOpen?: () => Promise<void>
}

/**
 * Opens a stream for a key.
 *
 * @throws Problem limit_exceeded when the key has too many streams, and any error of the feed about the cursor
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
    // Without it, a disconnecting client would cancel the request before the stream is released.
    const over = Promise.withResolvers<void>()
    services.afterwards(over.promise)
    let looks = 0
    return {
      first,
      async next() {
        if (now() >= until || ++looks > MAX_LOOKS) return null
        const { value } = await pages.next()
        // Checked after the page was read, so that no change made after the revocation is sent.
        await Promise.all([requireKey(services, principal), requireOpen()])
        return value
      },
      async close() {
        // The generator may be suspended and ends when it resumes; the cancellation does not wait for it.
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
