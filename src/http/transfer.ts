import { Hono } from 'hono'
import { invalidInput, limitExceeded, Problem } from '../domain/errors'
import type { Actor } from '../domain/identity/scope'
import { openProject } from '../domain/recall/project'
import { MAX_VOLUME_BYTES, MAX_VOLUME_ENTRIES } from '../domain/transfer/records'
import type { Services } from '../services/services'
import type { ExportRequest } from '../services/transfer/export-org'
import { administrator, noting } from './administering'
import { type Credential, LOCAL } from './auth'

/** Export and import of an org (docs/contracts/operate.md §2). */
interface Variables {
  readonly services: Services
  readonly credential: Credential
}

const EXPORT_PARAMETERS = ['project', 'after', 'history', 'vectors', 'images', 'limit', 'from']
const IMPORT_PARAMETERS = ['on_conflict', 'dry_run']
const CONFLICTS = ['skip', 'replace', 'fail'] as const

type Query = Readonly<Record<string, string | undefined>>

function checkNames(query: Query, names: readonly string[], what: string): void {
  const unknown = Object.keys(query).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalidInput(`Unknown parameter "${unknown.slice(0, 40)}"; an ${what} takes: ${names.join(', ')}`)
}

function readFlag(query: Query, name: string, usual: boolean): boolean {
  const value = query[name]
  if (value === undefined || value === '') return usual
  if (value === 'true') return true
  if (value === 'false') return false
  throw invalidInput(`${name} must be true or false`)
}

function readExport(actor: Actor, query: Query): { request: ExportRequest; from: string | null; limit: number } {
  checkNames(query, EXPORT_PARAMETERS, 'export')
  const given = (name: string) => (query[name] === undefined || query[name] === '' ? null : query[name])
  const project = given('project')
  const limit = given('limit')
  const entries = limit === null ? MAX_VOLUME_ENTRIES : /^\d{1,6}$/.test(limit) ? Number(limit) : 0
  if (entries < 1 || entries > MAX_VOLUME_ENTRIES)
    throw invalidInput(`limit must be a whole number from 1 to ${MAX_VOLUME_ENTRIES}: entries a volume`)
  return {
    request: {
      project: project === null ? null : openProject(actor, project, 'project'),
      after: given('after'),
      history: readFlag(query, 'history', false),
      vectors: readFlag(query, 'vectors', false),
      images: readFlag(query, 'images', true),
    },
    from: given('from'),
    limit: entries,
  }
}

/** The bytes of an export; whoever stops reading stops it. */
export function streamOf(parts: AsyncGenerator<{ readonly bytes: Uint8Array } | object>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await parts.next()
          if (done) return controller.close()
          if ('bytes' in value) return controller.enqueue(value.bytes)
        }
      } catch (error) {
        // The volume has no end then, and the reader goes on from the last whole one.
        controller.error(error)
      }
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}

/** Cloudflare asks a Worker for gzip whatever the client takes, and tells beside it what that is. */
const acceptedBy = ({ cf, headers }: Request): string =>
  typeof cf?.clientAcceptEncoding === 'string' ? cf.clientAcceptEncoding : (headers.get('accept-encoding') ?? '')

const acceptsGzip = (accepted: string): boolean =>
  accepted.split(',').some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part))

/** Begins with what gzip begins with, whatever the header says. */
export async function unpacked(request: Pick<Request, 'body'>): Promise<AsyncIterable<Uint8Array>> {
  if (request.body === null) throw invalidInput('The body must be one volume, plain or gzip')
  const reader = request.body.getReader()
  const first = await reader.read()
  const head = first.value ?? new Uint8Array()
  const rest = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const isPacked = head[0] === 0x1f && head[1] === 0x8b
  return chunksOf(isPacked ? rest.pipeThrough(new DecompressionStream('gzip')) : rest, isPacked)
}

async function* chunksOf(stream: ReadableStream<Uint8Array>, isPacked: boolean): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        if (isPacked) throw invalidInput('The gzip of the volume is cut or altered; nothing of this volume is taken')
        throw error
      })
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Whether ids of an import are kept where they are free. */
export const keepsIds = ({ isWhole, keyId }: Actor): boolean => isWhole === true || keyId === LOCAL.keyId

const TYPES = /^application\/(x-ndjson|ndjson|gzip|x-gzip|octet-stream)\s*(;|$)/i

export function createTransferRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  /** Runs what an administrator of the org may; denials are noted. */
  async function run<T>(
    variables: Variables,
    org: string,
    action: string,
    step: (actor: Actor) => Promise<T>,
  ): Promise<T> {
    const by = await administrator(variables, action)
    return noting(variables.services, by, async () => step(await variables.services.administration.actor(by, org)))
  }

  routes.get('/:org/export', async (c) => {
    const { exports } = c.var.services.transfer
    return run(c.var, c.req.param('org'), 'export', async (actor) => {
      const { request, from, limit } = readExport(actor, c.req.query())
      const going =
        from === null
          ? await exports.begin(actor, actor.keyId, request)
          : await exports.resume(actor, actor.keyId, from)
      const headers = {
        'Content-Type': 'application/x-ndjson; charset=utf-8',
        'Cache-Control': 'no-store',
        Vary: 'Accept-Encoding',
      }
      if (c.req.raw.method === 'HEAD') return new Response(null, { headers })
      await c.var.services.administration.note(actor, true, { volume: going.volume })
      const body = streamOf(exports.parts(actor, going, { limit }))
      if (!acceptsGzip(acceptedBy(c.req.raw))) return new Response(body, { headers })
      return new Response(body.pipeThrough(new CompressionStream('gzip')), {
        headers: { ...headers, 'Content-Encoding': 'gzip' },
        encodeBody: 'manual',
      })
    })
  })

  routes.post('/:org/import', async (c) =>
    run(c.var, c.req.param('org'), 'import', async (actor) => {
      const query = c.req.query()
      checkNames(query, IMPORT_PARAMETERS, 'import')
      const onConflict = CONFLICTS.find((known) => known === (query.on_conflict || 'skip'))
      if (onConflict === undefined) throw invalidInput(`on_conflict must be one of: ${CONFLICTS.join(', ')}`)
      // A page of another site can send any other type without asking the server first.
      if (!TYPES.test(c.req.header('content-type') ?? ''))
        throw invalidInput('Content-Type must be application/x-ndjson or application/gzip')
      if (Number(c.req.header('content-length') ?? 0) > 2 * MAX_VOLUME_BYTES)
        throw limitExceeded(`A volume has at most ${MAX_VOLUME_BYTES} bytes; nothing was imported`)
      const { services } = c.var
      const caller = { ...actor, changeId: services.ids.next() }
      const report = await services.transfer.imports(caller, await unpacked(c.req.raw), {
        onConflict,
        dryRun: readFlag(query, 'dry_run', false),
        keepsIds: keepsIds(actor),
      })
      services.afterwards(services.maintenance.work())
      return c.json(report)
    }),
  )

  /** Backups are the deployment's, whoever administers an org. */
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
      c.json({ backups: await c.var.services.transfer.backups.list(org) }),
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

  // Writes the next volume of a backup of now; `from` is the `next` of the answer before.
  routes.post('/:org/backups', async (c) =>
    operate(c.var, c.req.param('org'), 'backups.make', async (actor) => {
      const { transfer, administration } = c.var.services
      const next = await transfer.backups.goOn(actor.org, c.req.query('from') || null)
      await administration.note(actor, true, {})
      return c.json({ next })
    }),
  )

  return routes
}
