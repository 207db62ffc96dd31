import type { Millis } from '../../domain/time'
import type { Outcome, Presented, Verdict } from '../../ports/grant-locks'

/** Time after a refresh in which the old refresh token returns the same successor again (platform contract §5). */
export const SAME_SUCCESSOR_MS: Millis = 30_000
/** A request that does not report its end loses the lock after this time. */
export const LEASE_MS: Millis = 20_000
/** Lifetime of a grant, and one more day. */
const REMEMBERED_MS: Millis = 31 * 86_400_000

/** The methods of a Durable Object's storage that are used here. */
export interface GrantStorage {
  readonly kv: {
    get(key: string): unknown
    put(key: string, value: unknown): void
  }
  setAlarm(at: Millis): unknown
  deleteAll(): unknown
}

/** Hashes of the codes and tokens that a grant has issued and accepted. */
interface Known {
  readonly code?: string
  /** The newest refresh token. */
  readonly current?: string
  /** The token that was exchanged for it. */
  readonly previous?: { readonly hash: string; readonly at: Millis; readonly answer: string | null }
  /** Prefixes of the hashes of replaced refresh tokens, the newest last. */
  readonly replaced?: string
  readonly ended?: boolean
}

interface Holder {
  readonly id: string
  readonly presented: Presented
  readonly release: () => void
}

/** Characters stored of the hash of each replaced token, and the maximum number of such tokens. */
const HASH_PREFIX = 16
const MOST_REPLACED = 1_000

const kept = (hash: string): string => hash.slice(0, HASH_PREFIX).padEnd(HASH_PREFIX)

/** Returns whether a token was replaced. */
function isReplaced({ replaced = '' }: Known, hash: string): boolean {
  for (let at = 0; at < replaced.length; at += HASH_PREFIX) if (replaced.startsWith(kept(hash), at)) return true
  return false
}

/** Returns the replaced tokens after an exchange: the earlier ones, and those that the exchange replaced. */
function replacedAfter(known: Known, next: Known): string {
  const gone = [known.previous?.hash, known.current].filter(
    (hash): hash is string => hash !== undefined && hash !== next.current && hash !== next.previous?.hash,
  )
  return ((known.replaced ?? '') + gone.map(kept).join('')).slice(-MOST_REPLACED * HASH_PREFIX)
}

const STATE = 'grant'

/** Decides about the requests of one grant: which is processed now, and which token was used before. */
export class GrantState {
  private holder: Holder | null = null
  /** Resolves when the last request in the queue has ended. */
  private queue: Promise<void> = Promise.resolve()

  constructor(
    private readonly storage: GrantStorage,
    private readonly now: () => Millis = () => Date.now(),
  ) {}

  async begin(id: string, presented: Presented): Promise<Verdict> {
    const beside = this.holder?.presented ?? null
    const before = this.queue
    const { promise, resolve } = Promise.withResolvers<void>()
    this.queue = promise
    await before
    const lease = setTimeout(() => this.release(id), LEASE_MS)
    const release = () => {
      clearTimeout(lease)
      resolve()
    }
    this.holder = { id, presented, release }
    return this.judge(presented, beside?.hash === presented.hash)
  }

  finish(id: string, outcome: Outcome): boolean {
    if (this.holder?.id !== id) return false
    this.note(this.holder.presented, outcome)
    this.release(id)
    return true
  }

  /** Deletes expired state; called by the alarm that `note` has set. */
  forget(): void {
    const { previous, ...known } = this.known()
    if (previous === undefined || previous.answer === null) {
      this.storage.deleteAll()
      return
    }
    this.storage.kv.put(STATE, { ...known, previous: { ...previous, answer: null } } satisfies Known)
    this.storage.setAlarm(this.now() + REMEMBERED_MS)
  }

  private known(): Known {
    return (this.storage.kv.get(STATE) as Known | undefined) ?? {}
  }

  private release(id: string): void {
    if (this.holder?.id !== id) return
    const { release } = this.holder
    this.holder = null
    release()
  }

  /**
   * @param isBeside whether the same token was being exchanged when this request arrived: then one client has sent it twice
   */
  private judge({ kind, hash }: Presented, isBeside: boolean): Verdict {
    const known = this.known()
    const { code, current, previous, ended = false } = known
    if (kind === 'revocation') return { kind: 'go', isKnown: true }
    if (ended) return { kind: 'refused', endsGrant: false }
    if (kind === 'code')
      return code === undefined
        ? { kind: 'go', isKnown: false }
        : { kind: 'refused', endsGrant: code === hash && !isBeside }
    if (current === undefined) return { kind: 'go', isKnown: false }
    if (hash === current) return { kind: 'go', isKnown: true }
    // A token that was never issued ends nothing: anyone may name a grant.
    if (hash !== previous?.hash) return { kind: 'refused', endsGrant: isReplaced(known, hash) }
    const age = this.now() - previous.at
    return previous.answer === null || age > SAME_SUCCESSOR_MS
      ? { kind: 'go', isKnown: true }
      : { kind: 'again', answer: previous.answer, age }
  }

  private note({ kind, hash }: Presented, outcome: Outcome): void {
    if (outcome.kind === 'unchanged') return
    const known = this.known()
    const now = this.now()
    if (outcome.kind === 'ended') {
      // Anyone may name a grant that never existed: nothing is stored for it.
      if (known.current === undefined && known.code === undefined) return
      this.storage.kv.put(STATE, { ended: true } satisfies Known)
      this.storage.setAlarm(now + REMEMBERED_MS)
      return
    }
    const { next, answer } = outcome
    const exchanged: Known = kind === 'code' ? { code: hash } : { ...known, previous: { hash, at: now, answer } }
    const after: Known = { ...exchanged, ...(next !== null && { current: next }) }
    this.storage.kv.put(STATE, { ...after, replaced: replacedAfter(known, after) } satisfies Known)
    this.storage.setAlarm(now + (answer === null ? REMEMBERED_MS : SAME_SUCCESSOR_MS))
  }
}
