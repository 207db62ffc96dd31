// Why does a database not let us in, and what is to be done? Each failure as one sentence of what is wrong and one of advice.
import pg from 'pg'

/** A failure that the person at the terminal can act on; its message is all they need. */
export class Failure extends Error {}

/** By the driver's or the server's code. */
const ADVICE = {
  ECONNREFUSED: 'Nothing listens there; is the server running, and is this its port?',
  ENOTFOUND: 'No such host; look at its spelling.',
  EAI_AGAIN: 'The name of the host could not be looked up; is this machine online?',
  ETIMEDOUT: 'It did not answer in time; does a firewall stand in between?',
  ENETUNREACH:
    "This machine has no way there; for an IPv6-only host such as Supabase's direct one, use the session pooler.",
  EHOSTUNREACH: 'This machine has no way there; does a firewall stand in between?',
  '28P01': 'The password or the user is wrong; look at both, and write special characters as %XX.',
  28000: 'The server refuses this user; see its pg_hba.conf, or whether it insists on TLS (sslmode=require).',
  '3D000': 'There is no such database; create it first.',
  53300: 'The server has no connection left; close some, or raise max_connections.',
  42501: 'This user may not do that; use the owner of the database, or have it grant the right.',
  '55P03': 'Another session keeps a table locked; run this again when it has ended.',
  SELF_SIGNED_CERT_IN_CHAIN:
    'Its certificate is signed by nobody known here; name the root with sslrootcert=FILE, or use sslmode=require.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Its certificate is its own; name it with sslrootcert=FILE, or use sslmode=require.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Its certificate is for another host; use the name that the certificate has, or sslmode=verify-ca.',
}

/** An error of many attempts (IPv6 and IPv4) is as good as its first. */
const codeOf = (error) => error.code ?? error.errors?.[0]?.code

/** @returns {Failure} with what the server said and what to do */
export function explain(error, shown) {
  if (error instanceof Failure) return error
  const said = error.errors?.[0]?.message ?? error.message
  const advice =
    ADVICE[codeOf(error)] ??
    (/does not support SSL/.test(said)
      ? 'Write sslmode=disable if the way to it is private.'
      : /timeout expired/.test(said)
        ? ADVICE.ETIMEDOUT
        : 'See the log of the server.')
  return new Failure(`${shown}: ${said.trim().replace(/[.!]$/, '')}. ${advice}`, { cause: error })
}

/**
 * @param {import('./url.mjs').Target} target
 * @param {string} name what the server shows as the name of this program
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
