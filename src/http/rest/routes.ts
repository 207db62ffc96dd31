import { type Context, Hono } from 'hono'
import type { Config } from '../../config'
import { invalidInput, Problem } from '../../domain/errors'
import type { Caller } from '../../domain/identity/scope'
import { scheduler } from '../../domain/scheduler'
import type { Services } from '../../services/services'
import { enabledOf } from '../../tools/catalogue'
import { charactersOf, isRecord } from '../../tools/record'
import { isImageOfArguments, longestString, MAX_MEMBERS } from '../../tools/request-strings'
import { writeJson } from '../../tools/tool-result'
import { type Credential, requireOwnOrg, requireRole } from '../auth'
import { MAX_BODY_BYTES, readJsonBody } from '../body'
import { STATUS, secondsUntil } from '../error-body'
import type { Measure } from '../measure'
import { OPERATIONS, type Operation } from './operations'

/** The core tools as REST: `/api/v1/orgs/:org/entries` and its neighbors (platform contract §9). */

type Variables = {
  readonly services: Services
  readonly credential: Credential
  readonly setup: { readonly config: Config; readonly measure?: Pick<Measure, 'called'> }
}
type Request = Context<{ Variables: Variables }>

/** Returns the query parameters; a repeated one is a list. */
const queryOf = (c: Request): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  )

/** Reads the arguments in a body. @throws Problem invalid_input, limit_exceeded */
async function bodyOf(c: Request, { imageLimits }: Config): Promise<Record<string, unknown>> {
  // A page of another site can send any other type without asking the server first.
  if (!/^application\/json *(;|$)/i.test(c.req.header('content-type') ?? ''))
    throw invalidInput('Content-Type must be application/json')
  const body = await readJsonBody(c.req.raw, MAX_BODY_BYTES, {
    isBase64: isImageOfArguments,
    maxBase64Bytes: imageLimits.each,
    longest: longestString,
    maxValues: MAX_MEMBERS,
  })
  if (body.kind === 'too_large') throw new Problem('limit_exceeded', body.reason)
  if (body.kind === 'json' && isRecord(body.value)) return body.value
  throw invalidInput('The body must be a JSON object')
}

/** Returns the arguments of the tool that a request carries. @throws Problem invalid_input, limit_exceeded */
async function argumentsOf(c: Request, { from, address, tool }: Operation, config: Config) {
  const args = from === 'query' ? queryOf(c) : await bodyOf(c, config)
  const key = tool.annotations.readOnlyHint ? undefined : c.req.header('idempotency-key')
  const id = c.req.param('id')
  const bound = {
    ...(address === undefined || id === undefined ? {} : { [address]: address === 'ids' ? [id] : id }),
    ...(key === undefined ? {} : { idempotency_key: key }),
  }
  const twice = Object.keys(bound).find((name) => Object.hasOwn(args, name))
  if (twice !== undefined)
    throw invalidInput(`${twice} is in the ${twice === address ? 'address' : 'headers'} already; remove it here`)
  return { ...args, ...bound }
}

/** Removes the places of images among blocks of MCP: a REST answer has only their addresses. */
const withoutBlocks = (image: unknown) => {
  const { block: _, data_omitted: __, ...rest } = image as Record<string, unknown>
  return rest
}

function withImageAddresses(answer: Record<string, unknown>): Record<string, unknown> {
  const { images } = answer
  return Array.isArray(images) ? { ...answer, images: images.map(withoutBlocks) } : answer
}

const json = async (value: Record<string, unknown>, status: number, headers: Record<string, string> = {}) => {
  const text = await writeJson(value)
  return new Response(typeof text === 'string' ? text : text.join(''), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  })
}

/** Executes the tool as a call of MCP does, and answers with its structured content. */
async function serve(c: Request, operation: Operation): Promise<Response> {
  const { services, credential, setup } = c.var
  const { config, measure } = setup
  const { tool } = operation
  const principal = requireOwnOrg(credential, c.req.param('org') ?? '')
  const caller: Caller = { ...principal, action: tool.name, tool: tool.name, changeId: services.ids.next() }
  const { origin } = new URL(c.req.url)
  try {
    requireRole(caller, tool.role)
    if (enabledOf(config, [tool]).length === 0)
      throw new Problem('unsupported', `${tool.name} is switched off on this server (DISABLED_TOOLS)`)
    const args = await argumentsOf(c, operation, config)
    await scheduler.tick(charactersOf(args))
    const { structured } = await tool.call({ principal: caller, services, config, origin }, args)
    measure?.called(tool.name, 'ok')
    const isNew = operation.id === 'storeEntry' && structured.existing !== true && structured.replayed !== true
    if (!isNew) return json(withImageAddresses(structured), 200)
    return json(structured, 201, { Location: `/api/v1/orgs/${c.req.param('org')}/entries/${structured.id}` })
  } catch (error) {
    measure?.called(tool.name, error instanceof Problem ? error.code : 'internal')
    // The app logs errors of the server, and answers with the ID of the request.
    if (!(error instanceof Problem) || error.cause !== undefined) throw error
    const { structured } = tool.family.failure(error)
    const denied = tool.family.denials(structured)
    if (denied > 0) await services.administration.note(caller, false, { denied })
    const wait = secondsUntil(error.details)
    return json(structured, wait === null ? STATUS[error.code] : 429, wait === null ? {} : { 'Retry-After': `${wait}` })
  }
}

/** Reports whether a request for changes wants the list of the core tool, not the feed (history contract §4). */
const wantsJson = (accept = ''): boolean =>
  /\bapplication\/json\b/i.test(accept) && !/\b(text\/event-stream|application\/x-ndjson)\b/i.test(accept)

export function createRestRoutes() {
  const routes = new Hono<{ Variables: Variables }>()
  for (const operation of OPERATIONS)
    routes.on(operation.method, `/:org${operation.path}`, (c, next) =>
      operation.path === '/changes' && !wantsJson(c.req.header('accept')) ? next() : serve(c, operation),
    )
  return routes
}
