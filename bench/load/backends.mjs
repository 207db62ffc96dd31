// The section of the load record that compares D1 and PostgreSQL: the same entries, the same calls, the same machine.
import { markdownTable, short, thousands } from '../support/numbers.mjs'

export const BACKENDS = { workerd: 'D1', postgres: 'PostgreSQL' }

/** @param {readonly import('./report.mjs').Run[]} runs */
function fillTable(runs) {
  return markdownTable(
    ['entries stored', 'backend', 'seconds', 'entries/s', 'ms a batch, first tenth', 'last tenth'],
    runs.map(({ size, target, speed }) => [
      thousands(size),
      BACKENDS[target],
      short(speed.seconds),
      short(speed.perSecond),
      short(speed.firstBatches),
      short(speed.lastBatches),
    ]),
  )
}

const cells = (run, name) => {
  const [time, cost] = [run?.timings.get(name), run?.costs.get(name)]
  if (time === undefined || cost === undefined) return ['–', '–', '–', '–']
  return [short(time.p50), short(time.p95), short(time.perSecond), short(cost.roundTrips)]
}

/** @param {readonly import('./report.mjs').Run[]} runs of one size */
function callTable(runs) {
  const targets = Object.keys(BACKENDS)
  const head = targets.flatMap((target) =>
    ['p50 ms', 'p95 ms', 'calls/s', 'trips'].map((name) => `${BACKENDS[target]} ${name}`),
  )
  const names = [...(runs[0]?.timings.keys() ?? [])]
  const of = (target) => runs.find((run) => run.target === target)
  return markdownTable(
    ['call', ...head],
    names.map((name) => [name, ...targets.flatMap((target) => cells(of(target), name))]),
  )
}

/**
 * @param {readonly import('./report.mjs').Run[]} runs
 * @param {string} where from `circumstances`
 * @param {number} count of calls a case
 */
export function backendsReport(runs, where, count) {
  const sizes = [...new Set(runs.map(({ size }) => size))].sort((a, b) => a - b)
  const tables = sizes.map(
    (size) => `### ${thousands(size)} entries\n\n${callTable(runs.filter((run) => run.size === size))}`,
  )
  return `## D1 and PostgreSQL side by side

${where}; plain workerd, one connection, up to ${count} calls a row; PostgreSQL 15 with pgvector 0.8 on the same machine, without
fsync, through the local Hyperdrive binding, which keeps no connections: each call opens one of its own.

\`trips\`: batches of statements that wait for an answer. D1 here is a file in the same process, so a trip costs next to nothing;
both are a network away in a deployment, where the trips decide.

${fillTable(runs)}

${tables.join('\n\n')}
`
}
