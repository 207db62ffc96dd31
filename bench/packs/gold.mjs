// The gold set: a made-up history of a team, and goals with the memories that their packs should contain. See
// ../README.md.
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
 * @property {string} [org] the other one
 * @property {string} [owner] whose key stores it, when it is not the asker's
 * @property {string} [agent] @property {boolean} [diary] @property {string} [audience] @property {string} [status]
 * @property {string} [thread] @property {string} [source] @property {string[]} [tags] @property {string} [expires_at]
 * @property {string[]} [links] `<relation>:<id>`
 * @property {string} [sameAs] the memory that it repeats
 *
 * @typedef {object} Goal
 * @property {string} id @property {string} goal @property {string} intent @property {string} project
 * @property {string[]} required memories that the pack must contain; empty for a goal that is unrelated to the history
 * @property {string[]} [optional] memories that the pack may contain, with half the value
 * @property {string[]} [unwanted] plausible but wrong memories: outdated, or of another project
 * @property {string} [facet] the section of the answer
 * @property {string} [agent] the agent whose diary is included
 * @property {string} [domain] what an agent would pass with it; not asked with (see `ask.mjs`)
 * @property {boolean} [paraphrase] shares few words with what it needs
 * @property {string} [sort] what is hard about it: `resume`, `small`, `languages`, `private`
 * @property {number} [limit] items that the pack may hold, @property {number} [maxTokens] and its tokens; where it is a small one
 */

const HERE = import.meta.dirname
const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/**
 * The made-up teams. Rules are chosen on the ferries and on half of the bakery's goals; studio and bakery were written afterwards, each
 * by other writers in other words who knew no rule, for reporting, and a part of their goals is reserved for one last measurement.
 *
 * @typedef {{name: string, org: string, asker: string, now: string, project: string}} Team
 * @type {Record<string, Team>}
 */
export const TEAMS = {
  ferries: { name: 'ferries', org: 'harbor', asker: 'mira', now: '2026-11-20T09:00:00Z', project: 'ferrywise' },
  studio: { name: 'studio', org: 'tonwerk', asker: 'jonas', now: '2026-10-14T14:00:00Z', project: 'quillcast' },
  bakery: { name: 'bakery', org: 'kruste', asker: 'lena', now: '2026-09-30T08:00:00Z', project: 'ofenplan' },
  harbour: { name: 'harbour', org: 'westerduin', asker: 'femke', now: '2026-10-21T07:30:00Z', project: 'quaymaster' },
  clinic: { name: 'clinic', org: 'pfotenhaus', asker: 'noor', now: '2026-11-05T08:30:00Z', project: 'praxis' },
}

/** The history of a team in the order of time. @param {Team} team @returns {Memory[]} */
export const readHistory = ({ name }) =>
  readdirSync(join(HERE, name, 'history'))
    .sort()
    .flatMap((file) => lines(join(HERE, name, 'history', file)))
    .sort((a, b) => (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1))

/**
 * Of four goals of the studio two are reported on again and again, and two wait for the last look. Of the bakery's first goals (b…) half
 * may be read; the others, and those that a second writer asked of the same history (m…), wait for the last look. So do all of the harbour's.
 * The clinic's, of the sorts that are hard, may be read by halves.
 */
const partOf = ({ name }, id) => {
  if (name === 'ferries') return 'development'
  if (name === 'harbour') return 'last look'
  const first = (createHash('sha256').update(`${name} ${id}`).digest()[0] ?? 0) % 2 === 0
  if (name === 'bakery') return first && id.startsWith('b') ? 'development' : 'last look'
  if (name === 'clinic') return first ? 'development' : 'held out'
  return first ? 'held out' : 'last look'
}

/** @param {Team} team @returns {(Goal & {part: 'development' | 'held out' | 'last look'})[]} a part follows from the name's hash */
export const readGoals = (team) =>
  lines(join(HERE, team.name, 'goals.jsonl')).map((goal) => ({ ...goal, part: partOf(team, goal.id) }))

/**
 * Returns memories that a pack for this goal must not contain, by rules and not by labels: other orgs, other owners' pages, diaries that were not
 * requested, other projects, superseded by a link, expired or archived.
 *
 * @param {Goal} goal
 * @param {Memory[]} history
 * @param {Team} team
 */
export function forbiddenIn({ project, agent }, history, { now }) {
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
    (memory.expires_at !== undefined && memory.expires_at <= now) ||
    memory.status === 'archived'
  return new Set(history.filter(forbidden).map(({ id }) => id))
}

/** Finds wrong labels: unknown names, required but forbidden memories, answers without a section. */
export function flawsOfLabels(goals, history, team) {
  const byId = new Map(history.map((memory) => [memory.id, memory]))
  return goals.flatMap((goal) => {
    const { id, required, optional = [], unwanted = [], facet } = goal
    const forbidden = forbiddenIn(goal, history, team)
    const unknown = [...required, ...optional, ...unwanted].filter((name) => !byId.has(name))
    const misplaced = facet !== undefined && !required.some((name) => facetOf(byId.get(name) ?? {}) === facet)
    const hidden = [...required, ...optional].filter((name) => forbidden.has(name))
    return [
      ...unknown.map((name) => `${id} names ${name}`),
      ...hidden.map((name) => `${id} asks for ${name}`),
      ...(misplaced ? [`${id} has nothing in ${facet}`] : []),
    ]
  })
}

/** Sections of a pack by kind (platform contract §2); done work is prior_art. */
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
