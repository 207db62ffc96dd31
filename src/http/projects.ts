import { Hono } from 'hono'
import { invalidInput } from '../domain/errors'
import { readProjectName } from '../domain/identity/project-names'
import type { Principal } from '../domain/identity/scope'
import type { Millis } from '../domain/time'
import type { ListedProject, ProjectAdmin, ProjectChange } from '../services/people/projects'
import type { Services } from '../services/services'
import { administrator, namedOrg, noting } from './admin-auth'
import { type Credential, requireOrg } from './auth'
import { readObject } from './body'
import { checkNames } from './query-names'

/** Routes of projects and their names under `/api/v1` (platform contract §5): a list for every key, changes for administrators. */

interface Variables {
  readonly services: Services
  readonly credential: Credential
}

const MAX_BODY = 65_536
const CHANGES = { usual: 50, most: 200 } as const

const iso = (ms: Millis | null): string | null => (ms === null ? null : new Date(ms).toISOString())

export const showListed = ({ key, name, aliases, homes, entries, lastUse, createdAt }: ListedProject) => ({
  ...{ key, name, entries, last_use: iso(lastUse), created_at: iso(createdAt) },
  aliases: aliases
    .filter((alias) => alias.name !== readProjectName(key)?.normal)
    .map((alias) => ({ name: alias.name, kind: alias.kind })),
  ...(homes.length > 1 ? { merged: homes.slice(1) } : {}),
})

const showChange = ({ seq, at, keyId, action, detail, undoneBy }: ProjectChange) => {
  const { change: undone, ...done } = detail
  return {
    ...{ change: seq, at: iso(at), key_id: keyId, action, ...done },
    ...(undone === undefined ? {} : { undone }),
    ...(undoneBy === null ? {} : { undone_by: undoneBy }),
  }
}

function readNumber(given: string | undefined, name: string, fallback: number, most: number): number {
  if (given === undefined || given === '') return fallback
  const number = /^\d{1,15}$/.test(given) ? Number(given) : 0
  if (number < 1) throw invalidInput(`${name} must be a whole number from 1 to ${most}`)
  return Math.min(number, most)
}

/** The list that each key may read: its own projects, with the entries that it can see. */
export function createProjectsRoute() {
  const routes = new Hono<{ Variables: Variables }>()
  routes.get('/', async (c) => {
    const projects = await c.var.services.projects.list(requireOrg(c.var.credential))
    return c.json({ projects: projects.map(showListed) })
  })
  return routes
}

/** Changes of projects, for administrators of the organization. */
export function createProjectChanges() {
  const routes = new Hono<{ Variables: Variables }>()

  /** @throws Problem forbidden for a key limited to projects, which cannot see all projects that a change may affect */
  async function run<T>(
    variables: Variables,
    named: string,
    action: string,
    step: (by: ProjectAdmin, scope: Principal) => Promise<T>,
  ): Promise<T> {
    const by = await administrator(variables, action)
    return noting(variables.services, by, async () => {
      const actor = await variables.services.administration.wholeActor(by, namedOrg(variables.credential, named))
      return step(actor, actor)
    })
  }

  routes.get('/:org/projects/forked', async (c) => {
    const forks = await run(c.var, c.req.param('org'), 'projects.forked', (_, scope) =>
      c.var.services.projects.forked(scope),
    )
    return c.json({ forks })
  })

  routes.get('/:org/projects/changes', async (c) => {
    checkNames(c.req.query(), ['before', 'limit'], 'the changes of projects')
    const changes = await run(c.var, c.req.param('org'), 'projects.changes', (by) => {
      const before = readNumber(c.req.query('before'), 'before', 0, Number.MAX_SAFE_INTEGER)
      const limit = readNumber(c.req.query('limit'), 'limit', CHANGES.usual, CHANGES.most)
      return c.var.services.projects.changes(by.org, { before: before === 0 ? null : before, limit })
    })
    return c.json({ changes: changes.map(showChange) })
  })

  const MEMBERS = {
    rename: ['project', 'name'],
    merge: ['from', 'into'],
    split: ['name'],
    undo: ['change'],
  } as const
  for (const verb of ['rename', 'merge', 'split', 'undo'] as const)
    routes.post(`/:org/projects/${verb}`, async (c) => {
      const changed = await run(c.var, c.req.param('org'), `projects.${verb}`, async (by) =>
        c.var.services.projects[verb](by, await readObject(c.req.raw, [...MEMBERS[verb]], MAX_BODY)),
      )
      return c.json(changed)
    })

  return routes
}
