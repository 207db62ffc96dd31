// Compares two commits: the results of one table before and after.
import { markdownTable, short, thousands } from '../support/numbers.mjs'

/** @typedef {import('./report.mjs').Run} Run */

const NAMES = { workerd: 'D1', wrangler: 'D1 behind `wrangler dev`', postgres: 'PostgreSQL' }

/** @param {Run} before @param {Run} after */
function compareTable(before, after) {
  const cell = (map, name, of) => {
    const found = map.get(name)
    return found === undefined ? '–' : of(found)
  }
  const rows = [...new Set([...before.timings.keys(), ...after.timings.keys()])].map((name) => [
    name,
    cell(before.timings, name, ({ p50 }) => short(p50)),
    cell(after.timings, name, ({ p50 }) => short(p50)),
    cell(before.timings, name, ({ p95 }) => short(p95)),
    cell(after.timings, name, ({ p95 }) => short(p95)),
    cell(before.costs, name, ({ roundTrips }) => short(roundTrips)),
    cell(after.costs, name, ({ roundTrips }) => short(roundTrips)),
    cell(before.costs, name, ({ rowsRead }) => thousands(rowsRead)),
    cell(after.costs, name, ({ rowsRead }) => thousands(rowsRead)),
  ])
  const both = ({ speed }) => `${short(speed.seconds)} s`
  return `Filling took ${both(before)} before, ${both(after)} after.

${markdownTable(
  [
    'call',
    'before, p50 ms',
    'after',
    'before, p95 ms',
    'after',
    'before, trips',
    'after',
    'before, rows read',
    'after',
  ],
  rows,
)}`
}

/**
 * @param {readonly Run[]} before
 * @param {readonly Run[]} after of the same targets and sizes
 * @param {{ where: readonly [string, string], count: number }} run
 */
export function compareReport(before, after, { where, count }) {
  const parts = after.map((run) => {
    const other = before.find(({ target, size }) => target === run.target && size === run.size)
    if (other === undefined) throw new Error(`${run.target} ${run.size} was not measured before`)
    return `### ${NAMES[run.target]}, ${thousands(run.size)} entries\n\n${compareTable(other, run)}`
  })
  return `## Load before and after

Before: ${where[0]}.
After: ${where[1]}. One connection, up to ${count} calls a row; rows read as D1 bills them.

${parts.join('\n\n')}
`
}
