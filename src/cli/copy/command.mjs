// `commonplace copy`: opens both databases and reports the result.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundled } from '../bundle.mjs'
import { STATE } from '../place.mjs'
import { Failure } from '../postgres/connect.mjs'
import { completeUrl } from '../postgres/password.mjs'
import { parseSchema } from '../postgres/settings.mjs'
import { databaseFromEnvironment, parseUrl, refusePoolers, UsageError } from '../postgres/url.mjs'
import { showProgress } from '../progress.mjs'
import { openRemote } from './d1-http.mjs'
import { openLocal } from './d1-local.mjs'

/** @returns {Promise<typeof import('./library')>} */
const loadLibrary = () => bundled(fileURLToPath(new URL('library.ts', import.meta.url).href))

/** Configuration of the Worker; the index language and the indexed fields matter here. */
const environment = () => {
  const { FTS_LANGUAGE, METADATA_INDEXED_FIELDS } = process.env
  return { AUTH_MODE: 'open', FTS_LANGUAGE, METADATA_INDEXED_FIELDS }
}

/** Returns a URL for the driver, with the meaning of sslmode in psql. */
function driverUrl(text) {
  const url = new URL(text)
  if (!url.searchParams.has('sslmode') && parseUrl(text).options.ssl !== false)
    url.searchParams.set('sslmode', 'require')
  url.searchParams.set('uselibpqcompat', 'true')
  return url.href
}

/** @returns the name of a backend for messages and the journal, and a function that opens it */
function readBackend(option, text, state) {
  if (!text) throw new UsageError(`--${option} is missing; write d1:local, d1:<database id> or postgresql://…`)
  if (text === 'd1:local') {
    return {
      shown: 'd1:local',
      open: async ({ openD1 }) => {
        const { database, close } = await openLocal(state)
        return openD1(database, environment(), close)
      },
    }
  }
  if (/^d1:[\w-]+$/.test(text)) {
    return {
      shown: text,
      open: async ({ openD1 }) => {
        const { database, close } = openRemote(text.slice(3))
        return openD1(database, environment(), close)
      },
    }
  }
  const named = text === 'postgresql' ? databaseFromEnvironment(process.env)?.url : text
  if (named === undefined)
    throw new UsageError(`--${option} is "postgresql"; set DATABASE_URL or POSTGRESQL_HOST, which select it.`)
  if (!/^postgres(ql)?:/.test(named))
    throw new UsageError(`--${option} is "${named}"; write d1:local, d1:<database id>, postgresql://… or postgresql`)
  const target = parseUrl(named)
  refusePoolers(target)
  const schema = parseSchema(process.env.POSTGRESQL_SCHEMA)
  return {
    shown: `postgresql://${target.shown}${schema === 'public' ? '' : `#${schema}`}`,
    open: async ({ openPostgres }) =>
      openPostgres(driverUrl(await completeUrl(named, process.env)), schema, environment()),
  }
}

const list = (ids) => `${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ` and ${ids.length - 10} more` : ''}`

/** For people. @returns the exit code */
function print({ from, to, missing, different, extra, problems, equal }) {
  const rows = ['entries', 'tags', 'images', 'links', 'vectors', 'versions', 'threads', 'hash'].map((name) => [
    name,
    ...[from, to].map((totals) => (name === 'hash' ? totals.hash.slice(0, 16) : String(totals[name]))),
  ])
  for (const [name, ...values] of [['', 'from', 'to'], ...rows])
    console.log(name.padEnd(10) + values.map((value) => value.padStart(18)).join(''))
  for (const [words, ids] of Object.entries({ 'only in the source': missing, different, 'only in the target': extra }))
    if (ids.length > 0) console.log(`${words}: ${list(ids)}`)
  for (const { id, message } of problems.slice(0, 10)) console.log(`entry ${id} was refused: ${message}`)
  if (!equal) {
    console.error('The two databases are NOT equal. Stop all writes to them, and run the same command again.')
    return 1
  }
  console.log('The copy is complete; both databases are equal.')
  if (from.images > 0)
    console.log('Images are not copied: let the new Worker use the same R2 bucket, or copy its objects under images/.')
  return 0
}

/**
 * @param {{ org?: string, from?: string, to?: string, state?: string, json?: boolean }} options
 * @returns {Promise<number>} the exit code
 */
export async function copy({ org, from, to, state, json }) {
  if (!org) throw new UsageError('--org is missing; in open mode it is "local".')
  const folder = state ? resolve(state) : STATE
  const [source, target] = [readBackend('from', from, folder), readBackend('to', to, folder)]
  if (source.shown === target.shown) throw new UsageError('--from and --to are the same database.')
  const library = await loadLibrary()
  const sides = []
  try {
    for (const backend of [source, target]) sides.push(await backend.open(library))
    const [here, there] = sides
    if (!json) console.log(`${org}: ${source.shown} → ${target.shown}`)
    const language = process.env.FTS_LANGUAGE || 'english'
    const progress = json ? () => {} : showProgress
    const report = await library.copyOrg({ org, from: here, to: there, source: source.shown, language, progress })
    if (!json) return print(report)
    console.log(JSON.stringify({ org, source: source.shown, target: target.shown, ...report }))
    return report.equal ? 0 : 1
  } catch (error) {
    // An error of this command's database has more detail than errors that callers of a server get.
    if (error instanceof library.Problem && error.cause instanceof Failure) throw error.cause
    if (error instanceof library.CopyRefused || error instanceof library.Problem) throw new Failure(error.message)
    throw error
  } finally {
    for (const side of sides) await side.close()
  }
}
