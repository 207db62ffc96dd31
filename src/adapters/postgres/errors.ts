// Translates failures of PostgreSQL into problems for the caller, by SQLSTATE, or by the driver's codes when no server responded.
import { Problem, unavailable } from '../../domain/errors'
import { unanswered } from '../sql/core/batch'
import { failedPrecondition, PreconditionFailed } from '../sql/core/connection'

/** Raised by migrations/postgres/0001_initial.sql. */
const PREMISE_FAILED = 'CP001'
/** Serialization failure and deadlock: the transaction was rolled back and may be repeated. */
const LOST_RACES: ReadonlySet<string> = new Set(['40001', '40P01'])

export const MIGRATE = 'npm run migrate:postgres -- <url>'

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')
const isServerError = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code)

export const isLostRace = (error: unknown): boolean => LOST_RACES.has(codeOf(error))

/** Shutdown, a lost connection, an idle session that was ended, an internal error of the server. */
const SESSION_ENDS = /^(57P|08|25P0[34]|XX)/

/**
 * Returns whether the connection cannot be used any more. After refusing a statement a server continues; after any other error it does not.
 * The severity of an error is localized, so the code decides.
 */
export const endsSession = (error: unknown): boolean => {
  const code = codeOf(error)
  return !isServerError(code) || SESSION_ENDS.test(code)
}

/** Returns whether a part of the schema is missing: then the journal is read again before the next call. */
const isMissingSchema = (error: unknown): boolean => /^(42P01|42703|42883|3F000)$/.test(codeOf(error))

/** Messages by SQLSTATE, or its first two characters; without hosts, names or SQL. */
const MESSAGES: Readonly<Record<string, string>> = {
  '28': 'The database refuses the user or password of the HYPERDRIVE binding; correct them in its configuration',
  '3D': 'The database of the HYPERDRIVE binding does not exist; create it, or correct the binding',
  '53': 'The database has run out of connections or memory; nothing was changed, try again, or raise its limits',
  '53100': 'The disk of the database is full; nothing was changed, delete entries or enlarge the disk',
  '53300': 'The database has no connection left; try again, or raise max_connections',
  '57014':
    'The database took longer than statement_timeout allows; nothing was changed, narrow the request or try again',
  '55P03': 'The database is being changed by someone else; nothing was changed, try again',
  '25006': 'The database is read-only; point the HYPERDRIVE binding at the primary server',
  '42501':
    'The user of the HYPERDRIVE binding lacks a privilege on the schema in POSTGRESQL_SCHEMA; grant it the use of its tables',
}

/** Errors after which it is unknown whether the transaction was committed. */
const LOST: Readonly<Record<string, string>> = {
  '57': 'The database is shutting down or starting',
  '08': 'The connection to the database was lost',
}

/** Messages of the driver or Hyperdrive when the server is unreachable, or refuses the connection. */
const UNREACHABLE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|connect|timeout/i

/**
 * Translates a failure for callers. @param phase whether the statements may have reached the server, and whether one of them writes
 */
export function translate(error: unknown, phase: 'connecting' | 'reading' | 'writing'): unknown {
  if (error instanceof Problem) return error
  const code = codeOf(error)
  if (code === PREMISE_FAILED) return new PreconditionFailed(failedPrecondition(String((error as Error).message)))
  if (LOST_RACES.has(code))
    return unavailable('Others were writing at the same time; nothing was changed, try again', error)
  if (isMissingSchema(error))
    return unavailable(
      `The tables in POSTGRESQL_SCHEMA do not match this release, or the extension vector is missing; run: ${MIGRATE}`,
      error,
    )
  const known = MESSAGES[code] ?? MESSAGES[code.slice(0, 2)]
  if (isServerError(code) && known !== undefined) return unavailable(known, error)
  const lost = LOST[code.slice(0, 2)]
  if (isServerError(code) && lost !== undefined) return unavailable(unanswered(lost, phase === 'writing'), error)
  // Any other error of the server is an invalid statement: a bug must stay visible.
  if (isServerError(code)) return error
  const message = error instanceof Error ? error.message : String(error)
  if (phase === 'connecting')
    return unavailable(
      UNREACHABLE.test(`${code} ${message}`)
        ? 'The database of the HYPERDRIVE binding does not respond; nothing was changed, try again'
        : 'The HYPERDRIVE binding leads to no PostgreSQL that lets this server in; look at its configuration',
      error,
    )
  return unavailable(unanswered(LOST['08'] as string, phase === 'writing'), error)
}
