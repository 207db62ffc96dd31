import { Hono } from 'hono'
import type { Config } from '../../config'
import { isFields } from '../../domain/capture/fields'
import type { Fields, HookClient } from '../../domain/capture/happening'
import { type HookRequest, readHookRequest, readRawEvent } from '../../domain/capture/request'
import { invalidInput, notFound, Problem } from '../../domain/errors'
import { mayAct } from '../../domain/identity/scope'
import { sha256Hex } from '../../domain/text'
import type { Millis } from '../../domain/time'
import { CLIENT_NAMES, hookClient } from '../../integrations/hooks/hook-clients'
import type { Services } from '../../services/services'
import { type Credential, requireOrg } from '../auth'
import { readJsonBody } from '../body'
import type { Log } from '../log'

/** Receives events of client hooks (capture contract §3): `POST /api/v1/hooks/<client>`. */

const MAX_BODY = 1_048_576

interface Variables {
  readonly services: Services
  readonly credential: Credential
  readonly setup: { readonly log: Log; readonly config: Pick<Config, 'captureDays'> }
}

/** @throws Problem invalid_input for invalid JSON, limit_exceeded for a body that is too large */
async function readBody(request: Request): Promise<Fields> {
  // A page of another site can send any other type without asking the server first.
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw invalidInput('Content-Type must be application/json')
  const body = await readJsonBody(request, MAX_BODY)
  if (body.kind === 'too_large') throw new Problem('limit_exceeded', body.reason)
  if (body.kind !== 'json' || !isFields(body.value))
    throw invalidInput(
      'The body must be a JSON object: {events: [{id, at, event, place}], answer?, lost?}, or one event',
    )
  return body.value
}

/** Wraps a raw event in a request of its own; an unknown event gives a request without events. */
async function aloneOf(client: HookClient, event: Fields, now: Millis): Promise<HookRequest> {
  const raw = readRawEvent(client, event)
  if (raw === null) return { events: [], answer: null, again: [], unread: 1, lost: 0 }
  const { happening, identity, place } = raw
  const id = await sha256Hex(identity)
  return { events: [{ id, at: now, place, happening }], answer: id, again: [], unread: 0, lost: 0 }
}

export function createHooksRoutes() {
  const routes = new Hono<{ Variables: Variables }>()

  /** Reports what a key may do with hooks; setup programs call it. */
  routes.get('/', (c) => {
    const { org, role, projects, captures } = requireOrg(c.var.credential)
    const { captureDays } = c.var.setup.config
    const why =
      captureDays === 0
        ? 'capture is off on this server (CAPTURE_DAYS=0)'
        : captures === false
          ? 'events sent with this key are not captured; memories are still recalled'
          : mayAct(role, 'writer')
            ? null
            : 'events sent with a reader key are not captured; memories are still recalled'
    return c.json({ org, role, projects, capture: why === null, ...(why === null ? {} : { why }) })
  })

  routes.post('/:client', async (c) => {
    const { services, credential } = c.var
    const principal = requireOrg(credential)
    const name = c.req.param('client')
    const client = hookClient(name)
    if (client === null) throw notFound(`No such client. Clients with hooks: ${CLIENT_NAMES.join(', ')}`)
    const body = await readBody(c.req.raw)
    const isRaw = !Object.hasOwn(body, 'events')
    const now = services.now()
    const request = isRaw ? await aloneOf(client, body, now) : readHookRequest(client, body, now)
    // The hook program has already told the person; the operator finds it in the log.
    if (request.lost > 0) c.var.setup.log('WARNING', 'hook_events_lost', { client: name, lost: request.lost })
    const received = await services.capture.receive(principal, name, client, request)
    const { stored, repeated, output, notice, memory, waiting } = received
    if (isRaw) return output === null ? c.body(null, 204) : c.json(output)
    return c.json({
      ...{ stored, repeated, output },
      ...(notice === null ? {} : { notice }),
      ...(memory === null ? {} : { memory }),
      ...(waiting === null ? {} : { waiting }),
    })
  })

  return routes
}
