// Parses PostgreSQL URLs. The driver's parser is not used, because `sslmode` must have its psql meaning,
// and some URLs lead to poolers that a long schema change must not use.
import { readFileSync } from 'node:fs'

/** Wrong usage, which the user must correct. */
export class UsageError extends Error {}

const EXAMPLE = 'postgresql://user:password@host:5432/database'
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
const isLoopback = (host) => /^(localhost|127\.[\d.]+|::1)$/.test(host)

/**
 * @typedef {object} Target
 * @property {string} shown host, port and database, without the password
 * @property {import('pg').ClientConfig & { host: string, port: number }} options for node-postgres
 */

/**
 * Returns the database that the environment names: a complete URL, or the POSTGRESQL_ variables.
 *
 * @param {Record<string, string | undefined>} env
 * @returns {{ url: string, name: string } | null} with the variable that set it, or null for none
 */
export function databaseFromEnvironment(env) {
  for (const name of ['DATABASE_URL', 'POSTGRESQL_CONNECTION_STRING']) {
    const url = env[name]
    if (url) return { url, name }
  }
  /** @type {(name: string) => string | undefined} */
  const part = (name) => env[`POSTGRESQL_${name}`] || undefined
  const named = ['HOST', 'PORT', 'USER', 'DATABASE'].find((name) => part(name) !== undefined)
  if (named === undefined) return null
  const host = part('HOST') ?? 'localhost'
  const [user, password, database] = [part('USER') ?? 'postgres', part('PASSWORD'), part('DATABASE') ?? 'postgres']
  const credential = [user, ...(password === undefined ? [] : [password])].map(encodeURIComponent).join(':')
  const authority = `${host.includes(':') ? `[${host}]` : host}:${part('PORT') ?? '5432'}`
  return { url: `postgresql://${credential}@${authority}/${encodeURIComponent(database)}`, name: `POSTGRESQL_${named}` }
}

/**
 * Returns the URL for requests: of the transaction pooler in DATABASE_POOL_URL in front of the database, or of the database itself. A
 * session per request costs more than most calls; migrations bypass a pooler.
 *
 * @param {Record<string, string | undefined>} env
 * @param {string} url of the database
 * @returns {string}
 */
export const pooledUrl = (env, url) => env.DATABASE_POOL_URL || url

/**
 * Adds the password of the environment to a URL without one, so that it does not appear in the history of commands.
 *
 * @param {string} text a PostgreSQL URL
 * @param {Record<string, string | undefined>} env
 * @returns {string}
 */
export function fillPassword(text, env) {
  const password = env.POSTGRESQL_PASSWORD || env.PGPASSWORD
  return password && URL.canParse(text) && new URL(text).password === '' ? withPassword(text, password) : text
}

/**
 * @param {string} text a PostgreSQL URL
 * @param {string} password
 * @returns {string} the same URL with that password
 */
export function withPassword(text, password) {
  const url = new URL(text)
  if (url.username === '') url.username = 'postgres'
  url.password = encodeURIComponent(password)
  return url.href
}

/**
 * Returns a URL that the runtime of the server accepts, which requires a password. On this machine PostgreSQL may trust connections: any
 * password works there. Elsewhere a missing password is an error of the user.
 *
 * @param {string} text a PostgreSQL URL
 * @param {Record<string, string | undefined>} env
 * @param {string} name of the variable with the URL
 * @returns {string}
 * @throws {UsageError}
 */
export function servingUrl(text, env, name) {
  const filled = fillPassword(text, env)
  const { host, user } = parseUrl(filled).options
  if (new URL(filled).password !== '') return filled
  if (isLoopback(host)) return withPassword(filled, 'trusted')
  throw new UsageError(
    `${name} has no password for user ${user} at ${host}: add it to the URL, or set POSTGRESQL_PASSWORD.`,
  )
}

/** Maps an sslmode to the driver's option; without one, other machines require TLS. */
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
  if (!text)
    throw new UsageError(`No database is named; give its URL (${EXAMPLE}), or set DATABASE_URL or POSTGRESQL_HOST.`)
  const wrong = new UsageError(
    `This is not a PostgreSQL URL; use ${EXAMPLE}, with special characters in the password as %XX.`,
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
 * Refuses a known pooler that gives each transaction another session.
 *
 * @param {Target} target
 * @throws {UsageError}
 */
export function refusePoolers({ options: { host, port } }) {
  if (host.endsWith('.hyperdrive.local'))
    throw new UsageError(
      'This is the URL of a Hyperdrive binding; migrate with the URL of the database behind Hyperdrive.',
    )
  if (port === 6543 && /\.supabase\.(com|co)$/.test(host))
    throw new UsageError(
      "Port 6543 is Supabase's transaction pooler; migrate with its session pooler, which is the same URL with port 5432.",
    )
}
