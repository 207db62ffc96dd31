// Scores packs and flat lists: pure functions of an answer and the gold set.
import { mean, random } from '../support/numbers.mjs'
import { facetOf, forbiddenIn } from './gold.mjs'

/**
 * @typedef {object} Answer the result for a goal
 * @property {{name: string, tokens: number, facet: string | null, marked?: boolean}[]} items best first; a facet where there are sections,
 *   and whether it is marked as restated later
 * @property {string[]} sections facets in order
 * @property {number} ms
 */

const CHARS_PER_TOKEN = 4
/** Returns whether an item is marked as restated later or superseded (packs contract, "Left out"). */
export const isMarked = (reason) => /^(?:older|later): see \[/.test(reason)

/** The tokens of one item: its name and its content. */
export const tokensOf = (name, content) => Math.ceil(`${name}\n${content}`.length / CHARS_PER_TOKEN)

export const totalTokens = ({ items }) => items.reduce((sum, { tokens }) => sum + tokens, 0)

/** Returns the first items that fit into a number of tokens. */
export function withinTokens(answer, tokens) {
  let left = tokens
  const items = []
  for (const item of answer.items) {
    left -= item.tokens
    if (left < 0) break
    items.push(item)
  }
  return { ...answer, items, sections: [] }
}

/** A memory and all its duplicates. */
function sameThings(history) {
  const first = new Map(history.map(({ id, sameAs }) => [id, sameAs ?? id]))
  return (id) => first.get(id) ?? id
}

/** The order of sections by intent, as the contract has it; facets that are not named come after. */
const ORDER = {
  build: [
    'active_work',
    'decisions',
    'constraints',
    'procedures',
    'gotchas',
    'prior_art',
    'artifacts',
    'recent_memory',
  ],
  plan: ['planning', 'decisions', 'ideation', 'domain', 'constraints', 'active_work', 'prior_art'],
  ideate: ['ideation', 'domain', 'decisions', 'planning', 'recent_memory'],
  research: ['domain', 'artifacts', 'recent_memory', 'decisions', 'constraints'],
  debug: ['gotchas', 'procedures', 'artifacts', 'active_work', 'prior_art', 'recent_memory'],
  decide: ['decisions', 'ideation', 'domain', 'constraints', 'planning'],
  learn: ['recent_memory', 'domain', 'procedures', 'gotchas', 'decisions'],
  general: ['active_work', 'decisions', 'planning', 'ideation', 'domain', 'procedures', 'prior_art', 'recent_memory'],
}

/**
 * Facets that a pack may start with: the first of the required ones, and before it optional ones or work in progress.
 *
 * @param {import('./gold.mjs').Goal} goal
 */
function openings(goal, byId, inFlight) {
  const { required, optional = [], intent } = goal
  const order = ORDER[intent]
  const place = (facet) => (order.includes(facet) ? order.indexOf(facet) : order.length)
  const facets = (ids) => ids.map((id) => facetOf(byId.get(id)))
  const firstPlace = Math.min(...facets(required).map(place))
  const welcome = [...facets(optional), ...(inFlight ? ['active_work'] : [])].filter(
    (facet) => place(facet) < firstPlace,
  )
  return new Set([...facets(required).filter((facet) => place(facet) === firstPlace), ...welcome])
}

/**
 * @param {import('./gold.mjs').Goal} goal
 * @param {Answer} answer
 * @param {import('./gold.mjs').Memory[]} history
 * @param {import('./gold.mjs').Team} team
 */
export function judge(goal, answer, history, team) {
  const same = sameThings(history)
  const byId = new Map(history.map((memory) => [memory.id, memory]))
  const { required, optional = [], unwanted = [], facet } = goal
  const shown = answer.items.map(({ name }) => same(name))
  const forbidden = forbiddenIn(goal, history, team)
  const found = required.filter((id) => shown.includes(same(id)))
  /** @type {Map<string, number>} */
  const worth = new Map()
  for (const id of optional) worth.set(same(id), 0.5)
  for (const id of required) worth.set(same(id), 1)
  const seen = new Set()
  const gains = shown.map((id) => {
    const gain = seen.has(id) ? 0 : Number(worth.get(id) ?? 0)
    seen.add(id)
    return gain
  })
  const discounted = (values) => values.reduce((sum, value, i) => sum + value / Math.log2(i + 2), 0)
  const ideal = discounted(
    [...worth.values()].sort((a, b) => Number(b) - Number(a)).slice(0, Math.max(shown.length, 12)),
  )
  const inFlight = history.some(
    ({ project, status }) => project === goal.project && ['doing', 'blocked', 'review'].includes(status ?? ''),
  )
  const tokens = totalTokens(answer)
  return {
    recall: required.length === 0 ? null : found.length / required.length,
    ndcg: ideal === 0 ? null : discounted(gains) / ideal,
    forbidden: answer.items.filter(({ name }) => forbidden.has(name)).map(({ name }) => name),
    stale:
      unwanted.length === 0
        ? null
        : unwanted.filter((id) => answer.items.some(({ name }) => name === id)).length / unwanted.length,
    unmarked:
      unwanted.length === 0
        ? null
        : unwanted.filter((id) => answer.items.some(({ name, marked }) => name === id && marked !== true)).length /
          unwanted.length,
    duplicates: shown.length - new Set(shown).size,
    items: shown.length,
    facet:
      facet === undefined
        ? null
        : Number(answer.items.some((item) => item.facet === facet && required.includes(item.name))),
    opening: required.length === 0 ? null : Number(openings(goal, byId, inFlight).has(answer.sections[0] ?? '')),
    tokens,
    found: found.length,
    missing: required.filter((id) => !shown.includes(same(id))),
  }
}

/** The middle 90 % of the mean difference between pairs, over 10,000 draws with the same seed. */
export function pairedInterval(differences, draws = 10_000) {
  const next = random(20_261_120)
  const means = Array.from({ length: draws }, () =>
    mean(Array.from(differences, () => differences[Math.floor(next() * differences.length)] ?? 0)),
  ).sort((a, b) => a - b)
  return { mean: mean(differences), low: means[Math.floor(0.05 * draws)], high: means[Math.floor(0.95 * draws)] }
}
