// `commonplace orgs|projects|keys|audit`: administration of a server from the command line.
import { TYPED } from './place.mjs'
import { ask, call, fail, messageOf, printTable, shown } from './server.mjs'

const at = (org, rest) => `/orgs/${encodeURIComponent(org)}${rest}`
const date = (iso) => iso?.slice(0, 16).replace('T', ' ')

/**
 * Returns the organization that is named, else the only one that the credential can see.
 *
 * @param {{ url: string, org?: string | undefined }} options
 */
export async function orgOf({ url, org }) {
  if (org !== undefined) return org
  // The command needs the same role as this lookup; the user did not type the lookup's name.
  const { orgs } = await ask(url, 'GET', '/orgs').catch((error) =>
    fail(messageOf(error).replace(/^orgs\.list needs/, 'this command needs')),
  )
  if (orgs.length === 1) return orgs[0].id
  if (orgs.length === 0) return fail(`no organization exists yet; create one: ${TYPED.command} orgs create ID`)
  return fail(`name the organization with --org, one of: ${orgs.map(({ id }) => id).join(', ')}`)
}

function show(options, answer, print) {
  if (options.json) console.log(JSON.stringify(answer, null, 2))
  else print(answer)
}

const ORG_COLUMNS = [
  ['ID', (org) => org.id],
  ['NAME', (org) => org.name],
  ['CREATED', (org) => date(org.created_at)],
]

const stateOf = ({ revoked_at: revoked, expires_at: expires, expires_soon: soon = false }) => {
  if (revoked) return `revoked ${date(revoked)}`
  if (!expires) return 'valid'
  if (new Date(expires) <= new Date()) return `expired ${date(expires)}`
  return `until ${date(expires)}${soon ? ' (soon)' : ''}`
}

/** Formats the limits of a key, and how much of its quota is used. */
const limitsOf = ({ rate_limit: rate, max_entries: entries, stored_today: stored = 0 }) =>
  [...(rate ? [`${rate}/min`] : []), ...(entries ? [`${stored} of ${entries} today`] : [])].join(', ') || null

const KEY_COLUMNS = [
  ['ID', (key) => key.id],
  ['NAME', (key) => key.name],
  ['ROLE', (key) => key.role],
  ['PROJECTS', (key) => key.projects?.join(', ') ?? 'all'],
  ['AGENT', (key) => key.agent],
  ['OWNER', (key) => (key.owner === key.id ? null : key.owner)],
  ['STATE', stateOf],
  ['LAST USED', (key) => date(key.last_used_at)],
  ['LIMITS', limitsOf],
]

const EVENT_COLUMNS = [
  ['SEQ', (event) => event.seq],
  ['AT', (event) => event.at],
  ['KEY', (event) => event.key_id],
  ['AGENT', (event) => event.agent],
  ['ACTION', (event) => event.action],
  ['', (event) => (event.allowed ? '' : 'DENIED')],
  ['IDS', (event) => (event.ids.length > 8 ? `${event.ids.slice(0, 8)} … ${event.ids.length}` : event.ids.join(' '))],
  [
    'DETAIL',
    (event) =>
      Object.entries(event.detail)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
  ],
]

const listOrgs = async (options) =>
  show(options, await call(options.url, 'GET', '/orgs'), ({ orgs }) => printTable(orgs, ORG_COLUMNS))

async function createOrg(options, id) {
  const org = await call(options.url, 'POST', '/orgs', { id, name: options.name ?? id })
  show(options, org, () => console.log(`Created organization ${org.id}.`))
}

const PROJECT_COLUMNS = [
  ['KEY', (project) => project.id],
  ['NAME', (project) => (project.name === project.id ? null : project.name)],
  ['ENTRIES', (project) => project.entries],
  ['LAST USE', (project) => date(project.last_use)],
  ['OTHER NAMES', ({ aliases, merged = [] }) => several([...new Set([...merged, ...aliases.map(({ name }) => name)])])],
]

/** Formats the first few of a list, and how many more there are. */
const several = (names) => (names.length > 4 ? `${names.slice(0, 4).join(', ')} … ${names.length}` : names.join(', '))

/** Prints likely duplicates of projects, each with the command that merges them. */
function printForks({ forks }) {
  if (forks.length === 0) return console.log('No likely duplicates found.')
  for (const { reason, projects, into } of forks) {
    console.log(`${reason}: ${projects.map(({ key, entries }) => `${shown(key)} (${entries})`).join(', ')}`)
    for (const { key } of projects)
      if (key !== into)
        console.log(`  ${TYPED.command} projects merge ${JSON.stringify(key)} --into ${JSON.stringify(into)}`)
  }
  console.log('Nothing was merged. Merge only names of the same project; two remotes are often two projects.')
}

async function listProjects(options) {
  const path = at(await orgOf(options), '/projects')
  if (options.forked) return show(options, await call(options.url, 'GET', `${path}/forked`), printForks)
  show(options, await call(options.url, 'GET', path), ({ projects }) => printTable(projects, PROJECT_COLUMNS))
}

/** @param {'rename' | 'merge' | 'split' | 'undo'} verb @param {(change: any) => string} told */
const changeProjects = (verb, bodyOf, told) => async (options, word) => {
  const path = at(await orgOf(options), `/projects/${verb}`)
  const change = await call(options.url, 'POST', path, bodyOf(options, word))
  show(options, change, () => {
    const undo = verb === 'undo' ? '' : ` Undo: ${TYPED.command} projects undo ${change.change}`
    console.log(`${told(change)}${undo}`)
  })
}

const renameProject = changeProjects(
  'rename',
  ({ name }, project) => ({ project, name }),
  ({ project, is }) => `${shown(project)} is called ${shown(is)}.`,
)
const mergeProjects = changeProjects(
  'merge',
  ({ into }, from) => ({ from, into }),
  ({ from, project }) => `${shown(from)} is a name of ${shown(project)}; its memories are found under both names.`,
)
const splitProject = changeProjects(
  'split',
  (_, name) => ({ name }),
  ({ name, project, from }) => `${shown(name ?? project)} is now a separate project from ${shown(from)}.`,
)
const undoChange = changeProjects(
  'undo',
  (_, change) => ({ change: Number(change) }),
  ({ undone }) => `Change ${undone} is undone.`,
)

const CHANGE_COLUMNS = [
  ['CHANGE', (change) => change.change],
  ['AT', (change) => date(change.at)],
  ['KEY', (change) => change.key_id],
  ['ACTION', (change) => change.action],
  ['PROJECT', (change) => change.project],
  ['NAME', (change) => change.name ?? change.is ?? change.from],
  ['UNDONE BY', (change) => change.undone_by],
]

async function listProjectChanges(options) {
  const { before, limit } = options
  const query = new URLSearchParams({ ...(before ? { before } : {}), ...(limit ? { limit } : {}) })
  const path = at(await orgOf(options), `/projects/changes?${query}`)
  show(options, await call(options.url, 'GET', path), ({ changes }) => printTable(changes, CHANGE_COLUMNS))
}

async function createProject(options, id) {
  const path = at(await orgOf(options), '/projects')
  const project = await call(options.url, 'POST', path, { id, name: options.name ?? id })
  show(options, project, () => console.log(`Created project ${shown(project.id)}.`))
}

async function listKeys(options) {
  const path = at(await orgOf(options), '/keys')
  show(options, await call(options.url, 'GET', path), ({ keys }) => {
    printTable(keys, KEY_COLUMNS)
    const soon = keys.filter((key) => key.expires_soon)
    for (const { id, name, stored_today: stored, max_entries: most } of keys.filter((key) => key.near_quota))
      console.log(
        `${shown(name)} has stored ${stored} of ${most} today: ${TYPED.command} keys limit ${id} --max-entries N`,
      )
    for (const { id, name, expires_at: end } of soon)
      console.log(`${shown(name)} expires ${date(end)}: ${TYPED.command} keys rotate ${id}`)
  })
}

/** Reads a limit: a number, or none. An option that is absent changes nothing. */
function limitOf(options, name) {
  const text = options[name]
  if (text === undefined) return undefined
  if (text === 'none') return null
  return /^\d{1,15}$/.test(text) ? Number(text) : fail(`--${name} must be a whole number from 1, or none: ${text}`)
}

const limitsIn = (options) => ({
  rate_limit: limitOf(options, 'rate-limit'),
  max_entries: limitOf(options, 'max-entries'),
})

async function createKey(options, name) {
  const { role = 'writer', project: projects, agent, owner, email, expires: expires_at } = options
  const capture = options['no-capture'] ? false : undefined
  const path = at(await orgOf(options), '/keys')
  const limits = limitsIn(options)
  const draft = { name, role, projects, agent, owner, email, expires_at, capture, ...limits }
  const made = await call(options.url, 'POST', path, draft)
  show(options, made, () => {
    const mcp = new URL('/mcp/core', options.url)
    console.log(`${made.key}

This is the key of ${shown(made.name)} (${made.role}, ${made.id}, owner ${shown(made.owner)}). It is shown only once; store it like a password.
  claude mcp add --transport http commonplace ${mcp} --header "Authorization: Bearer $KEY"`)
  })
}

async function limitKey(options, id) {
  const limits = limitsIn(options)
  if (Object.values(limits).every((limit) => limit === undefined))
    return fail('name a limit: --rate-limit N or --max-entries N, or none to remove it')
  const key = await call(options.url, 'PATCH', at(await orgOf(options), `/keys/${encodeURIComponent(id)}`), limits)
  const { rate_limit: rate, max_entries: entries } = key
  const requests = rate ? `${rate} requests a minute` : 'as many requests a minute as the server allows'
  const stored = entries ? `${entries} new entries a day` : 'as many entries as its organization may hold'
  show(options, key, () => console.log(`${shown(key.name)} (${key.id}) may send ${requests} and store ${stored}.`))
}

async function rotateKey(options, id) {
  const { grace, expires: expires_at } = options
  // The server takes an absent grace period as none, so that a typing error would end the old key at once.
  if (grace !== undefined && !/^\d{1,3}$/.test(grace)) return fail(`--grace must be a whole number of hours: ${grace}`)
  const grace_hours = grace === undefined ? undefined : Number(grace)
  const path = at(await orgOf(options), `/keys/${encodeURIComponent(id)}/rotate`)
  const made = await call(options.url, 'POST', path, { grace_hours, expires_at })
  show(options, made, () => {
    const { replaces } = made
    const old = replaces.revoked_at ? 'is refused from now on' : `is accepted until ${date(replaces.expires_at)}`
    console.log(`${made.key}

This key of ${shown(made.name)} (${made.id}) replaces ${replaces.id}, which ${old}. It is shown only once; store it like a password.
Apps that were allowed with the old key must be allowed again.`)
  })
}

async function revokeKey(options, id) {
  const children = options.children ? '?children=true' : ''
  const path = at(await orgOf(options), `/keys/${encodeURIComponent(id)}${children}`)
  const key = await call(options.url, 'DELETE', path)
  const others = (key.revoked ?? []).filter((one) => one !== key.id)
  const more = others.length === 0 ? '' : ` Keys made with it are refused too: ${others.join(', ')}.`
  show(options, key, () => console.log(`Revoked ${shown(key.name)} (${key.id}); its next request is refused.${more}`))
}

async function listEvents(options) {
  const { after = '0', limit = '100' } = options
  const query = new URLSearchParams({ after, limit })
  const path = at(await orgOf(options), `/audit?${query}`)
  show(options, await call(options.url, 'GET', path), ({ events, next }) => {
    printTable(events, EVENT_COLUMNS)
    if (next !== null) console.log(`More: --after ${next}`)
  })
}

/** @param {'key' | 'owner' | 'project'} by */
const usageColumns = (by) => [
  ...(by === 'key'
    ? [
        ['KEY', (row) => row.key],
        ['NAME', (row) => row.name],
        ['OWNER', (row) => row.owner],
      ]
    : [[by.toUpperCase(), (row) => row[by] || null]]),
  ['CALLS', (row) => row.calls],
  ['FAILED', (row) => row.failed],
  ['STORED', (row) => row.entries],
  ['TOKENS', (row) => row.tokens],
  ['ROWS READ', (row) => row.rows_read],
  ['ROWS WRITTEN', (row) => row.rows_written],
]

const number = (value) => value.toLocaleString('en-US')
const dollars = (value) => `$${value.toFixed(2)}`
const percent = (part) => `${(part * 100).toFixed(1)} %`

/** Names of the quantities that Cloudflare bills, in the API and in the output. */
const BILLED = [
  ['requests', 'requests'],
  ['rows_read', 'rows read'],
  ['rows_written', 'rows written'],
]

/** Formats the cost of a month. @param {any} cost the answer of the server */
function costLines({ org, month, runs_on: host, database_rows: hasRows, used, expected, dollars: price, ...rest }) {
  const billed = BILLED.filter(([name]) => hasRows || name === 'requests')
  const whose = org === null ? 'all organizations and the schedule' : shown(org)
  const uses = billed.map(
    ([name, words]) =>
      `  ${words}: ${number(used[name])} so far, ${number(expected[name])} expected by the end of the month`,
  )
  const lines = [`Use of ${whose} in ${month} (UTC):`, ...uses]
  if (!hasRows) lines.push('PostgreSQL does not report rows, and has a price of its own.')
  if (price === null) return [...lines, `The server runs on ${host} and costs nothing.`]
  const { free_plan: free, not_counted: missing, prices } = rest
  const parts = ({ part }) => billed.map(([name, words]) => `${words} ${percent(part[name])}`).join(', ')
  const overage = price.total - price.plan
  return [
    ...lines,
    `Paid plan: ${dollars(price.total)} expected for this month: ${dollars(price.plan)} for the complete Cloudflare account, and ${dollars(overage)} above what it includes.`,
    `Free plan, of a day's limits: today ${parts(free.today)}; on the busiest day (${free.busiest_day.day}) ${parts(free.busiest_day)}.`,
    'At a limit of the Free plan, Cloudflare refuses requests or every query until midnight UTC; the server answers limit_exceeded.',
    ...(free.days_over === 0 ? [] : [`Days of this month above a limit: ${free.days_over}.`]),
    `Not counted: ${missing.join(', ')}.`,
    `Prices: Cloudflare's lists of ${prices.read_in}. This is an estimate, not a bill.`,
  ]
}

/** Shows the cost of the month: of the organization of the key or of the named one; for ADMIN_TOKEN without a name, of all. */
async function showCost(options) {
  const path = options.org === undefined ? '/cost' : at(options.org, '/cost')
  show(options, await call(options.url, 'GET', path), (cost) => console.log(costLines(cost).join('\n')))
}

async function showUsage(options) {
  if (options.cost) return showCost(options)
  const { days, by = 'key' } = options
  const query = new URLSearchParams({ by, ...(days === undefined ? {} : { days }) })
  const answer = await call(options.url, 'GET', at(await orgOf(options), `/usage?${query}`))
  show(options, answer, ({ usage, by: of, days: shownDays }) => {
    if (usage.length === 0) return console.log(`No key was used in the last ${shownDays} days.`)
    printTable(usage, usageColumns(of))
  })
}

/** Commands: the function to run, its options in addition to the common ones, and its required argument. */
export const ADMINISTRATION = {
  'orgs list': { run: listOrgs, options: [] },
  'orgs create': { run: createOrg, options: ['name'], word: 'the id' },
  projects: { run: listProjects, options: ['forked'] },
  'projects list': { run: listProjects, options: ['forked'] },
  'projects rename': { run: renameProject, options: ['name'], word: 'the project' },
  'projects merge': { run: mergeProjects, options: ['into'], word: 'the project that becomes a name of another' },
  'projects split': { run: splitProject, options: [], word: 'the name that becomes a project' },
  'projects undo': { run: undoChange, options: [], word: 'the number of the change' },
  'projects changes': { run: listProjectChanges, options: ['before', 'limit'] },
  'projects create': { run: createProject, options: ['name'], word: 'the id' },
  'keys list': { run: listKeys, options: [] },
  'keys create': {
    run: createKey,
    options: ['role', 'project', 'agent', 'owner', 'email', 'expires', 'no-capture', 'rate-limit', 'max-entries'],
    word: 'the name of the key',
  },
  'keys limit': { run: limitKey, options: ['rate-limit', 'max-entries'], word: 'the id of the key' },
  'keys rotate': { run: rotateKey, options: ['grace', 'expires'], word: 'the id of the key' },
  'keys revoke': { run: revokeKey, options: ['children'], word: 'the id of the key' },
  'people leave': {
    run: async (options, name, usage) => (await import('./people/command.mjs')).leave(options, name, usage),
    options: ['to', 'erase', 'dry-run'],
    word: 'the owner who leaves',
  },
  'people export': {
    run: async (options, name, usage) => (await import('./people/command.mjs')).exportPerson(options, name, usage),
    options: ['out', 'no-images'],
    word: 'the owner',
  },
  usage: { run: showUsage, options: ['days', 'by', 'cost'] },
  'audit list': { run: listEvents, options: ['after', 'limit'] },
}
