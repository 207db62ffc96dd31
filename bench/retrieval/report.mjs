// Rows of the retrieval bench, and its record.
import { markdownTable, mean, short } from '../support/numbers.mjs'
import { QUALITY, summarize } from './metrics.mjs'

/**
 * @typedef {object} Answer
 * @property {string} collection
 * @property {string} split
 * @property {string} leg
 * @property {Record<string, number>} scores
 * @property {number} ms
 */

const unique = (values) => [...new Set(values)]

/** Splits in the order in which they are shown: all of a collection comes after its parts. */
const splitsOf = (items) => [
  ...unique(items.map(({ split }) => split))
    .filter((split) => split !== 'all')
    .sort(),
  'all',
]

/**
 * One row per search for each split of each collection, for all its questions, and for the mean of the collections.
 *
 * @param {readonly Answer[]} answers
 * @returns {import('./gate.mjs').Row[]}
 */
export function toRows(answers) {
  const rows = []
  for (const collection of unique(answers.map((answer) => answer.collection))) {
    const own = answers.filter((answer) => answer.collection === collection)
    for (const split of splitsOf(own))
      for (const leg of unique(own.map((answer) => answer.leg))) {
        const chosen = own.filter((answer) => answer.leg === leg && (split === 'all' || answer.split === split))
        rows.push({ collection, split, leg, values: summarize(chosen) })
      }
  }
  return withMeans(rows)
}

/** Appends the mean of the collections to their rows. @param {import('./gate.mjs').Row[]} ofCollections */
export function withMeans(ofCollections) {
  const rows = ofCollections.filter(({ collection }) => collection !== 'mean')
  for (const split of splitsOf(rows))
    for (const leg of unique(rows.map((row) => row.leg))) {
      const chosen = rows.filter((row) => row.split === split && row.leg === leg)
      const names = Object.keys(chosen[0]?.values ?? {})
      const values = Object.fromEntries(names.map((name) => [name, mean(chosen.map((row) => row.values[name]))]))
      values.queries = chosen.reduce((sum, row) => sum + row.values.queries, 0)
      if (chosen.length > 0) rows.push({ collection: 'mean', split, leg, values })
    }
  return rows
}

/** A collection with one split needs no second row with the same values. */
function isRepeated(row, rows) {
  if (row.split !== 'all') return false
  return rows.some(
    (other) =>
      other.collection === row.collection &&
      other.leg === row.leg &&
      other.split !== 'all' &&
      other.values.queries === row.values.queries,
  )
}

/**
 * The measurements with the vectors of one model.
 *
 * @typedef {object} Measured
 * @property {string} model
 * @property {import('./gate.mjs').Row[]} rows
 */

const LEGS = ['fts', 'semantic', 'hybrid']

/** Recall and nDCG of the searches of each collection, compared with another run. */
function comparison(measured, before) {
  const cell = (runs, model, collection, leg) => {
    const rows = runs.find((run) => run.model === model)?.rows ?? []
    const row = rows.find((one) => one.collection === collection && one.split === 'all' && one.leg === leg)
    if (row === undefined) return '–'
    return ['recall@10', 'ndcg@10'].map((name) => (row.values[name] * 100).toFixed(1)).join(' / ')
  }
  const rows = measured.flatMap(({ model, rows }) =>
    unique(rows.map(({ collection }) => collection)).map((name) => [
      ...[model, name],
      ...LEGS.flatMap((leg) => [cell(before, model, name, leg), cell(measured, model, name, leg)]),
    ]),
  )
  const head = ['vectors', 'collection', ...LEGS.flatMap((leg) => [`${leg}, before`, 'now'])]
  return markdownTable(head, rows)
}

/**
 * @param {readonly Measured[]} measured
 * @param {{where: string, measured: readonly Measured[]} | null} before another run to compare with
 * @param {string} where from `circumstances`
 * @param {readonly string[]} notes
 */
export function retrievalReport(measured, before, where, notes) {
  const beside =
    before === null
      ? ''
      : `\nRecall@10 / nDCG@10 now, and before (${before.where}):\n\n${comparison(measured, before.measured)}\n`
  const tables = measured.map(({ model, rows }) => `### Vectors of ${model}\n\n${legsTable(rows)}\n`)
  return `## Retrieval

${where}.

Measures in hundredths. \`fts5-or\` is SQLite alone, in this process: its times leave out MCP and the Worker.
${beside}
${tables.join('\n')}${notes.map((note) => `\n* ${note}`).join('')}
`
}

/** @param {readonly import('./gate.mjs').Row[]} rows */
function legsTable(rows) {
  const shown = rows.filter((row) => !isRepeated(row, rows))
  return markdownTable(
    ['collection', 'split', 'questions', 'leg', ...QUALITY, 'p50 ms', 'p95 ms'],
    shown.map(({ collection, split, leg, values }) => [
      collection,
      split,
      values.queries,
      leg,
      ...QUALITY.map((name) => (values[name] * 100).toFixed(1)),
      short(values.p50),
      short(values.p95),
    ]),
  )
}
