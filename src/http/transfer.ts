import { Hono } from 'hono'
import { invalidInput, limitExceeded, Problem } from '../domain/errors'
import type { Actor } from '../domain/identity/scope'
import { firstCodePoints } from '../domain/text'
import { MAX_VOLUME_BYTES, MAX_VOLUME_ENTRIES } from '../domain/transfer/records'
import type { Services } from '../services/services'
import { isDay } from '../services/transfer/backups'
import type { ExportRequest } from '../services/transfer/export-org'
import { administrator, namedOrg, noting } from './admin-auth'
import { type Credential, LOCAL } from './auth'
import { readObject } from './body'
import { acceptedBy, acceptsGzip, streamOf, unpacked } from './gzip'
import { namedProjectOrNone } from './named-project'
import { checkNames, type Query } from './query-names'

/** Parses the query parameters of an export or import. */

const EXPORT_PARAMETERS = ['project', 'after', 'history', 'vectors', 'images', 'limit', 'from']

export function readFlag(query: Query, name: string, usual: boolean): boolean {
  const value = query[name]
  if (value === undefined || value === '') return usual
  if (value === 'true') return true
  if (value === 'false') return false
  throw invalidInput(`${name} must be true or false`)
}

export async function readExport(
  services: Pick<Services, 'names'>,
  actor: Actor,
  query: Query,
): Promise<{ by: Actor; request: ExportRequest; from: string | null; limit: number }> {
  checkNames(query, EXPORT_PARAMETERS, 'an export')
  const given = (name: string) => (query[name] === undefined || query[name] === '' ? null : query[name])
  const limit = given('limit')
  const entries = limit === null ? MAX_VOLUME_ENTRIES : /^\d{1,6}$/.test(limit) ? Number(limit) : 0
  if (entries < 1 || entries > MAX_VOLUME_ENTRIES)
    throw invalidInput(`limit must be a whole number from 1 to ${MAX_VOLUME_ENTRIES}: entries a volume`)
  const { scope: by, project } = await namedProjectOrNone(services, actor, given('project'))
  return {
    by,
    request: {
      project,
      after: given('after'),
      history: readFlag(query, 'history', false),
      vectors: readFlag(query, 'vectors', false),
      images: readFlag(query, 'images', true),
    },
    from: given('from'),
    limit: entries,
  }
}

type Exports = Services['transfer']['exports']

/** Streams the volumes of an export, after the export was logged. */
export async function exportResponse(
  { transfer: { exports }, administration }: Pick<Services, 'transfer' | 'administration'>,
  request: Request,
  actor: Actor,
  going: Awaited<ReturnType<Exports['begin']>>,
  limit: number,
): Promise<Response> {
  const headers = {
    'Content-Type': 'application/x-ndjson; charset=utf-8',
    'Cache-Control': 'no-store',
    Vary: 'Accept-Encoding',
  }
  if (request.method === 'HEAD') return new Response(null, { headers })
  await administration.note(actor, true, { volume: going.volume })
  const body = streamOf(exports.parts(actor, going, { limit }))
  if (!acceptsGzip(acceptedBy(request))) return new Response(body, { headers })
  return new Response(body.pipeThrough(new CompressionStream('gzip')), {
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    encodeBody: 'manual',
  })
}

/** Routes for export and import of an organization (docs/contracts/operate.md §2). */
interface Variables {
  readonly services: Services
  readonly credential: Credential
}
const IMPORT_PARAMETERS = ['on_conflict', 'dry_run', 'edits']
const CONFLICTS = ['skip', 'replace', 'fail'] as const

/** Whether an import preserves ids that are free. */
export const preservesIds = ({ isWhole, keyId }: Actor): boolean => isWhole === true || keyId === LOCAL.keyId

const TYPES = /^application\/(x-ndjson|ndjson|gzip|x-gzip|octet-stream)\s*(;|$)/i

const MAX_DRILL = 4_096
const LONGEST_PROBLEM = 500

/** Reads the result of a restore drill. @throws Problem invalid_input */
function readDrill({ day, passed, problem = null }: Record<string, unknown>) {
  if (typeof day !== 'string' || !isDay(day)) throw invalidInput('day must be the day of a backup, such as 2026-11-24')
  if (typeof passed !== 'boolean') throw invalidInput('passed must be true or false')
  if (problem !== null && typeof problem !== 'string') throw invalidInput('problem must be a text')
  return { day, passed, problem: problem === null ? null : firstCodePoints(problem, LONGEST_PROBLEM) }
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createTransferRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  /** Runs an action for an administrator of the organization; denials are logged. */
  async function run<T>(
    variables: Variables,
    org: string,
    action: string,
    step: (actor: Actor) => Promise<T>,
  ): Promise<T> {
    const by = await administrator(variables, action)
    return noting(variables.services, by, async () =>
      step(await variables.services.administration.actor(by, namedOrg(variables.credential, org))),
    )
  }

  routes.get('/:org/export', async (c) => {
    const { exports } = c.var.services.transfer
    return run(c.var, c.req.param('org'), 'export', async (asked) => {
      const { by: actor, request, from, limit } = await readExport(c.var.services, asked, c.req.query())
      const going =
        from === null
          ? await exports.begin(actor, actor.keyId, request)
          : await exports.resume(actor, actor.keyId, from)
      return exportResponse(c.var.services, c.req.raw, actor, going, limit)
    })
  })

  routes.post('/:org/import', async (c) =>
    run(c.var, c.req.param('org'), 'import', async (actor) => {
      const query = c.req.query()
      checkNames(query, IMPORT_PARAMETERS, 'an import')
      const onConflict = CONFLICTS.find((known) => known === (query.on_conflict || 'skip'))
      if (onConflict === undefined) throw invalidInput(`on_conflict must be one of: ${CONFLICTS.join(', ')}`)
      // A page of another site can send any other type without asking the server first.
      if (!TYPES.test(c.req.header('content-type') ?? ''))
        throw invalidInput('Content-Type must be application/x-ndjson or application/gzip')
      if (Number(c.req.header('content-length') ?? 0) > 2 * MAX_VOLUME_BYTES)
        throw limitExceeded(`A volume has at most ${MAX_VOLUME_BYTES} bytes; nothing was imported`)
      const { services } = c.var
      const caller = { ...actor, changeId: services.ids.next() }
      const report = await services.transfer.imports(
        caller,
        await unpacked(c.req.raw, c.req.header('content-encoding')),
        {
          onConflict,
          dryRun: readFlag(query, 'dry_run', false),
          edits: readFlag(query, 'edits', false),
          keepsIds: preservesIds(actor),
        },
      )
      services.afterwards(services.maintenance.work())
      return c.json(report)
    }),
  )

  /** Backups belong to the deployment, whichever organization the administrator has. */
  const operate = <T>(
    variables: Variables,
    org: string,
    action: string,
    step: (actor: Actor) => Promise<T>,
  ): Promise<T> =>
    run(variables, org, action, async (actor) => {
      if (actor.isWhole !== true) throw new Problem('forbidden', `${action} needs ADMIN_TOKEN`)
      return step(actor)
    })

  routes.get('/:org/backups', async (c) =>
    operate(c.var, c.req.param('org'), 'backups.list', async ({ org }) =>
      c.json({
        backups: await c.var.services.transfer.backups.list(org),
        drill: await c.var.services.transfer.backups.lastDrill(org),
      }),
    ),
  )

  routes.get('/:org/backups/:day/:volume', async (c) =>
    operate(c.var, c.req.param('org'), 'backups.read', async (actor) => {
      const { transfer, administration } = c.var.services
      const body = await transfer.backups.open(actor.org, c.req.param('day'), c.req.param('volume'))
      await administration.note(actor, true, { volume: Number(c.req.param('volume')) })
      return new Response(body, { headers: { 'Content-Type': 'application/gzip', 'Cache-Control': 'no-store' } })
    }),
  )

  routes.post('/:org/backups/drill', async (c) =>
    operate(c.var, c.req.param('org'), 'backups.drill', async (actor) => {
      const drill = readDrill(await readObject(c.req.raw, ['day', 'passed', 'problem'], MAX_DRILL))
      const { transfer, administration } = c.var.services
      const noted = await transfer.backups.noteDrill(actor.org, drill)
      await administration.note(actor, true, { day: drill.day, passed: String(drill.passed) })
      return c.json(noted, 201)
    }),
  )

  // Writes the next volume of a new backup; `from` is the `next` of the previous answer.
  routes.post('/:org/backups', async (c) =>
    operate(c.var, c.req.param('org'), 'backups.make', async (actor) => {
      checkNames(c.req.query(), ['from'], 'a backup')
      const { transfer, administration } = c.var.services
      const next = await transfer.backups.goOn(actor.org, c.req.query('from') || null)
      await administration.note(actor, true, {})
      return c.json({ next })
    }),
  )

  return routes
}
