// Fills a new server over MCP.
import { mean } from '../support/numbers.mjs'
import { progress } from '../support/progress.mjs'
import { entryAt } from './corpus.mjs'

const BATCH = 100

/** Waits for the next second of the clock: dates are stored and searched in seconds. */
const nextSecond = () => new Promise((resolve) => setTimeout(resolve, 1010 - (Date.now() % 1000)))

/**
 * Stores the entries of a table of this size, 100 a call. One batch in the middle has its own seconds, so that a
 * range of dates exists that contains exactly 100 entries.
 *
 * @param {import('../support/mcp.mjs').Client} client
 * @param {number} size
 * @param {string} label
 */
export async function fill(client, size, label) {
  const bar = progress(`${label}, storing`, size)
  const ids = []
  const times = []
  const middle = Math.floor(size / 2 / BATCH)
  let alone = []
  for (let batch = 0; batch < size / BATCH; batch++) {
    const entries = Array.from({ length: BATCH }, (_, i) => entryAt(batch * BATCH + i, size))
    if (batch === middle) await nextSecond()
    const { ms, content } = await client.call('store_context_batch', { entries })
    if (content.succeeded !== BATCH) throw new Error(`a batch stored ${content.succeeded} of ${BATCH} entries`)
    const stored = content.results.map(({ context_id: id }) => id)
    if (batch === middle) {
      alone = stored
      await nextSecond()
    }
    ids.push(...stored)
    times.push(ms)
    bar.tick(BATCH, `${Math.round(ms)} ms a batch`)
  }
  bar.finish()
  const { content } = await client.call('get_context_by_ids', { context_ids: alone })
  const dates = content.result.map(({ created_at: date }) => date).sort()
  const tenth = Math.max(1, Math.floor(times.length / 10))
  const seconds = times.reduce((sum, ms) => sum + ms, 0) / 1000
  return {
    loaded: { size, ids, from: dates[0], to: dates.at(-1) },
    speed: {
      size,
      seconds,
      perSecond: size / seconds,
      firstBatches: mean(times.slice(0, tenth)),
      lastBatches: mean(times.slice(-tenth)),
    },
  }
}
