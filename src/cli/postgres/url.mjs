// What does a PostgreSQL URL ask for? Read here instead of by the driver, because `sslmode` shall mean what it means to psql,
// and because some URLs lead to poolers that a long change of the schema must not pass through.
import { readFileSync } from 'node:fs'

/** Wrong usage: something that the person at the terminal has to write differently. */
export class UsageError extends Error {}

const EXAMPLE = 'postgresql://user:password@host:5432/database'
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
const isLoopback = (host) => /^(localhost|127\.[\d.]+|::1)$/.test(host)

/**
 * @typedef {object} Target
 * @property {string} shown host, port and database, without the password
 * @property {import('pg').ClientConfig} options for node-postgres
 */

/** The driver's word for a mode; without one, other machines are spoken to in TLS only. */
function tls(mode, host, rootCertificate) {
  if (mode === 'disable' || (mode === null && isLoopback(host))) return false
  const ca = rootCertificate ? { ca: readFileSync(rootCertificate, 'utf8') } : {}
  if (mode === 'verify-full') return { ...ca, rejectUnauthorized: true }
  if (mode === 'verify-ca') return { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined }
  // As in psql: encrypted, and verified only when a root certificate is named.
  return { ...ca, rejectUnauthorized: rootCertificate !== null, checkServerIdentity: () => undefined }
}

/**
 * @param {string | undefined} text
 * @returns {Target}
 * @throws {UsageError}
 */
export function parseUrl(text) {
  if (!text) throw new UsageError(`No database is named; give its URL (${EXAMPLE}) or set DATABASE_URL.`)
  const wrong = new UsageError(
    `This is not a PostgreSQL URL; write ${EXAMPLE}, with special characters in the password as %XX.`,
  )
  if (!URL.canParse(text)) throw wrong
  const url = new URL(text)
  if (!/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '') throw wrong
  const decode = (part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      throw wrong
    }
  }
  const mode = url.searchParams.get('sslmode')
  if (mode !== null && !MODES.includes(mode))
    throw new UsageError(`sslmode is "${mode}"; it must be one of ${MODES.join(', ')}.`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = Number(url.port || 5432)
  const database = decode(url.pathname.slice(1)) || 'postgres'
  return {
    shown: `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`,
    options: {
      host,
      port,
      database,
      user: decode(url.username) || 'postgres',
      password: decode(url.password),
      ssl: tls(mode, host, url.searchParams.get('sslrootcert')),
    },
  }
}

/**
 * Refuses what is known to be a pooler that gives each transaction another session.
 *
 * @param {Target} target
 * @throws {UsageError}
 */
export function refusePoolers({ options: { host, port } }) {
  if (host.endsWith('.hyperdrive.local'))
    throw new UsageError(
      'This is the URL of a Hyperdrive binding; migrate through the URL that Hyperdrive itself was given.',
    )
  if (port === 6543 && /\.supabase\.(com|co)$/.test(host))
    throw new UsageError(
      "Port 6543 is Supabase's transaction pooler; migrate through its session pooler, which is the same URL with port 5432.",
    )
}
