// How good an ordering is where a question may need several turns: strictly all of them, or any of them.

export const MEASURES = ['all@5', 'all@10', 'all@20', 'R@1', 'R@5', 'R@10', 'any@5', 'any@10', 'mrr']

/**
 * @param {readonly (number | string)[]} ids best first
 * @param {ReadonlySet<number | string>} relevant not empty
 * @returns {Record<string, number>} `all@k`: 1 where every one is among the first k (strict); `R@k`: the share of them that is; `any@k`: 1
 *   where one is; `mrr`: one divided by the place of the first
 */
export function judgeStrictly(ids, relevant) {
  const places = [...relevant].map((id) => ids.indexOf(id)).map((at) => (at < 0 ? Number.POSITIVE_INFINITY : at))
  const within = (k) => places.filter((place) => place < k).length
  const first = Math.min(...places)
  return {
    'all@5': Number(within(5) === places.length),
    'all@10': Number(within(10) === places.length),
    'all@20': Number(within(20) === places.length),
    'R@1': within(1) / places.length,
    'R@5': within(5) / places.length,
    'R@10': within(10) / places.length,
    'any@5': Number(within(5) > 0),
    'any@10': Number(within(10) > 0),
    mrr: Number.isFinite(first) ? 1 / (first + 1) : 0,
  }
}
