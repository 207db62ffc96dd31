// How commands talk to a server's administration, and how they end when it says no.
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

/** Makes commands send a key to one server when the environment has none. @param {string} url @param {string} key */
export function useKey(url, key) {
  configured = { origin: new URL(url).origin, key }
}

/** A key or the deployment's ADMIN_TOKEN of the environment, else the configured key of this server. @param {string} url */
const credential = (url) =>
  process.env.COMMONPLACE_KEY ||
  process.env.ADMIN_TOKEN ||
  (new URL(url).origin === configured.origin ? configured.key : '')

const LOOPBACK = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/

/** The credential as a header; ends the program where it would travel unprotected. @returns {Record<string, string>} */
export function credentialHeaders(url) {
  const bearer = credential(url)
  const { protocol, hostname } = new URL(url)
  if (bearer && protocol === 'http:' && !LOOPBACK.test(hostname))
    fail(`${url} is not encrypted, so the credential is not sent; use https`)
  return bearer ? { authorization: `Bearer ${bearer}` } : {}
}

/** What a server did not do, in its own words where it has some. */
export class Refused extends Error {
  /** Whether the same request may be good later. */
  retryable = true
}

/** @throws for everything that is no failure of a call @returns {string} */
export function messageOf(error) {
  if (error instanceof Refused) return error.message
  throw error
}

/** @param {string} url @param {any} error of `fetch` */
export const silent = (url, error) =>
  new Refused(
    `${url} does not answer: ${error.cause?.message ?? error.message}. Start a server with "${TYPED.start}", run "${TYPED.command} doctor", or select another server with --url or COMMONPLACE_URL.`,
  )

/** One call of `/api/v1`. Returns the parsed answer. @throws {Refused} */
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

/** Tells which options the command takes, so that messages name them. @param {readonly string[]} names */
export function useOptions(names) {
  optionNames = names
}

/** Fields of the API whose options have other names; the first that the command takes counts. @type {Record<string, string[]>} */
const OPTIONS_OF = { expires_at: ['expires'], projects: ['project'], thread_id: ['thread'], after: ['after', 'since'] }

/** The message of a server, with the option that was typed instead of the field of the API. @param {string} message */
export const inOptions = (message) =>
  message.replace(/^(\w+)(?= (?:must|is|needs|has)\b)/, (field) => {
    const option = (OPTIONS_OF[field] ?? [field]).find((name) => optionNames.includes(name))
    return option === undefined ? field : `--${option}`
  })

/**
 * What a server says of a refusal, and what to do where that is known here alone: which credential was sent.
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
 * One request of `/api/v1` whose answer is bytes, or which sends some. Returns the response when it is good.
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

// What a server sends is shown, never obeyed by the terminal.
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
