// The gold set: a made-up history of a team, and goals with what their packs should hold. See ../README.md.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} Memory
 * @property {string} id its name in the goals
 * @property {string} at when it was stored
 * @property {'remember' | 'context_store' | 'store_context'} by the tool that stores it
 * @property {string} text
 * @property {string} [kind] @property {string} [title] @property {string} [project] @property {string} [domain]
 * @property {string} [org] `rival` for the other one
 * @property {string} [owner] whose key stores it, when it is not mira's
 * @property {string} [agent] @property {boolean} [diary] @property {string} [audience] @property {string} [status]
 * @property {string} [thread] @property {string} [source] @property {string[]} [tags] @property {string} [expires_at]
 * @property {string[]} [links] `<relation>:<id>`
 * @property {string} [sameAs] the memory that it says again
 *
 * @typedef {object} Goal
 * @property {string} id @property {string} goal @property {string} intent @property {string} project
 * @property {string[]} required what the pack must hold; empty for a goal that has nothing to do with the history
 * @property {string[]} [optional] what may stand there too, with half the worth
 * @property {string[]} [unwanted] what looks right and is not: outdated, or another project's
 * @property {string} [facet] the section in which the answer stands
 * @property {string} [agent] whose diary is asked for
 */

const HERE = import.meta.dirname
const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** When the goals are asked: a Friday. */
export const NOW = '2026-11-20T09:00:00Z'
/** Who asks. */
export const ASKER = 'mira'

/** The history in the order of time. @returns {Memory[]} */
export const readHistory = () =>
  readdirSync(join(HERE, 'history'))
    .sort()
    .flatMap((file) => lines(join(HERE, 'history', file)))
    .sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1))

/** @returns {(Goal & {split: 'dev' | 'test'})[]} half to choose rules on, half to report, by a hash of the name */
export const readGoals = () =>
  lines(join(HERE, 'goals.jsonl')).map((goal) => ({
    ...goal,
    split: (createHash('sha256').update(goal.id).digest()[0] ?? 0) % 2 === 0 ? 'dev' : 'test',
  }))

/**
 * What a pack for this goal must not hold, by the rules and not by a label: other orgs, other owners' pages, diaries that were not
 * asked for, other
 * projects, what a link says is superseded, what has expired or was put away.
 *
 * @param {Goal} goal
 * @param {Memory[]} history
 */
export function forbiddenIn({ project, agent }, history) {
  const superseded = new Set(
    history.flatMap(({ links = [] }) =>
      links.filter((link) => link.startsWith('supersedes:')).map((link) => link.slice('supersedes:'.length)),
    ),
  )
  const forbidden = (memory) =>
    memory.org !== undefined ||
    (memory.owner !== undefined && (memory.diary === true || memory.audience === 'private')) ||
    (memory.diary === true && memory.agent !== agent) ||
    (memory.project !== undefined && memory.project !== project) ||
    superseded.has(memory.id) ||
    (memory.expires_at !== undefined && memory.expires_at <= NOW) ||
    memory.status === 'archived'
  return new Set(history.filter(forbidden).map(({ id }) => id))
}

/** Names that the goals use and the history does not know, and answers that stand in no section: labels that are wrong. */
export function flawsOfLabels(goals, history) {
  const byId = new Map(history.map((memory) => [memory.id, memory]))
  return goals.flatMap(({ id, required, optional = [], unwanted = [], facet }) => {
    const unknown = [...required, ...optional, ...unwanted].filter((name) => !byId.has(name))
    const misplaced = facet !== undefined && !required.some((name) => facetOf(byId.get(name) ?? {}) === facet)
    return [...unknown.map((name) => `${id} names ${name}`), ...(misplaced ? [`${id} has nothing in ${facet}`] : [])]
  })
}

/** Where the kinds stand in a pack (platform contract §2); done work is prior_art. */
const FACETS = {
  active_work: ['task', 'epic', 'project'],
  decisions: ['decision'],
  constraints: ['rule', 'guide', 'convention'],
  gotchas: ['gotcha', 'error_pattern', 'bug_fix'],
  procedures: ['pattern', 'procedure', 'template', 'tool', 'code_pattern'],
  planning: ['plan'],
  ideation: ['idea'],
  artifacts: ['artifact', 'document', 'source', 'config_file'],
  domain: ['claim', 'domain', 'topic', 'relationship'],
  verification: ['verification'],
}

/** @param {Pick<Memory, 'kind' | 'status'>} memory */
export function facetOf({ kind, status }) {
  const facet = Object.entries(FACETS).find(([, kinds]) => kinds.includes(kind ?? ''))?.[0] ?? 'recent_memory'
  return facet === 'active_work' && status === 'done' ? 'prior_art' : facet
}
