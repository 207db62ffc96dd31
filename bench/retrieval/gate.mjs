// `--min fts.recall@10=0.6`: a minimum for a measure.
import { LEG_NAMES } from './legs.mjs'
import { QUALITY } from './metrics.mjs'

/**
 * One summary of a search on one split of one collection. The split `all` has every question; the collection `mean` is
 * the plain mean of the collections.
 *
 * @typedef {object} Row
 * @property {string} collection
 * @property {string} split
 * @property {string} leg
 * @property {Record<string, number>} values
 *
 * @typedef {object} Floor
 * @property {string} text as given
 * @property {string} collection
 * @property {string} split
 * @property {string} leg
 * @property {string} measure
 * @property {number} least
 */

const FORM = /^(?:([\w-]+)\/)?(?:([\w-]+)\/)?([\w-]+)\.([\w@]+)=(\d*\.?\d+)$/

/**
 * Reads `[collection/][split/]leg.measure=value`. One prefix alone is a split when it is called dev, test or all.
 *
 * @param {string} text
 * @returns {Floor}
 */
export function readFloor(text) {
  const match = FORM.exec(text)
  const [, first, second, leg, measure, least] = match ?? []
  if (!match || !LEG_NAMES.includes(leg) || !QUALITY.includes(measure))
    throw new Error(
      `--min ${text}: write [collection/][split/]leg.measure=value with a leg of ${LEG_NAMES.join(', ')} and a measure ` +
        `of ${QUALITY.join(', ')}`,
    )
  const alone = first !== undefined && second === undefined
  const isSplit = alone && ['dev', 'test', 'all'].includes(first)
  return {
    text,
    collection: isSplit ? 'mean' : (first ?? 'mean'),
    split: isSplit ? first : (second ?? 'all'),
    leg,
    measure,
    least: Number(least),
  }
}

/** How much less recall@10 a hybrid search may have than the better of its two searches on one collection. */
const SLACK = 0.02
/** Minimum gain over full-text search on the mean of the collections. Vectors of a real model know other words. */
const GAIN = { local: 0, real: 0.07 }

/**
 * Limits that every run checks for the hybrid search, so that no change makes it worse than its parts.
 *
 * @param {string} model
 * @param {readonly Row[]} rows of one model
 * @returns {string[]} what does not hold
 */
export function hybridFailures(model, rows) {
  const recall = (collection, leg) =>
    rows.find((row) => row.collection === collection && row.split === 'all' && row.leg === leg)?.values['recall@10'] ??
    0
  const names = [...new Set(rows.map(({ collection }) => collection))]
  const broken = names.flatMap((name) => {
    const least = name === 'mean' ? 0 : Math.max(recall(name, 'fts'), recall(name, 'semantic')) - SLACK
    const found = recall(name, 'hybrid')
    return found >= least
      ? []
      : [`${model}, ${name}: hybrid has ${found.toFixed(4)} of recall@10, not ${least.toFixed(4)}`]
  })
  const least = recall('mean', 'fts') + (model === 'local' ? GAIN.local : GAIN.real)
  const found = recall('mean', 'hybrid')
  return found >= least
    ? broken
    : [...broken, `${model}, mean: hybrid has ${found.toFixed(4)}, not ${least.toFixed(4)}`]
}

/**
 * @param {readonly Floor[]} floors
 * @param {readonly Row[]} rows
 * @returns {string[]} what falls below its floor; a row that does not exist does
 */
export function failures(floors, rows) {
  return floors.flatMap(({ text, collection, split, leg, measure, least }) => {
    const row = rows.find((one) => one.collection === collection && one.split === split && one.leg === leg)
    if (row === undefined) return [`${text}: nothing was measured for it`]
    const value = row.values[measure]
    return value >= least ? [] : [`${text}: it is ${value.toFixed(4)}`]
  })
}
