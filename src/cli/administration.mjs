// `commonplace orgs|projects|keys|audit`: the administration of a server, by command.
import { call, fail, printTable } from './server.mjs'

const at = (org, rest) => `/orgs/${encodeURIComponent(org)}${rest}`
const date = (iso) => iso?.slice(0, 16).replace('T', ' ')

/** The org that is named, else the only one that the credential sees. */
async function orgOf({ url, org }) {
  if (org !== undefined) return org
  const { orgs } = await call(url, 'GET', '/orgs')
  if (orgs.length === 1) return orgs[0].id
  return fail(`name the organization with --org; there are: ${orgs.map(({ id }) => id).join(', ') || 'none yet'}`)
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

const stateOf = ({ revoked_at: revoked, expires_at: expires }) => {
  if (revoked) return `revoked ${date(revoked)}`
  if (!expires) return 'valid'
  return new Date(expires) <= new Date() ? `expired ${date(expires)}` : `until ${date(expires)}`
}

const KEY_COLUMNS = [
  ['ID', (key) => key.id],
  ['NAME', (key) => key.name],
  ['ROLE', (key) => key.role],
  ['PROJECTS', (key) => key.projects?.join(', ') ?? 'all'],
  ['AGENT', (key) => key.agent],
  ['OWNER', (key) => (key.owner === key.id ? null : key.owner)],
  ['STATE', stateOf],
  ['LAST USED', (key) => date(key.last_used_at)],
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

/** What each command does: options and what stands after the command; a missing word is a usage error. */
export const ADMINISTRATION = {
  'orgs list': async (options) => {
    show(options, await call(options.url, 'GET', '/orgs'), ({ orgs }) => printTable(orgs, ORG_COLUMNS))
  },
  'orgs create': async (options, id) => {
    const org = await call(options.url, 'POST', '/orgs', { id, name: options.name ?? id })
    show(options, org, () => console.log(`Created organization ${org.id}.`))
  },
  'projects list': async (options) => {
    const path = at(await orgOf(options), '/projects')
    show(options, await call(options.url, 'GET', path), ({ projects }) => printTable(projects, ORG_COLUMNS))
  },
  'projects create': async (options, id) => {
    const path = at(await orgOf(options), '/projects')
    const project = await call(options.url, 'POST', path, { id, name: options.name ?? id })
    show(options, project, () => console.log(`Created project ${project.id}.`))
  },
  'keys list': async (options) => {
    const path = at(await orgOf(options), '/keys')
    show(options, await call(options.url, 'GET', path), ({ keys }) => printTable(keys, KEY_COLUMNS))
  },
  'keys create': async (options, name) => {
    const { role = 'writer', project: projects, agent, owner, expires: expires_at } = options
    const path = at(await orgOf(options), '/keys')
    const made = await call(options.url, 'POST', path, { name, role, projects, agent, owner, expires_at })
    show(options, made, () => {
      console.log(`${made.key}\n`)
      console.log(
        `This is the key of ${made.name} (${made.role}, ${made.id}). It is shown this once; keep it like a password.`,
      )
      console.log(
        `  claude mcp add --transport http commonplace ${new URL('/mcp', options.url)} --header "Authorization: Bearer $KEY"`,
      )
    })
  },
  'keys revoke': async (options, id) => {
    const path = at(await orgOf(options), `/keys/${encodeURIComponent(id)}`)
    const key = await call(options.url, 'DELETE', path)
    show(options, key, () => console.log(`Revoked ${key.name} (${key.id}); its next request is refused.`))
  },
  'audit list': async (options) => {
    const { after = '0', limit = '100' } = options
    const path = at(
      await orgOf(options),
      `/audit?after=${encodeURIComponent(after)}&limit=${encodeURIComponent(limit)}`,
    )
    show(options, await call(options.url, 'GET', path), ({ events, next }) => {
      printTable(events, EVENT_COLUMNS)
      if (next !== null) console.log(`More: --after ${next}`)
    })
  },
}

/** Commands that need one word after them: an id, or the name of a new key. */
export const NEEDS_WORD = new Set(['orgs create', 'projects create', 'keys create', 'keys revoke'])
