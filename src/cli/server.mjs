// Calls the administration API of a server, and ends the command when it refuses.
import { TYPED } from './place.mjs'

/**
 * Prints a message and ends the program with exit code 1.
 *
 * @param {string} message
 * @returns {never}
 */
export function fail(message) {
  console.error(message)
  process.exit(1)
}

/** The key of `~/.commonplace/config.json`, with the origin of the only server that may receive it. */
let configured = { origin: '', key: '' }

/** Makes commands send a key to one server if the environment has none. @param {string} url @param {string} key */
export function useKey(url, key) {
  configured = { origin: new URL(url).origin, key }
}

/** Returns a key or ADMIN_TOKEN of the environment, else the configured key of this server. @param {string} url */
const credential = (url) =>
  process.env.COMMONPLACE_KEY ||
  process.env.ADMIN_TOKEN ||
  (new URL(url).origin === configured.origin ? configured.key : '')

const LOOPBACK = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/

/** Returns the credential as a header; ends the program if it would be sent without encryption. @returns {Record<string, string>} */
export function credentialHeaders(url) {
  const bearer = credential(url)
  const { protocol, hostname } = new URL(url)
  if (bearer && protocol === 'http:' && !LOOPBACK.test(hostname))
    fail(`${url} is not encrypted, so the credential is not sent; use https`)
  return bearer ? { authorization: `Bearer ${bearer}` } : {}
}

/** A refusal of a server; the message is its own, if it has one. */
export class Refused extends Error {
  /** Whether a retry may succeed. */
  retryable = true
}

/** Returns the message of a refused call; throws any other error. @returns {string} */
export function messageOf(error) {
  if (error instanceof Refused) return error.message
  throw error
}

/** Returns the error of a server that cannot be reached. @param {string} url @param {any} error of `fetch` */
export const silent = (url, error) =>
  new Refused(
    `Cannot reach ${url}: ${error.cause?.message ?? error.message}. Start a server with "${TYPED.start}", run "${TYPED.command} doctor", or select another server with --url or COMMONPLACE_URL.`,
  )

/** Calls `/api/v1`. Returns the parsed answer. @throws {Refused} */
export async function ask(url, method, path, body) {
  const authorization = credentialHeaders(url)
  /** @type {Response} */
  const response = await fetch(new URL(`/api/v1${path}`, url), {
    method,
    redirect: 'error',
    headers: {
      ...authorization,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error) => {
    throw silent(url, error)
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  throw new Refused(refusalOf(url, response.status, answer))
}

/** Options of the command that runs. @type {readonly string[]} */
let optionNames = []

/** Sets the options of the command, so that messages name them. @param {readonly string[]} names */
export function useOptions(names) {
  optionNames = names
}

/** Fields of the API whose options have other names; the first that the command takes counts. @type {Record<string, string[]>} */
const OPTIONS_OF = { expires_at: ['expires'], projects: ['project'], thread_id: ['thread'], after: ['after', 'since'] }

/** The message of a server, with the option that was typed instead of the field of the API. @param {string} message */
export const inOptions = (message) =>
  message.replace(/(?<=^|^The cursor in )\w+(?= (?:must|is|needs|has)\b)/, (field) => {
    const option = (OPTIONS_OF[field] ?? [field]).find((name) => optionNames.includes(name))
    return option === undefined ? field : `--${option}`
  })

/**
 * Returns the message of a refusal, with advice where only the command line knows which credential was sent.
 *
 * @param {string} url
 * @param {number} status
 * @param {{ error?: { message?: string } }} answer
 */
export function refusalOf(url, status, { error }) {
  const message = shown(inOptions(error?.message ?? `${url} answered ${status}`))
  if (status === 401 && !credential(url)) return `${message} (set ADMIN_TOKEN or COMMONPLACE_KEY in the environment)`
  if (status === 403 && message === 'Organization context required')
    return `${message}: ADMIN_TOKEN belongs to none; set COMMONPLACE_KEY to a key of the organization`
  return message
}

/**
 * Sends one request of `/api/v1` with bytes in its body or answer. Returns the response if it succeeded.
 *
 * @param {string} url
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 * @throws {Refused}
 */
export async function request(url, path, options = {}) {
  const headers = { ...credentialHeaders(url), ...options.headers }
  const response = await fetch(new URL(`/api/v1${path}`, url), { redirect: 'error', ...options, headers }).catch(
    (error) => {
      throw silent(url, error)
    },
  )
  if (response.ok) return response
  const answer = await response.json().catch(() => ({}))
  const refused = new Refused(refusalOf(url, response.status, answer))
  refused.retryable = answer.error?.retryable ?? response.status >= 500
  throw refused
}

/** As `ask`; ends the program with the message when it fails. */
export const call = (url, method, path, body) => ask(url, method, path, body).catch((error) => fail(messageOf(error)))

// Escapes control characters in the server's answer.
export const shown = (value) =>
  String(value ?? '–').replace(/\p{Cc}|\p{Cf}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Prints rows as columns, with a heading; `columns` are pairs of heading and a function of the row. */
export function printTable(rows, columns) {
  if (rows.length === 0) return console.log('(none)')
  const cells = rows.map((row) => columns.map(([, read]) => shown(read(row))))
  const heads = columns.map(([head]) => head)
  const widths = heads.map((head, i) => Math.max(head.length, ...cells.map((row) => row[i].length)))
  for (const row of [heads, ...cells])
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
}
