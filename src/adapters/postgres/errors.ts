// What does a failure of PostgreSQL mean to a caller? Known by SQLSTATE, and by the driver's codes where no server answered.
import { Problem, unavailable } from '../../domain/errors'
import { unanswered } from '../sql/core/batch'
import { failedPrecondition, PreconditionFailed } from '../sql/core/connection'

/** Raised by migrations/postgres/0001_initial.sql. */
const PREMISE_FAILED = 'CP001'
/** Serialization failure, deadlock: the transaction is gone and may be tried again. */
const LOST_RACES: ReadonlySet<string> = new Set(['40001', '40P01'])

export const MIGRATE = 'npm run migrate:postgres -- <url>'

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')
const isServerError = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code)

export const isLostRace = (error: unknown): boolean => LOST_RACES.has(codeOf(error))

/** Shutdown, a lost connection, a session that stood still too long, a server in disorder. */
const SESSION_ENDS = /^(57P|08|25P0[34]|XX)/

/**
 * A server that refuses a statement goes on listening; after anything else the connection is of no use. The severity that comes
 * with an error is a word of the server's language, so the code decides.
 */
export const endsSession = (error: unknown): boolean => {
  const code = codeOf(error)
  return !isServerError(code) || SESSION_ENDS.test(code)
}

/** What is missing is schema, not data: the journal is to be read again before the next call. */
const isMissingSchema = (error: unknown): boolean => /^(42P01|42703|42883|3F000)$/.test(codeOf(error))

/** By SQLSTATE, or its first two characters; without hosts, names or SQL. */
const MESSAGES: Readonly<Record<string, string>> = {
  '28': 'The database refuses the user or password of the HYPERDRIVE binding; correct them in its configuration',
  '3D': 'The database that the HYPERDRIVE binding names does not exist; create it, or correct the binding',
  '53': 'The database has no room left (connections or memory); nothing was changed, try again, or give it more',
  '53100': 'The disk of the database is full; nothing was changed, delete entries or give it more room',
  '53300': 'The database has no connection left; try again, or raise max_connections',
  '57014':
    'The database took longer than statement_timeout allows; nothing was changed, narrow the request or try again',
  '55P03': 'The database is being changed by someone else; nothing was changed, try again',
  '25006': 'The database is read-only; point the HYPERDRIVE binding at the primary server',
  '42501':
    'The user of the HYPERDRIVE binding lacks a right in the schema that POSTGRESQL_SCHEMA names; let it use its tables',
}

/** States in which a server may be lost between a commit and its answer. */
const LOST: Readonly<Record<string, string>> = {
  '57': 'The database is shutting down or starting',
  '08': 'The connection to the database was lost',
}

/** What the driver or Hyperdrive says when there is no server, or it does not take the connection. */
const UNREACHABLE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|connect|timeout/i

/** @param phase whether the statements may have reached the server, and whether one of them writes */
export function translate(error: unknown, phase: 'connecting' | 'reading' | 'writing'): unknown {
  if (error instanceof Problem) return error
  const code = codeOf(error)
  if (code === PREMISE_FAILED) return new PreconditionFailed(failedPrecondition(String((error as Error).message)))
  if (LOST_RACES.has(code))
    return unavailable('Others were writing at the same time; nothing was changed, try again', error)
  if (isMissingSchema(error))
    return unavailable(
      `The tables in POSTGRESQL_SCHEMA are not those of this release, or the extension vector is missing; run: ${MIGRATE}`,
      error,
    )
  const known = MESSAGES[code] ?? MESSAGES[code.slice(0, 2)]
  if (isServerError(code) && known !== undefined) return unavailable(known, error)
  const lost = LOST[code.slice(0, 2)]
  if (isServerError(code) && lost !== undefined) return unavailable(unanswered(lost, phase === 'writing'), error)
  // Everything else that the server itself refuses is a statement that is wrong, which is a bug and stays visible as such.
  if (isServerError(code)) return error
  const message = error instanceof Error ? error.message : String(error)
  if (phase === 'connecting')
    return unavailable(
      UNREACHABLE.test(`${code} ${message}`)
        ? 'The database that the HYPERDRIVE binding names does not answer; nothing was changed, try again'
        : 'The HYPERDRIVE binding leads to no PostgreSQL that lets this server in; look at its configuration',
      error,
    )
  return unavailable(unanswered(LOST['08'] as string, phase === 'writing'), error)
}
