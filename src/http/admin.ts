import { Hono } from 'hono'
import { invalidInput, Problem } from '../domain/errors'
import type { AuditRow } from '../domain/identity/audit'
import { type ApiKey, expiresSoon, type Org, type Project } from '../domain/identity/identity'
import { isNearQuota } from '../domain/identity/key-limits'
import type { Millis } from '../domain/time'
import type { Administrator } from '../services/people/administration'
import type { Services } from '../services/services'
import { administrator, namedOrg, noting } from './admin-auth'
import { type Credential, requireOrg } from './auth'
import { readObject } from './body'
import { showCost } from './cost'
import { showListed } from './projects'
import { checkNames } from './query-names'

/** Serializes organizations, projects, keys and rows of the audit log for `/api/v1` (platform contract §5). */

const iso = (ms: Millis | null): string | null => (ms === null ? null : new Date(ms).toISOString())
export const showOrg = ({ id, name, createdAt }: Org) => ({ id, name, created_at: iso(createdAt) })
export const showProject = ({ id, name, createdAt }: Project) => ({ id, name, created_at: iso(createdAt) })

export const showKey = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  role: key.role,
  projects: key.projects,
  agent: key.agent,
  owner: key.owner,
  created_at: iso(key.createdAt),
  created_by: key.createdBy,
  expires_at: iso(key.expiresAt),
  revoked_at: iso(key.revokedAt),
  last_used_at: iso(key.lastUsedAt),
  capture: key.captures,
  ...(key.email === undefined ? {} : { email: key.email }),
  rate_limit: key.limits?.requestsPerMinute ?? null,
  max_entries: key.limits?.entriesPerDay ?? null,
  ...(key.limits?.entriesPerDay == null || key.storedToday === undefined ? {} : { stored_today: key.storedToday }),
})

/** The same, marked while the key ends within two weeks or has stored most of its quota. */
const showWithEnd = (key: ApiKey, now: Millis) => ({
  ...showKey(key),
  ...(expiresSoon(key, now) ? { expires_soon: true } : {}),
  ...(isNearQuota(key) ? { near_quota: true } : {}),
})

export const showEvent = ({ seq, at, keyId, agent, action, tool, ids, allowed, detail }: AuditRow) => ({
  seq,
  at: iso(at),
  key_id: keyId,
  agent,
  action,
  tool,
  ids,
  allowed,
  detail,
})

/** Routes of administration under `/api/v1` (platform contract §5); the work is in services/administration. */
const MAX_BODY = 65_536
const MAX_PAGE = 1000
/** Members that set the limits of a key. */
const LIMITS = ['rate_limit', 'max_entries']

interface Variables {
  readonly services: Services
  readonly credential: Credential
}

function readInteger(value: string | undefined, name: string, fallback: number, min: number, max: number): number {
  if (value === undefined || value === '') return fallback
  const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw invalidInput(`${name} must be a whole number from ${min} to ${max}`)
}

function readFlag(value: string | undefined, name: string): boolean {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw invalidInput(`${name} must be true or false`)
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createAdminRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  async function run<T>(
    variables: Variables,
    action: string,
    step: (administration: Services['administration'], by: Administrator) => Promise<T>,
  ): Promise<T> {
    const by = await administrator(variables, action)
    return noting(variables.services, by, () => step(variables.services.administration, by))
  }

  routes.post('/orgs', async (c) => {
    const org = await run(c.var, 'orgs.create', async (administration, by) =>
      administration.createOrg(by, await readObject(c.req.raw, ['id', 'name'], MAX_BODY)),
    )
    return c.json(showOrg(org), 201)
  })

  routes.get('/orgs', async (c) => {
    const orgs = await run(c.var, 'orgs.list', (administration, by) => administration.orgs(by))
    return c.json({ orgs: orgs.map(showOrg) })
  })

  routes.post('/orgs/:org/projects', async (c) => {
    const project = await run(c.var, 'projects.create', async (administration, by) =>
      administration.createProject(
        by,
        namedOrg(c.var.credential, c.req.param('org')),
        await readObject(c.req.raw, ['id', 'name'], MAX_BODY),
      ),
    )
    return c.json(showProject(project), 201)
  })

  routes.get('/orgs/:org/projects', async (c) => {
    const projects = await run(c.var, 'projects.list', async (administration, by) =>
      c.var.services.projects.all(await administration.reach(by, namedOrg(c.var.credential, c.req.param('org')))),
    )
    return c.json({ projects: projects.map((project) => ({ id: project.key, ...showListed(project) })) })
  })

  routes.post('/orgs/:org/keys', async (c) => {
    const members = ['name', 'role', 'projects', 'agent', 'owner', 'expires_at', 'capture', 'email', ...LIMITS]
    const { key, text } = await run(c.var, 'keys.create', async (administration, by) =>
      administration.createKey(
        by,
        namedOrg(c.var.credential, c.req.param('org')),
        await readObject(c.req.raw, members, MAX_BODY),
      ),
    )
    const { id, ...rest } = showKey(key)
    return c.json({ id, key: text, ...rest }, 201, { 'Cache-Control': 'no-store' })
  })

  routes.get('/orgs/:org/keys', async (c) => {
    const keys = await run(c.var, 'keys.list', (administration, by) =>
      administration.keys(by, namedOrg(c.var.credential, c.req.param('org'))),
    )
    const now = c.var.services.now()
    return c.json({ keys: keys.map((key) => showWithEnd(key, now)) })
  })

  routes.post('/orgs/:org/keys/:id/rotate', async (c) => {
    const { key, text, replaced } = await run(c.var, 'keys.rotate', async (administration, by) =>
      administration.rotateKey(
        by,
        namedOrg(c.var.credential, c.req.param('org')),
        c.req.param('id'),
        await readObject(c.req.raw, ['grace_hours', 'expires_at'], MAX_BODY),
      ),
    )
    const { id, ...rest } = showKey(key)
    return c.json({ id, key: text, ...rest, replaces: showKey(replaced) }, 201, { 'Cache-Control': 'no-store' })
  })

  routes.patch('/orgs/:org/keys/:id', async (c) => {
    const key = await run(c.var, 'keys.limit', async (administration, by) =>
      administration.limitKey(
        by,
        namedOrg(c.var.credential, c.req.param('org')),
        c.req.param('id'),
        await readObject(c.req.raw, LIMITS, MAX_BODY),
      ),
    )
    return c.json(showKey(key))
  })

  routes.delete('/orgs/:org/keys/:id', async (c) => {
    checkNames(c.req.query(), ['children'], 'revoking a key')
    const children = readFlag(c.req.query('children'), 'children')
    const { key, revoked } = await run(c.var, 'keys.revoke', (administration, by) =>
      administration.revokeKey(by, namedOrg(c.var.credential, c.req.param('org')), c.req.param('id'), children),
    )
    return c.json({ ...showKey(key), ...(children ? { revoked } : {}) })
  })

  routes.get('/orgs/:org/audit', async (c) => {
    checkNames(c.req.query(), ['after', 'limit'], 'the audit log')
    const after = readInteger(c.req.query('after'), 'after', 0, 0, Number.MAX_SAFE_INTEGER)
    const limit = readInteger(c.req.query('limit'), 'limit', 100, 1, MAX_PAGE)
    const { events, next } = await run(c.var, 'audit.read', (administration, by) =>
      administration.auditPage(by, namedOrg(c.var.credential, c.req.param('org')), { after, limit }),
    )
    return c.json({ events: events.map(showEvent), next })
  })

  // The cost of the organization of the key, or of all for ADMIN_TOKEN.
  routes.get('/cost', async (c) => {
    checkNames(c.req.query(), [], 'the cost of a month')
    return c.json(showCost(await run(c.var, 'usage.read', (_, by) => c.var.services.costs.thisMonth(by, null))))
  })

  routes.post('/reembed', async (c) => {
    const { generation, maintenance, afterwards, administration } = c.var.services
    const principal = requireOrg(c.var.credential)
    const by = await administrator(c.var, 'reembed')
    // The response shows how many entries the organization has.
    if (principal.projects !== null)
      await noting(c.var.services, by, async () => {
        throw new Problem('forbidden', 'reembed requires a key that is not limited to projects')
      })
    checkNames(c.req.query(), ['after'], 're-embedding')
    if (generation === null) throw new Problem('unsupported', 'Semantic search is switched off')
    const after = readInteger(c.req.query('after'), 'after', 0, 0, Number.MAX_SAFE_INTEGER)
    const progress = await generation.reembed(principal.org, after)
    if (progress.made > 0)
      await administration.note({ ...principal, action: 'reembed', tool: null }, true, { made: progress.made })
    afterwards(maintenance.work())
    return c.json(progress)
  })

  return routes
}
