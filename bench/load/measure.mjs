// Two passes over the same cases: one for time, with the log quiet, and a short one for the rows that D1 read, from the log.
import { mean, percentile } from '../support/numbers.mjs'
import { progress } from '../support/progress.mjs'

/** Cases take turns, so that a busy moment of the machine spreads over all of them instead of spoiling one. */
const ROUNDS = 3
/** A turn ends after this long, however many calls it was to make. */
const LONGEST_MS = 3000
/** Rounds of single calls before the first is timed, so that the first case does not pay for compiling the code. */
const WARM_UP = 4
const COST_CALLS = 3
/** Time to wait for work after an answer, which is part of the cost, and its log lines. */
const AFTERWARDS_MS = 60

/**
 * @typedef {object} Timing
 * @property {number} p50
 * @property {number} p95
 * @property {number} perSecond on one connection
 * @property {number} calls
 * @property {number | null} matches
 */

/**
 * Makes the calls of one turn and adds their times.
 *
 * @param {import('../support/mcp.mjs').Client} client
 * @param {import('./cases.mjs').Case} one
 * @param {number} calls
 * @param {{times: number[], matches: number | null}} record
 */
async function takeTurn(client, one, calls, record) {
  const started = performance.now()
  for (let i = 0; i < calls && performance.now() - started < LONGEST_MS; i++) {
    const { ms, content } = await client.call(one.tool, one.args(WARM_UP + record.times.length))
    record.times.push(ms)
    const matches = one.matches?.(content) ?? null
    if (matches !== null) record.matches = Math.max(record.matches ?? 0, matches)
  }
}

/** A few unexpected hits are natural, since two common words may occur together by chance; missing entries are not. */
/** @param {import('./cases.mjs').Case} one @param {number | null} matches */
function checkMatches({ name, expected }, matches) {
  // In a large store counting may stop early, and reports that.
  if (expected === undefined || matches === null) return
  if (matches < expected || matches > expected * 1.5)
    throw new Error(`${name} found ${matches} entries; ${expected} were stored`)
}

/**
 * @param {import('../support/mcp.mjs').Client} client
 * @param {readonly import('./cases.mjs').Case[]} cases
 * @param {number} count of calls a case
 * @param {string} label
 * @returns {Promise<Map<string, Timing>>} by name of the case
 */
export async function measureTime(client, cases, count, label) {
  const bar = progress(label, cases.length * ROUNDS)
  for (let n = 0; n < WARM_UP; n++) for (const one of cases) await client.call(one.tool, one.args(n))
  /** @type {Map<import('./cases.mjs').Case, { times: number[], matches: number | null }>} */
  const records = new Map(cases.map((one) => [one, { times: [], matches: null }]))
  for (let round = 0; round < ROUNDS; round++)
    for (const [one, record] of records) {
      await takeTurn(client, one, Math.max(1, Math.round((count / ROUNDS) * (one.share ?? 1))), record)
      bar.tick(1, one.name)
    }
  bar.finish()
  return new Map(
    [...records].map(([one, { times, matches }]) => {
      checkMatches(one, matches)
      const perSecond = (times.length * 1000) / times.reduce((sum, ms) => sum + ms, 0)
      return [
        one.name,
        { p50: percentile(times, 0.5), p95: percentile(times, 0.95), perSecond, calls: times.length, matches },
      ]
    }),
  )
}

/**
 * @typedef {object} Cost
 * @property {number} roundTrips
 * @property {number} rowsRead as D1 bills them
 * @property {number} rowsWritten
 */

/**
 * Returns the database cost of a call, from the worker's log at DEBUG: a line for each batch of statements, then one for
 * the request, which ends the call.
 *
 * @param {import('../support/server.mjs').Server} server
 */
function createMeter(server) {
  let batches = []
  let ended = () => {}
  server.onLog((event) => {
    if (event.event === 'sql') batches.push(event)
    if (event.event === 'request') ended()
  })
  return async (call) => {
    batches = []
    const end = new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the log line of a call did not arrive')), 20_000)
      ended = () => {
        clearTimeout(late)
        resolve(undefined)
      }
    })
    await Promise.all([call(), end])
    await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS))
    const sum = (name) => batches.reduce((total, event) => total + Number(event[name] ?? 0), 0)
    return { roundTrips: batches.length, rowsRead: sum('rowsRead'), rowsWritten: sum('rowsWritten') }
  }
}

/**
 * @param {import('../support/server.mjs').Server} server logs at DEBUG
 * @param {import('../support/mcp.mjs').Client} client
 * @param {readonly import('./cases.mjs').Case[]} cases
 * @param {string} label
 * @returns {Promise<Map<string, Cost>>} by name of the case
 */
export async function measureCost(server, client, cases, label) {
  const bar = progress(`${label}, counting rows`, cases.length)
  const meter = createMeter(server)
  const costs = new Map()
  for (const one of cases) {
    const found = []
    // Numbers beyond those of the timing pass, so that stores store something new.
    for (let n = 0; n < COST_CALLS; n++) found.push(await meter(() => client.call(one.tool, one.args(10_000 + n))))
    const average = (name) => mean(found.map((cost) => cost[name]))
    costs.set(one.name, {
      roundTrips: average('roundTrips'),
      rowsRead: average('rowsRead'),
      rowsWritten: average('rowsWritten'),
    })
    bar.tick(1, one.name)
  }
  bar.finish()
  return costs
}
