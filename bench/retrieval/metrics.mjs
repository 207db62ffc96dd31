// How good an ordering is, where a document is either an answer or not.
import { mean, percentile } from '../support/numbers.mjs'

/** Names of the measures of quality, as `--min` takes them. */
export const QUALITY = ['recall@5', 'recall@10', 'recall@20', 'ndcg@10', 'mrr']

const found = (ids, relevant, depth) => ids.slice(0, depth).filter((id) => relevant.has(id)).length

const gain = (rank) => 1 / Math.log2(rank + 2)

/**
 * @param {readonly number[]} ids best first
 * @param {ReadonlySet<number>} relevant
 * @returns {Record<string, number>} by name of the measure
 */
export function judge(ids, relevant) {
  const first = ids.findIndex((id) => relevant.has(id))
  const gained = ids.slice(0, 10).reduce((sum, id, rank) => sum + (relevant.has(id) ? gain(rank) : 0), 0)
  const ideal = Array.from({ length: Math.min(10, relevant.size) }, (_, rank) => gain(rank)).reduce((a, b) => a + b, 0)
  return {
    'recall@5': found(ids, relevant, 5) / relevant.size,
    'recall@10': found(ids, relevant, 10) / relevant.size,
    'recall@20': found(ids, relevant, 20) / relevant.size,
    'ndcg@10': gained / ideal,
    mrr: first < 0 ? 0 : 1 / (first + 1),
  }
}

/**
 * @param {readonly {scores: Record<string, number>, ms: number}[]} answers
 * @returns {Record<string, number>} the mean of each measure of quality, and p50 and p95 in milliseconds
 */
export function summarize(answers) {
  const times = answers.map(({ ms }) => ms)
  return {
    ...Object.fromEntries(QUALITY.map((name) => [name, mean(answers.map(({ scores }) => scores[name]))])),
    queries: answers.length,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
  }
}
