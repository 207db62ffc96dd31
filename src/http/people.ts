import { Hono } from 'hono'
import { invalidInput } from '../domain/errors'
import { checkName } from '../domain/identity/identity'
import type { PersonalData } from '../domain/identity/person'
import type { Administrator } from '../services/people/administration'
import type { Farewell } from '../services/people/departure'
import { USAGE_BY, type UsageSum } from '../services/people/usage'
import type { Services } from '../services/services'
import { showEvent, showKey } from './admin'
import { administrator, namedOrg, noting } from './admin-auth'
import type { Credential } from './auth'
import { readObject } from './body'
import { showCost } from './cost'
import { checkNames } from './query-names'
import { exportResponse, readExport } from './transfer'

/** Routes for persons: the data of one, one who leaves, and the usage of their keys (docs/contracts/operate.md §4, §4.1). */
const MAX_BODY = 4_096

interface Variables {
  readonly services: Services
  readonly credential: Credential
}

const isFlag = (value: unknown, name: string): boolean => {
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  throw invalidInput(`${name} must be true or false`)
}

/** Reads the body of a departure. @throws Problem invalid_input unless it names an heir or the erasure */
function readFarewell(body: Record<string, unknown>): { farewell: Farewell; dryRun: boolean } {
  const erase = isFlag(body.erase, 'erase')
  const dryRun = isFlag(body.dry_run, 'dry_run')
  const hasHeir = body.to !== undefined && body.to !== null
  if (erase === hasHeir)
    throw invalidInput('Give either to, the owner who gets the private memories, or erase: true, which erases them')
  return { farewell: erase ? 'erase' : { to: checkName(body.to, 'to') }, dryRun }
}

const showData = ({ diaryPages, ...data }: PersonalData) => ({ ...data, diary_pages: diaryPages })

const MOST_DAYS = 365
const USUAL_DAYS = 30

function readDays(value: string | undefined): number {
  if (value === undefined || value === '') return USUAL_DAYS
  const days = /^\d{1,3}$/.test(value) ? Number(value) : 0
  if (days >= 1 && days <= MOST_DAYS) return days
  throw invalidInput(`days must be a whole number from 1 to ${MOST_DAYS}`)
}

const showUsage = ({ of, key, rowsRead, rowsWritten, ...counts }: UsageSum, by: string) => ({
  ...{ [by]: of, ...(key === null ? {} : key) },
  ...{ ...counts, rows_read: rowsRead, rows_written: rowsWritten },
})

const iso = (ms: number): string => new Date(ms).toISOString()

export function createPeopleRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  async function run<T>(variables: Variables, action: string, step: (by: Administrator) => Promise<T>): Promise<T> {
    const by = await administrator(variables, action)
    return noting(variables.services, by, () => step(by))
  }

  routes.post('/:org/people/:owner/leave', async (c) =>
    run(c.var, 'people.leave', async (by) => {
      const { farewell, dryRun } = readFarewell(await readObject(c.req.raw, ['to', 'erase', 'dry_run'], MAX_BODY))
      const { owner } = c.req.param()
      const org = namedOrg(c.var.credential, c.req.param('org'))
      const { remaining, isDone } = await c.var.services.departure.leave(by, org, owner, farewell, dryRun)
      return c.json({
        ...{ owner, ...(farewell === 'erase' ? { erase: true } : farewell), dry_run: dryRun },
        ...{ done: isDone, remaining: showData(remaining) },
      })
    }),
  )

  routes.get('/:org/people/:owner', async (c) =>
    run(c.var, 'people.read', async (by) => {
      const { owner } = c.req.param()
      const org = namedOrg(c.var.credential, c.req.param('org'))
      const { departure, administration } = c.var.services
      const { keys, sessions, uses, lastSeen, usage, actions, caller } = await departure.record(by, org, owner)
      await administration.note(caller, true, { owner })
      return c.json(
        {
          ...{ org, owner, keys: keys.map(showKey) },
          sessions: sessions.map(({ seenAt, state, ...rest }) => ({
            ...{ ...rest, last_event: iso(seenAt), state: JSON.parse(state) },
          })),
          used_memories: uses.map(({ session, at, memories }) => ({
            ...{ session, at: iso(at), memories: JSON.parse(memories) },
          })),
          usage: usage.map(({ at, ...rest }) => ({ day: iso(at).slice(0, 10), ...rest })),
          last_seen: lastSeen.map(({ at, ...rest }) => ({ ...rest, at: iso(at) })),
          actions: actions.map(showEvent),
        },
        200,
        { 'Cache-Control': 'no-store' },
      )
    }),
  )

  routes.get('/:org/usage', async (c) =>
    run(c.var, 'usage.read', async (by) => {
      const query = c.req.query()
      checkNames(query, ['days', 'by'], 'the usage of keys')
      const days = readDays(query.days)
      const of = USAGE_BY.find((known) => known === (query.by || 'key'))
      if (of === undefined) throw invalidInput(`by must be one of: ${USAGE_BY.join(', ')}`)
      const sums = await c.var.services.usage.report(by, namedOrg(c.var.credential, c.req.param('org')), days, of)
      return c.json({ days, by: of, usage: sums.map((sum) => showUsage(sum, of)) })
    }),
  )

  routes.get('/:org/cost', async (c) =>
    run(c.var, 'usage.read', async (by) => {
      checkNames(c.req.query(), [], 'the cost of a month')
      return c.json(showCost(await c.var.services.costs.thisMonth(by, namedOrg(c.var.credential, c.req.param('org')))))
    }),
  )

  routes.get('/:org/people/:owner/export', async (c) =>
    run(c.var, 'people.export', async (by) => {
      const { departure, transfer } = c.var.services
      const { owner } = c.req.param()
      const org = namedOrg(c.var.credential, c.req.param('org'))
      const reader = await departure.reader(by, org, owner)
      const { request, from, limit } = await readExport(c.var.services, reader, c.req.query())
      const going =
        from === null
          ? await transfer.exports.begin(reader, reader.keyId, { ...request, owner })
          : await transfer.exports.resume(reader, reader.keyId, from, owner)
      return exportResponse(c.var.services, c.req.raw, reader, going, limit)
    }),
  )

  return routes
}
