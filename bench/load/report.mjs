// The load bench's record.
import { markdownTable, short, thousands } from '../support/numbers.mjs'

/**
 * @typedef {object} Run
 * @property {string} target
 * @property {number} size
 * @property {{seconds: number, perSecond: number, firstBatches: number, lastBatches: number}} speed
 * @property {number} megabytes on disk
 * @property {Map<string, import('./measure.mjs').Timing>} timings
 * @property {Map<string, import('./measure.mjs').Cost>} costs
 */

const TITLES = { workerd: 'Plain workerd (no dev proxy)', wrangler: '`wrangler dev`' }

const ratio = (value, first) => (first > 0 ? `${short(value / first)} ×` : '–')

/** @param {readonly Run[]} runs of one target, smallest first */
function fillTable(runs) {
  return markdownTable(
    ['entries stored', 'seconds', 'entries/s', 'ms a batch, first tenth', 'last tenth', 'MB on disk'],
    runs.map(({ size, speed, megabytes }) => [
      thousands(size),
      short(speed.seconds),
      short(speed.perSecond),
      short(speed.firstBatches),
      short(speed.lastBatches),
      short(megabytes),
    ]),
  )
}

/** @param {Run} run @param {string} name @returns {[import('./measure.mjs').Timing, import('./measure.mjs').Cost]} */
function measured({ timings, costs }, name) {
  const [time, cost] = [timings.get(name), costs.get(name)]
  if (time === undefined || cost === undefined) throw new Error(`${name} was not measured at every size`)
  return [time, cost]
}

/** @param {readonly Run[]} runs of one target, smallest first */
function callTable(runs) {
  const rows = [...runs[0].timings.keys()].flatMap((name) =>
    runs.map((run, i) => {
      const [time, cost] = measured(run, name)
      const [firstTime, firstCost] = measured(runs[0], name)
      return [
        i === 0 ? name : '',
        thousands(run.size),
        time.matches === null ? '' : thousands(time.matches),
        short(time.p50),
        short(time.p95),
        short(time.perSecond),
        short(cost.roundTrips),
        thousands(cost.rowsRead),
        cost.rowsWritten === 0 ? '' : thousands(cost.rowsWritten),
        i === 0 ? '' : ratio(time.p50, firstTime.p50),
        i === 0 ? '' : ratio(cost.rowsRead, firstCost.rowsRead),
      ]
    }),
  )
  return markdownTable(
    ['call', 'entries', 'total', 'p50 ms', 'p95 ms', 'calls/s', 'trips', 'rows read', 'written', 'p50 ×', 'rows ×'],
    rows,
  )
}

/**
 * @param {readonly Run[]} runs
 * @param {string} where from `circumstances`
 * @param {number} count of calls a case
 */
export function loadReport(runs, where, count) {
  const targets = [...new Set(runs.map(({ target }) => target))]
  const parts = targets.map((target) => {
    const own = runs.filter((run) => run.target === target).sort((a, b) => a.size - b.size)
    return `### ${TITLES[target]}\n\n${fillTable(own)}\n\n${callTable(own)}`
  })
  return `## Load

${where}; one connection, up to ${count} calls a row.

\`total\` is what the call itself reports; where it is 100 at every size, growth of the rows read is the fault of the plan.
\`×\` compares with the smallest table.

${parts.join('\n\n')}
`
}
