// Readers of the change feed, which resume from their last cursor after every failure. Used by history-play.mjs.
import { setImmediate as turn } from 'node:timers/promises'
import { eventsOf } from '../../src/cli/watch.mjs'

/**
 * @typedef {import('./history-model.mjs').Change} Change
 * @typedef {{ seen: Change[], done: Promise<void>, finish: (changes: number) => void }} Reader is passed the number of changes when
 *   writes have ended, and is done when it has read that many
 */

/**
 * Follows list_changes; some of its answers are dropped too.
 *
 * @param {import('./history-world.mjs').World} world
 * @param {string} cursor
 * @param {() => number} dice
 * @returns {Reader}
 */
export function followPages(world, cursor, dice) {
  /** @type {Change[]} */
  const seen = []
  let finished = false
  const follow = async () => {
    for (let after = cursor; ; ) {
      const last = finished
      const cut = dice() < 0.2 ? 'answered' : undefined
      const wait = last ? {} : { wait_seconds: 1 }
      const { data, isError } = await world.call(
        'list_changes',
        { after, limit: 1 + Math.floor(dice() * 30), ...wait },
        cut,
      )
      if (isError) throw new Error(`list_changes failed: ${JSON.stringify(data)}`)
      seen.push(...data.changes)
      after = data.next
      if (last && !data.hasMore) return
    }
  }
  const finish = () => {
    finished = true
  }
  return { seen, done: follow(), finish }
}

/**
 * Follows the event stream; each connection resumes after the last event of the one before (Last-Event-ID), and now and then
 * the reader disconnects.
 *
 * @param {import('./history-world.mjs').World} world
 * @param {string} cursor
 * @param {() => number} dice
 * @returns {Reader}
 */
export function followStream(world, cursor, dice) {
  /** @type {Change[]} */
  const seen = []
  let enough = Number.POSITIVE_INFINITY
  let after = cursor
  let hangUp = new AbortController()
  const connect = async () => {
    const { origin } = await world.server
    hangUp = new AbortController()
    const response = await fetch(new URL('/api/v1/orgs/local/changes', origin), {
      headers: { accept: 'text/event-stream', 'last-event-id': after },
      signal: hangUp.signal,
    })
    if (response.status >= 400 && response.status < 500)
      throw new TypeError(`the stream was refused: ${await response.text()}`)
    for await (const { id, data } of eventsOf(/** @type {any} */ (response.body))) {
      if (id) after = id
      if (data) seen.push(JSON.parse(data))
      if (seen.length >= enough || dice() < 0.05) return
    }
  }
  const follow = async () => {
    while (seen.length < enough) {
      await connect().catch((error) => {
        if (/refused: /.test(error.message)) throw error
      })
      hangUp.abort()
      await turn()
    }
  }
  const finish = (/** @type {number} */ changes) => {
    enough = changes
    if (seen.length >= enough) hangUp.abort()
  }
  return { seen, done: follow(), finish }
}
