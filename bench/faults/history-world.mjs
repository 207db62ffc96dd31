// A server that is killed and started again while clients call it, and calls whose answers are dropped. Used by history-play.mjs.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { HEADERS, readMessage } from '../support/mcp.mjs'

/**
 * @typedef {{ origin: string, crash: () => Promise<void> }} Mortal a server that can be killed
 * @typedef {'sent' | 'answered' | number} Cut when the connection is cut: once the request was sent, once its answer begins,
 *   or after a number of answers to others
 * @typedef {{ data: any, isError: boolean, unanswered: number }} Answer with the number of earlier attempts without an answer
 */

/** Attempts at one call; a server that does not come back is a failure, not a reason to hang. */
const ATTEMPTS = 60

/** Returns the error of an answer, in the format of any family. @param {any} data its structured content @returns {string} */
export const codeOf = ({ error, code = error.code }) => CODES[code] ?? code

/** @type {Record<string, string>} */
const CODES = {
  CONFLICT: 'conflict',
  NOT_FOUND: 'not_found',
  UNAVAILABLE: 'unavailable',
  INTERNAL_ERROR: 'internal',
}

export class World {
  /** @param {() => Promise<Mortal>} start */
  constructor(start) {
    this.start = start
    this.agent = new Agent({ keepAlive: true })
    this.kills = 0
    this.cuts = 0
    /** Calls that ended without an answer, by a cut or a kill. */
    this.unanswered = 0
    /** Answers that no client may get. @type {string[]} */
    this.broken = []
    /** Called for each answer. @type {Set<() => void>} */
    this.listeners = new Set()
    /** @type {Promise<Mortal>} */
    this.server = start()
  }

  /** Kills the server, and starts it again; of several kills each kills the server that the last one has started. */
  async kill() {
    this.kills++
    this.server = this.server.then(async (server) => {
      await server.crash()
      return this.start()
    })
    await this.server
  }

  /** Ends the last server that was started, or is about to be: nothing is left that could open what is removed next. */
  async stop() {
    this.agent.destroy()
    await this.server.then(
      (server) => server.crash(),
      () => {},
    )
  }

  /** @param {string} origin @param {string} body @param {Cut | undefined} cut @returns {Promise<{ status: number, text: string }>} */
  post(origin, body, cut) {
    const headers = { ...HEADERS, 'content-length': Buffer.byteLength(body) }
    const outgoing = request(`${origin}/mcp`, { method: 'POST', agent: this.agent, headers })
    const drop = () => {
      this.cuts++
      outgoing.destroy(new Error('cut'))
    }
    let left = typeof cut === 'number' ? cut : 0
    const count = () => {
      if (--left === 0) drop()
    }
    if (left > 0) this.listeners.add(count)
    if (cut === 'sent') outgoing.once('finish', () => setImmediate(drop))
    return new Promise((resolve, reject) => {
      outgoing.once('error', reject)
      outgoing.once('response', async (response) => {
        if (cut === 'answered') drop()
        const parts = []
        response.on('data', (part) => parts.push(part))
        response.once('error', reject)
        await once(response, 'end').catch(reject)
        if (response.complete)
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') })
        else reject(new Error('cut short'))
      })
      outgoing.end(body)
    }).finally(() => this.listeners.delete(count))
  }

  /**
   * Calls a tool until there is an answer; the same call each time, so that one with a key has one effect.
   *
   * @param {string} name
   * @param {Record<string, unknown>} args
   * @param {Cut} [cut] of the first attempt
   * @returns {Promise<Answer>}
   */
  async call(name, args, cut) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { origin } = await this.server
      const answer = await this.post(origin, body, attempt === 0 ? cut : undefined).catch(() => null)
      const result = answer?.status === 200 ? readMessage(answer.text)?.result : undefined
      const code = result?.isError && codeOf(result.structuredContent)
      if (answer !== null && (result === undefined || code === 'internal'))
        this.broken.push(`${name} was answered ${answer.status} ${answer.text.slice(0, 200)}`)
      if (result !== undefined && code !== 'unavailable' && code !== 'internal') {
        for (const tell of [...this.listeners]) tell()
        return { data: result.structuredContent, isError: result.isError === true, unanswered: attempt }
      }
      this.unanswered++
    }
    throw new Error(`${name} has no answer after ${ATTEMPTS} attempts`)
  }
}
