// Sends events to the server (capture contract §2, §3).
import { isFields } from './events.mjs'

const MOST_EVENTS = 200
const MOST_BYTES = 262_144
const LARGEST_ANSWER = 1_048_576

/** A server that cannot be used now: it does not respond, refuses the key, or gives an unexpected answer. */
export class NoAnswer extends Error {
  /** @param {string} message @param {number} [status] */
  constructor(message, status) {
    super(message)
    this.status = status
  }
}

/**
 * Posts JSON. Redirects are not followed, since they would receive the key.
 *
 * @param {string} url
 * @param {{ key: string, body: string, until: number, headers?: Record<string, string> }} options until: ms since the epoch
 * @returns {Promise<{ status: number, text: string, type: string }>}
 * @throws NoAnswer
 */
export async function post(url, { key, body, until, headers = {} }) {
  // Loaded on demand: each takes half as long to load as Node to start, and most hooks are of tools, which send nothing.
  const { request } = await (url.startsWith('https:') ? import('node:https') : import('node:http'))
  return new Promise((resolve, reject) => {
    const fail = (message) => {
      clearTimeout(timer)
      sent.destroy()
      reject(new NoAnswer(message))
    }
    const timer = setTimeout(() => fail('no response in time'), Math.max(0, until - Date.now()))
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...headers,
      },
    })
    sent.on('error', (error) => fail(error.message))
    sent.on('response', (response) => {
      const pieces = []
      let size = 0
      response.on('data', (piece) => {
        pieces.push(piece)
        size += piece.length
        if (size > LARGEST_ANSWER) fail('its response is too long')
      })
      response.on('error', (error) => fail(error.message))
      response.on('aborted', () => fail('its response was cut off'))
      response.on('end', () => {
        clearTimeout(timer)
        if (!response.complete) return fail('its response was cut off')
        const type = String(response.headers['content-type'] ?? '')
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString('utf8'), type })
      })
    })
    sent.end(body)
  })
}

/** Parses a response; null for one of another server, such as the login page of a hotel network. @returns {Record<string, any> | null} */
function readAnswer(text) {
  try {
    const answer = JSON.parse(text)
    return isFields(answer) && typeof answer.stored === 'number' ? answer : null
  } catch {
    return null
  }
}

/** Returns the oldest events that fit into one request, all of one client. @param {readonly string[]} names */
function batchOf(spool, names) {
  const batch = []
  let bytes = 100
  for (const name of names) {
    const record = spool.read(name)
    if (record === null) continue
    const size = Buffer.byteLength(JSON.stringify(record)) + 1
    const isOther = batch.length > 0 && batch[0].record.client !== record.client
    if (isOther || batch.length === MOST_EVENTS || (batch.length > 0 && bytes + size > MOST_BYTES)) break
    batch.push({ name, record })
    bytes += size
  }
  return batch
}

/**
 * @param {{ spool: ReturnType<import('./spool.mjs').openSpool>, url: string, key: string, until: number, hear: Function }} to
 * @returns {{ records: Function, waiting: Function, lost: () => number }}
 */
export function senderTo({ spool, url, key, until, hear }) {
  // Events that any program has sent already.
  let told = Math.min(spool.state().toldLost ?? 0, spool.lost())
  let hasAnswered = false
  /** @returns the answer; null where the server will never accept these @throws NoAnswer */
  async function ask(records, answer) {
    const lost = spool.lost()
    const events = records.map(({ id, at, event, place }) => ({ id, at, event, place }))
    const body = JSON.stringify({
      events,
      ...(answer ? { answer } : {}),
      ...(lost > told ? { lost: lost - told } : {}),
    })
    const { status, text } = await post(`${url}/api/v1/hooks/${records[0].client}`, { key, body, until })
    if (status === 400 || status === 413) return null
    if (status < 200 || status > 299) throw new NoAnswer(`it answered ${status}`, status)
    const read = readAnswer(text)
    if (read === null) throw new NoAnswer('it is not a Commonplace server')
    told = lost
    hasAnswered = true
    hear(read, records)
    return read
  }

  /** Sends a batch, or its halves if it is refused; an event that is refused alone is dropped. */
  async function deliver(batch) {
    const answer = await ask(batch.map(({ record }) => record))
    if (answer !== null) for (const { name } of batch) spool.remove(name)
    else if (batch.length === 1) spool.lose(batch[0].name)
    else {
      const middle = Math.ceil(batch.length / 2)
      await deliver(batch.slice(0, middle))
      await deliver(batch.slice(middle))
    }
    return answer
  }

  return {
    ask,
    /** Sends all waiting events, oldest first, until the time is up. @returns the server's messages */
    async waiting() {
      let notice
      for (;;) {
        const batch = batchOf(spool, spool.names())
        if (batch.length === 0) return notice
        notice = (await deliver(batch))?.notice ?? notice
      }
    },
    /** Lost events known to the server. */
    told: () => told,
    /** Whether the server responded: then unsent events wait without a message to the user. */
    hasAnswered: () => hasAnswered,
  }
}
