// Writers that are interrupted: they call a server over HTTP, record its acknowledgements, and then compare them with its
// content. Used by crash.mjs, which crashes often, and by test/e2e/crash.test.ts, which crashes twice.
import '../../scripts/local-vectors.mjs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { environment, nodePath, root } from '../../scripts/install.mjs'
import { createClient } from '../support/mcp.mjs'
import { family, killAll } from '../support/processes.mjs'

/** @param {number} seed numbers in [0, 1), the same for the same seed */
export function random(seed) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/**
 * A server of this checkout as its own processes.
 *
 * @param {{ port: number, state: string, script?: string, env?: Record<string, string> }} options
 */
export async function startServer({ port, state, script = 'start.mjs', env = {} }) {
  const args = [join(root, 'scripts', script), '--port', String(port), '--persist-to', state]
  const child = spawn(nodePath(), args, { cwd: root, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  await new Promise((resolve, reject) => {
    /** @param {Buffer} chunk */
    const hear = (chunk) => {
      said += chunk
      if (said.includes('Commonplace is ready')) resolve(undefined)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}:\n${said}`)))
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  return {
    origin: `http://localhost:${port}`,
    /** Kills every started process at once. */
    async crash() {
      await killAll(family(/** @type {number} */ (child.pid)).reverse())
      await gone
    },
  }
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/**
 * @typedef {object} Memory a writer's knowledge of one of its entries
 * @property {number | null} id null while it is unknown whether it was stored
 * @property {Record<string, any>} draft
 * @property {string} text acknowledged
 * @property {string | null} maybe a text that may have replaced it
 * @property {Record<string, number>} patches acknowledged
 * @property {'no' | 'maybe' | 'yes'} deleted
 * @property {string} word a unique word in its text
 * @property {boolean} touched whether it changed since the last search for it
 */

/** Text that is committed without its words and vectors (src/adapters/sql/core/write-budget.ts). */
const LONG = 'hay '.repeat(63_000).trim()

/** One agent, which makes one call after the other in a thread of its own. */
export class Writer {
  /** @type {Memory[]} */
  memories = []
  acknowledged = 0
  unknown = 0
  keys = 0
  /** Arguments of a restoration whose outcome is unknown. @type {{ context_ids: (number | null)[], idempotency_key: string } | null} */
  restoring = null

  /** @param {number} number @param {() => number} dice @param {() => void} heard called for each acknowledgement */
  constructor(number, dice, heard) {
    this.thread = `writer ${number}`
    this.dice = dice
    this.heard = heard
  }

  /**
   * Works until the server is killed.
   *
   * @param {string} origin
   */
  async work(origin) {
    const client = createClient(origin)
    try {
      await this.settle(client)
      for (;;) await this.step(client)
    } catch (error) {
      if (/failed:/.test(error.message)) throw error // an unexpected answer
    } finally {
      client.close()
    }
  }

  /** Repeats a write with an unknown outcome, by the same call. @param {import('../support/mcp.mjs').Client} client */
  async settle(client) {
    for (const memory of this.memories)
      if (memory.id === null) {
        const { content } = await client.call('store_context', memory.draft)
        memory.id = content.context_id
      }
    if (this.restoring) {
      await client.call('restore_context', this.restoring)
      this.restored()
    }
  }

  /** Checks that a restored entry exists, whichever of two calls restored it. */
  restored() {
    for (const memory of this.memories)
      if (this.restoring?.context_ids.includes(memory.id)) Object.assign(memory, { deleted: 'no', touched: true })
    this.restoring = null
  }

  acknowledge() {
    this.acknowledged++
    this.unknown--
    this.heard()
  }

  /** @param {import('../support/mcp.mjs').Client} client */
  async step(client) {
    const known = this.memories.filter(({ id, deleted }) => id !== null && deleted === 'no')
    const memory = known[Math.floor(this.dice() * known.length)]
    const dice = this.dice()
    const word = `w${this.thread.slice(-1)}n${this.memories.length}q`
    const name = `${this.thread}, number ${this.memories.length}, ${word}`
    const gone = this.memories.filter(({ deleted }) => deleted === 'yes')
    this.unknown++
    if (memory) memory.touched = true
    if (gone.length > 0 && dice < 0.15) {
      this.restoring = {
        context_ids: gone.slice(0, 60).map(({ id }) => id),
        idempotency_key: `${this.thread.replace(' ', '-')}-${this.keys++}`,
      }
      await client.call('restore_context', this.restoring)
      this.restored()
    } else if (memory === undefined || dice < 0.5) {
      const images =
        dice < 0.2 ? { images: [{ data: Buffer.concat([PNG, Buffer.from(name)]).toString('base64') }] } : {}
      const text = dice > 0.48 ? `${name}\n${LONG}` : name
      const draft = { thread_id: this.thread, source: 'agent', text, ...images }
      /** @type {Memory} */
      const stored = { id: null, draft, text, maybe: null, patches: {}, deleted: 'no', word, touched: true }
      this.memories.push(stored)
      stored.id = (await client.call('store_context', draft)).content.context_id
    } else if (dice < 0.7) {
      const key = `key${Object.keys(memory.patches).length}`
      await client.call('update_context', { context_id: memory.id, metadata_patch: { [key]: 1 } })
      memory.patches[key] = 1
    } else if (dice < 0.9) {
      memory.maybe = `${memory.text}, and more`
      await client.call('update_context', { context_id: memory.id, text: memory.maybe })
      memory.text = memory.maybe
      memory.maybe = null
    } else {
      const going = dice < 0.95 ? [memory] : known.slice(-30)
      for (const one of going) one.deleted = 'maybe'
      await client.call('delete_context', { context_ids: going.map(({ id }) => id) })
      for (const one of going) one.deleted = 'yes'
    }
    this.acknowledge()
  }

  /**
   * Checks that existing entries are found by a unique word, by words and by meaning, in the first search.
   *
   * @param {import('../support/mcp.mjs').Client} client
   * @returns {Promise<string[]>}
   */
  async search(client) {
    /** @type {string[]} */
    const wrong = []
    for (const memory of this.memories.filter(({ touched, deleted }) => touched && deleted === 'no')) {
      memory.touched = false
      for (const tool of ['fts_search_context', 'semantic_search_context']) {
        const { content } = await client.call(tool, { query: memory.word, thread_id: this.thread, limit: 10 })
        // A long text is not similar to a single word.
        const isFar = tool.startsWith('semantic') && memory.text.length > LONG.length
        if (!isFar && !content.results.some(({ id }) => id === memory.id))
          wrong.push(`entry ${memory.id} (${memory.word}) is not found by ${tool}`)
      }
    }
    return wrong
  }

  /**
   * Compares the server's content with the acknowledgements; returns every difference as text.
   *
   * @param {string} origin
   * @returns {Promise<string[]>}
   */
  async check(origin) {
    const client = createClient(origin)
    try {
      await this.settle(client)
      /** @type {string[]} */
      const wrong = []
      const held = new Map()
      for (let offset = 0, more = true; more; offset += 100) {
        const { content } = await client.call('search_context', { thread_id: this.thread, limit: 100, offset })
        for (const entry of content.results) held.set(entry.id, entry)
        more = content.has_more ?? content.hasMore ?? content.results.length === 100
      }
      const texts = [...held.values()].map(({ text_content }) => text_content)
      if (new Set(texts).size !== texts.length) wrong.push(`${this.thread}: an entry is there twice`)
      for (const memory of this.memories) {
        const entry = held.get(memory.id)
        const what = `entry ${memory.id} (${memory.text.slice(0, 50)})`
        held.delete(memory.id)
        if (memory.deleted === 'yes' && entry) wrong.push(`${what} is back`)
        if (memory.deleted === 'no' && !entry) wrong.push(`${what} is lost`)
        if (!entry) continue
        // A long text is shown in part, with its length.
        const has = (/** @type {string | null} */ text) =>
          text !== null &&
          (entry.total_chars === undefined ? entry.text_content === text : entry.total_chars === text.length)
        if (!has(memory.text) && !has(memory.maybe))
          wrong.push(`${what} has another text: ${entry.text_content.slice(0, 200)}`)
        for (const key of Object.keys(memory.patches))
          if (entry.metadata?.[key] !== 1) wrong.push(`${what} has lost the patch ${key}`)
        if (memory.draft.images) {
          const { content } = await client.call('get_context_by_ids', {
            context_ids: [memory.id],
            image_format: 'inline',
          })
          if (content.result[0]?.images?.[0]?.data !== memory.draft.images[0].data)
            wrong.push(`${what} has lost its image`)
        }
        // Unknown outcomes are known now.
        if (memory.maybe !== null && has(memory.maybe)) memory.text = memory.maybe
        memory.maybe = null
        memory.deleted = 'no'
      }
      for (const id of held.keys()) wrong.push(`${this.thread}: entry ${id} was never stored`)
      for (const memory of this.memories) if (memory.deleted === 'maybe') memory.deleted = 'yes'
      wrong.push(...(await this.search(client)))
      return wrong
    } finally {
      client.close()
    }
  }
}

/**
 * Crashes a server repeatedly while writers work, at moments that a seed decides.
 *
 * @param {object} options
 * @param {() => ReturnType<typeof startServer>} options.start
 * @param {number} options.crashes
 * @param {number} options.writers
 * @param {number} options.seed
 * @param {number} [options.most] acknowledgements between two crashes at most
 * @param {(line: string) => void} [options.log]
 */
export async function crashAgainAndAgain({ start, crashes, writers: count, seed, most = 60, log = () => {} }) {
  const dice = random(seed)
  let until = 0
  let reached = () => {}
  const writers = Array.from(
    { length: count },
    (_, i) => new Writer(i, random(seed + i + 1), () => --until === 0 && reached()),
  )
  /** @type {string[]} */
  const wrong = []
  const started = performance.now()
  for (let crash = 1; crash <= crashes; crash++) {
    const server = await start()
    until = 1 + Math.floor(dice() * most)
    const enough = new Promise((resolve) => {
      reached = () => resolve(undefined)
    })
    const work = Promise.all(writers.map((writer) => writer.work(server.origin)))
    await Promise.race([enough, work])
    await server.crash()
    await work
    const again = await start()
    for (const writer of writers) wrong.push(...(await writer.check(again.origin)))
    await again.crash()
    log(
      `crash ${crash} of ${crashes}: ${writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)} acknowledged ` +
        `writes, ${wrong.length} differences`,
    )
  }
  const sum = (/** @type {(writer: Writer) => number} */ of) => writers.reduce((total, writer) => total + of(writer), 0)
  return {
    crashes: crashes * 2,
    acknowledged: sum(({ acknowledged }) => acknowledged),
    unanswered: sum(({ unknown }) => unknown),
    entries: sum(({ memories }) => memories.filter(({ deleted }) => deleted === 'no').length),
    seconds: Math.round((performance.now() - started) / 1000),
    wrong,
  }
}
