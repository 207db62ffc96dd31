// Explains connection errors of PostgreSQL: one sentence for the cause and one for the remedy.
import pg from 'pg'

/** A failure that the user can fix; its message is complete. */
export class Failure extends Error {}

/** Advice by the code of the driver or the server. */
const ADVICE = {
  ECONNREFUSED: 'The server does not listen there. Check that it is running and that this is its port.',
  ENOTFOUND: 'The host does not exist. Check its spelling.',
  EAI_AGAIN: 'The host name could not be resolved. Check that this machine is online.',
  ETIMEDOUT: 'It did not respond in time. Check for a firewall between this machine and the server.',
  ENETUNREACH:
    "This machine has no route to it. For an IPv6-only host such as Supabase's direct one, use the session pooler.",
  EHOSTUNREACH: 'This machine has no route to it. Check for a firewall between this machine and the server.',
  '28P01': 'The password or the user is wrong. Check both, and write special characters as %XX.',
  28000: 'The server refuses this user. Check its pg_hba.conf, and whether it requires TLS (sslmode=require).',
  '3D000': 'The database does not exist; create it first.',
  53300: 'The server has no free connections; close some, or raise max_connections.',
  42501: 'This user lacks the permission. Use the owner of the database, or let the owner grant it.',
  '55P03': 'Another session has locked a table. Run the command again when that session has ended.',
  SELF_SIGNED_CERT_IN_CHAIN:
    'Its certificate is signed by an unknown authority; name the root with sslrootcert=FILE, or use sslmode=require.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Its certificate is self-signed; name it with sslrootcert=FILE, or use sslmode=require.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Its certificate is for another host; use the host name of the certificate, or sslmode=verify-ca.',
}

/** Several connection attempts (IPv6 and IPv4) are reported as the first error. */
const codeOf = (error) => error.code ?? error.errors?.[0]?.code

/** @returns {Failure} with the error of the server and a remedy */
export function explain(error, shown) {
  if (error instanceof Failure) return error
  const said = error.errors?.[0]?.message ?? error.message
  const advice =
    ADVICE[codeOf(error)] ??
    (/does not support SSL/.test(said)
      ? 'Use sslmode=disable if the network is private.'
      : /timeout expired/.test(said)
        ? ADVICE.ETIMEDOUT
        : 'Check the log of the server.')
  return new Failure(`${shown}: ${said.trim().replace(/[.!]$/, '')}. ${advice}`, { cause: error })
}

/**
 * @param {import('./url.mjs').Target} target
 * @param {string} name application name that the server shows
 * @returns {Promise<pg.Client>}
 * @throws {Failure}
 */
export async function connect({ options, shown }, name) {
  const client = new pg.Client({ ...options, application_name: name, connectionTimeoutMillis: 15_000 })
  // A connection that breaks between two queries is reported by the next one.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => {})
    throw explain(error, shown)
  }
  return client
}
