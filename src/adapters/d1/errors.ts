// Translates failures of D1 into problems for the caller. D1 has no error codes, so they are recognized by the messages in its error list
// (developers.cloudflare.com/d1/observability/debug-d1) and in SQLite.

import { Problem, unavailable } from '../../domain/errors'
import type { Millis } from '../../domain/time'
import type { StorageFault } from '../../ports/storage-host'
import { unanswered } from '../sql/core/batch'
import { failedPrecondition, PreconditionFailed } from '../sql/core/connection'

const OPERATOR = 'the operator of the server'

const FAULT_MESSAGES: Record<StorageFault, string> = {
  full:
    'The disk of the database is full; nothing was changed. Reading and deleting still work; ' +
    'writing works again when the disk has free space',
  readonly: `The folder of the database is not writable, so the database cannot be used; ${OPERATOR} must make it writable and restart the server`,
  damaged:
    'The database is damaged, and the data of this call cannot be read or written; ' +
    `${OPERATOR} must restore it from a backup`,
  foreign:
    'The database file is not a database of this server, or its start is damaged. The file is unchanged; ' +
    `${OPERATOR} must restore the right one`,
  missing:
    'The database is missing or empty, although it had memories. It is not replaced by a new one; ' +
    `${OPERATOR} must restore it, or confirm that a new one should be created`,
  failing: `The disk of the database fails to read or write; ${OPERATOR} must check it`,
}

/** SQLite's names and messages for each fault. */
const NAMES: readonly (readonly [RegExp, StorageFault])[] = [
  [/SQLITE_FULL|disk is full/i, 'full'],
  [/SQLITE_READONLY|readonly database/i, 'readonly'],
  [/SQLITE_CORRUPT|disk image is malformed/i, 'damaged'],
  [/SQLITE_NOTADB|file is not a database/i, 'foreign'],
  [/SQLITE_(IOERR|CANTOPEN)|disk I\/O error|unable to open database/i, 'failing'],
]

/** A storage fault, for which a retry is useless. */
export class LocalFault extends Problem {
  constructor(
    readonly fault: StorageFault,
    cause?: unknown,
  ) {
    super('unavailable', FAULT_MESSAGES[fault], { retryable: false }, cause)
  }
}

/** Matches every message that indicates a storage fault. */
const LOCAL_FAULT = new RegExp(NAMES.map(([words]) => words.source).join('|'), 'i')

/** Converts an error to a storage fault. @param error whose message matches `LOCAL_FAULT` */
function localFault(error: unknown): LocalFault {
  const message = error instanceof Error ? error.message : String(error)
  const [, fault = 'failing' as const] = NAMES.find(([words]) => words.test(message)) ?? []
  return new LocalFault(fault, error)
}

const FREE_SPACE = 'nothing was changed, delete entries or give it more room'
const TOO_BIG = 'This entry is too large for the database; nothing was changed, split it into several'

const DAY_MS = 86_400_000

/** The Free plan refuses every query until midnight UTC once the rows of the day are used up. */
function usedUp(what: string, error: unknown, now: Millis): Problem {
  const until = new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString()
  return new Problem(
    'limit_exceeded',
    `D1's Free plan has used up the rows it can ${what} today, so the database refuses every query until ${until} (midnight UTC), or ` +
      'until the account is on a paid plan; nothing was changed',
    { retryable: false, details: { until } },
    error,
  )
}

type Translation = (error: unknown, wrote: boolean, now: Millis) => unknown

const limit =
  (message: string): Translation =>
  (error) =>
    new Problem('limit_exceeded', message, {}, error)

/** The database received the batch and may have run it before the response was lost. */
const lost =
  (what: string): Translation =>
  (error, wrote) =>
    unavailable(unanswered(what, wrote), error)

/** The batch never began: it timed out in a queue, or no database was available. */
const notStarted =
  (what: string): Translation =>
  (error) =>
    unavailable(`${what}; nothing was changed, try again in a few seconds`, error)

/** Returns the error of an invalid statement unchanged: a bug must stay visible. */
const bug: Translation = (error) => error

/** The first matching pattern applies. */
const TRANSLATIONS: readonly (readonly [words: RegExp, meaning: Translation])[] = [
  [/free tier daily row read/i, (error, _, now) => usedUp('read', error, now)],
  [/free tier daily row write/i, (error, _, now) => usedUp('write', error, now)],
  [/free tier daily/i, (error, _, now) => usedUp('use', error, now)],
  [
    /maximum account storage/i,
    limit(`The databases of this Cloudflare account have reached their largest size; ${FREE_SPACE}`),
  ],
  [/maximum DB size/i, limit(`The database has reached its largest size; ${FREE_SPACE}`)],
  [
    /too many (api |sub)?requests by single worker/i,
    limit('This call needs more database queries than Cloudflare allows in one request; request less at once'),
  ],
  [/overloaded|requests queued/i, notStarted('The database is overloaded')],
  [/cannot resolve D1/i, notStarted('The database cannot be reached')],
  [/exceeded its memory limit/i, lost('The database ran out of memory and was restarted')],
  [/exceeded its CPU time limit/i, lost('The database ran out of processor time and was restarted')],
  [/exceeded timeout/i, lost('The database took too long and was restarted')],
  [/object to be reset|was reset|reset because/i, lost('The database was restarted')],
  [LOCAL_FAULT, localFault],
  [/SQLITE_TOOBIG|too big/i, limit(TOO_BIG)],
  [/SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE)|syntax error|no such (table|column)/i, bug],
  [/D1_(TYPE_ERROR|COLUMN_NOTFOUND|EXEC_ERROR)|no SQL statements/i, bug],
]

/**
 * Translates a failure of D1 for callers; returns a bug unchanged.
 *
 * @param wrote whether the batch contained writes: its commit may have succeeded although the response was lost
 */
export function translate(error: unknown, wrote: boolean, now = Date.now()): unknown {
  if (error instanceof Problem) return error
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('precondition failed')) return new PreconditionFailed(failedPrecondition(message))
  const [, meaning = lost('The database did not respond')] = TRANSLATIONS.find(([words]) => words.test(message)) ?? []
  return meaning(error, wrote, now)
}
