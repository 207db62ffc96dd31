// What does a failure of D1 mean to a caller? D1 has no codes but its messages, so these are known by the words of its published
// error list (developers.cloudflare.com/d1/observability/debug-d1) and by those of SQLite.

import { Problem, unavailable } from '../../domain/errors'
import type { Millis } from '../../domain/time'
import { PremiseFailed, premiseIn } from '../sql/core/connection'
import { unanswered } from '../sql/core/failures'
import { LOCAL_FAULT, localFault } from './local-faults'

const FREE_SPACE = 'nothing was changed, delete entries or give it more room'
const TOO_BIG = 'An entry of this size does not fit into the database; nothing was changed, split it into several'

const DAY_MS = 86_400_000

/** The Free plan refuses every query for the rest of the day once the rows of the day are used up, to whomever asks. */
function usedUp(what: string, error: unknown, now: Millis): Problem {
  const until = new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString()
  return new Problem(
    'limit_exceeded',
    `D1's Free plan has used up the rows it may ${what} today, so the database answers nothing until ${until} (midnight UTC), or ` +
      'until the account is on a paid plan; nothing was changed',
    { retryable: false, details: { until } },
    error,
  )
}

type Meaning = (error: unknown, wrote: boolean, now: Millis) => unknown

const limit =
  (message: string): Meaning =>
  (error) =>
    new Problem('limit_exceeded', message, {}, error)

/** It was asked and may have done the work before its answer was lost. */
const lost =
  (what: string): Meaning =>
  (error, wrote) =>
    unavailable(unanswered(what, wrote), error)

/** It never began: the work waited in vain, or found nobody to do it. */
const unbegun =
  (what: string): Meaning =>
  (error) =>
    unavailable(`${what}; nothing was changed, try again in a few seconds`, error)

/** A statement that is wrong, as opposed to a database that does not answer: a bug, which stays visible as such. */
const ours: Meaning = (error) => error

/** The first that matches counts. */
const MEANINGS: readonly (readonly [words: RegExp, meaning: Meaning])[] = [
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
    limit('This call asks the database more often than Cloudflare allows one request; ask for less at once'),
  ],
  [/overloaded|requests queued/i, unbegun('The database is overloaded')],
  [/cannot resolve D1/i, unbegun('The database cannot be reached')],
  [/exceeded its memory limit/i, lost('The database ran out of memory and was restarted')],
  [/exceeded its CPU time limit/i, lost('The database ran out of processor time and was restarted')],
  [/exceeded timeout/i, lost('The database took too long and was restarted')],
  [/object to be reset|was reset|reset because/i, lost('The database was restarted')],
  [LOCAL_FAULT, localFault],
  [/SQLITE_TOOBIG|too big/i, limit(TOO_BIG)],
  [/SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE)|syntax error|no such (table|column)/i, ours],
  [/D1_(TYPE_ERROR|COLUMN_NOTFOUND|EXEC_ERROR)|no SQL statements/i, ours],
]

/**
 * A failure of D1 as callers hear it; a bug comes back as it is.
 *
 * @param wrote whether the batch would have written: its commit may have succeeded although the answer was lost
 */
export function translate(error: unknown, wrote: boolean, now = Date.now()): unknown {
  if (error instanceof Problem) return error
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('precondition failed')) return new PremiseFailed(premiseIn(message))
  const [, meaning = lost('The database did not answer')] = MEANINGS.find(([words]) => words.test(message)) ?? []
  return meaning(error, wrote, now)
}
