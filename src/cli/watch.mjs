// `commonplace watch`: prints changes of the memory as they happen, until it is stopped. A lost connection is reopened
// after the last printed change.
import { setTimeout as sleep } from 'node:timers/promises'
import { credentialHeaders, fail, inOptions, refusalOf, shown } from './server.mjs'

/** Delays between retries; the first is short, since servers end streams now and then. */
const PATIENCE_MS = [200, 1000, 2000, 5000, 10_000]
/** The server sends a comment every 15 s: a connection without data for three times that is considered lost. */
const SILENCE_MS = 45_000

/** Statuses for which a retry would fail too; 413 and 429 are limits that reset. */
const isFinal = (/** @type {number} */ status) => status >= 400 && status < 500 && ![408, 413, 429].includes(status)

const FINAL_CODES = ['unauthorized', 'forbidden', 'not_found', 'invalid_input']

/**
 * Yields the events of a stream with the fields that the feed uses: `id`, `event` and `data`, separated by blank lines.
 *
 * @param {AsyncIterable<Uint8Array>} body
 * @returns {AsyncGenerator<{ id?: string, event?: string, data?: string }>}
 */
export async function* eventsOf(body) {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      yield Object.fromEntries(
        lines.flatMap((line) => {
          const at = line.indexOf(': ')
          return at > 0 ? [[line.slice(0, at), line.slice(at + 2)]] : []
        }),
      )
    }
  }
}

/** @param {any} change */
function say(change) {
  const { at, action, context_id: id, thread_id: thread, project, agent, version, preview } = change
  const where = [thread, project].filter(Boolean).map(shown).join(' · ')
  const by = agent ? ` by ${shown(agent)}` : ''
  // One line per change: line breaks of its text are joined.
  const text = preview ? `  ${shown(preview.replace(/\s+/g, ' '))}` : ''
  console.log(`${at}  ${action.padEnd(7)}  ${id} v${version}  ${where}${by}${text}`)
}

/**
 * Opens one connection, until it closes.
 *
 * @param {URL} address
 * @param {string | undefined} cursor position to resume from
 * @param {(event: { id?: string, event?: string, data?: string }) => void} hear
 */
async function listen(address, cursor, hear) {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const response = await fetch(address, {
      redirect: 'error',
      signal: silence.signal,
      headers: {
        ...credentialHeaders(address.href),
        accept: 'text/event-stream',
        ...(cursor === undefined ? {} : { 'last-event-id': cursor }),
      },
    })
    if (!response.ok || response.body === null) {
      const answer = await response.json().catch(() => ({}))
      const message = refusalOf(address.origin, response.status, answer)
      if (isFinal(response.status)) fail(message)
      throw new Error(message)
    }
    for await (const event of eventsOf(/** @type {any} */ (response.body))) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      hear(event)
    }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Follows the changes that a key may see; never returns. Ends the program: 0 when it is stopped, 1 when the server refuses.
 *
 * @param {URL} address of the feed
 * @param {(change: string) => void} hear receives each change as JSON
 * @param {string} [after] cursor to start from
 */
export async function follow(address, hear, after) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0))
  // The reader of the output has exited.
  process.stdout.on('error', () => process.exit(0))
  let cursor = after
  let isConnected = false
  let tries = 0
  const take = (/** @type {{ id?: string, event?: string, data?: string }} */ { id, event, data }) => {
    if (event === 'end') {
      const { error } = JSON.parse(data ?? '{}')
      if (FINAL_CODES.includes(error?.code)) fail(inOptions(error.message))
      return
    }
    if (data !== undefined) hear(data)
    if (id !== undefined && !isConnected) console.error(`Watching ${address.origin}; stop with Ctrl-C.`)
    if (id !== undefined) {
      isConnected = true
      cursor = id
      tries = 0
    }
  }
  for (;;) {
    try {
      await listen(address, cursor, take)
    } catch (error) {
      const reason = error.cause?.message ?? error.message
      if (tries === 1) console.error(`${address.origin} does not respond (${reason}); trying again.`)
    }
    await sleep(PATIENCE_MS[Math.min(tries++, PATIENCE_MS.length - 1)])
  }
}

/** @param {{ url: string, org?: string | undefined }} options @param {Record<string, string | undefined>} asked */
export function feedOf({ url, org }, asked) {
  const address = new URL(`/api/v1/orgs/${encodeURIComponent(org ?? '-')}/changes`, url)
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) address.searchParams.set(name, value)
  return address
}

/** @param {any} options url, org, thread, project, after, json */
export async function watch({ url, org, thread, project, after, json }) {
  await follow(feedOf({ url, org }, { thread_id: thread, project, after }), (change) =>
    json ? console.log(change) : say(JSON.parse(change)),
  )
}
