import { Hono } from 'hono'
import type { Config } from '../config'
import { invalidInput, notFound, Problem } from '../domain/errors'
import type { Caller } from '../domain/identity/scope'
import { scheduler } from '../domain/scheduler'
import type { Services } from '../services/services'
import { context } from '../tools/core/context'
import { fetch } from '../tools/core/fetch'
import { forget } from '../tools/core/forget'
import { history } from '../tools/core/history'
import { remember } from '../tools/core/remember'
import { restore } from '../tools/core/restore'
import { search } from '../tools/core/search'
import { update } from '../tools/core/update'
import type { Tool } from '../tools/define-tool'
import type { JsonSchema } from '../tools/json-schema'
import { charactersOf, isRecord } from '../tools/record'
import { isArguments, isImageData, longestString, MAX_MEMBERS } from '../tools/request-strings'
import { writeJson } from '../tools/tool-result'
import { CORE_NAME, toolsetOf } from '../tools/toolsets'
import { type Credential, requireNamedOrg, requireRole } from './auth'
import { MAX_BODY_BYTES, readJsonBody } from './body'
import type { Measure } from './measure'

/** REST for people and scripts (platform contract §3.1): the core tools at addresses below `/api/v1/orgs/:org`. */

/** The address of the OpenAPI document, which needs no credential. */
export const OPENAPI_PATH = '/api/v1/openapi.json'

interface Variables {
  readonly services: Services
  readonly credential: Credential
  readonly setup: { readonly config: Config; readonly measure?: Measure }
}

type Args = Record<string, unknown>

/** One method of an address. */
export interface Operation {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** Below `/api/v1/orgs/:org`; `:id` is the ID of a memory. */
  readonly path: string
  readonly summary: string
  readonly tool: Tool
  /** Arguments that come from the query; `body`: all come from the body. */
  readonly from: 'query' | 'body'
  /** Arguments of the tool that the address does not accept, since it fixes them or has no form for them. */
  readonly without: readonly string[]
  /** Arguments that the address fixes. @param id from the address */
  readonly fixed: (id: number) => Args
  /** The status of a success. */
  readonly status: (answer: Args) => 200 | 201
}

const OK = () => 200 as const
const NONE = () => ({})

/** All operations. The document at `/api/v1/openapi.json` is made of this table. */
export const OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/entries', summary: 'Store a memory', tool: remember, from: 'body' },
    ...{ without: [], fixed: NONE, status: (answer) => (answer.existing || answer.replayed ? 200 : 201) },
  },
  {
    ...{ method: 'get', path: '/entries', summary: 'List memories, newest first', tool: search, from: 'query' },
    ...{ without: ['query', 'mode', 'explain'], fixed: NONE, status: OK },
  },
  {
    ...{ method: 'get', path: '/entries/:id', summary: 'Read a memory, or a part of it', tool: fetch, from: 'query' },
    ...{ without: ['id', 'ids', 'images'], fixed: (id) => ({ id }), status: OK },
  },
  {
    ...{ method: 'get', path: '/fetch', summary: 'Read several memories', tool: fetch, from: 'query' },
    ...{ without: ['images'], fixed: NONE, status: OK },
  },
  {
    ...{ method: 'patch', path: '/entries/:id', summary: 'Change a memory', tool: update, from: 'body' },
    ...{ without: ['id'], fixed: (id) => ({ id }), status: OK },
  },
  {
    ...{ method: 'delete', path: '/entries/:id', summary: 'Delete a memory', tool: forget, from: 'query' },
    ...{ without: ['ids', 'thread', 'filter'], fixed: (id) => ({ ids: [id] }), status: OK },
  },
  {
    ...{ method: 'get', path: '/entries/:id/history', summary: 'List versions', tool: history, from: 'query' },
    ...{ without: ['id'], fixed: (id) => ({ id }), status: OK },
  },
  {
    ...{ method: 'post', path: '/restore', summary: 'Undo a change or a deletion', tool: restore, from: 'body' },
    ...{ without: [], fixed: NONE, status: OK },
  },
  {
    ...{ method: 'get', path: '/search', summary: 'Search memories', tool: search, from: 'query' },
    ...{ without: [], fixed: NONE, status: OK },
  },
  {
    ...{
      method: 'post',
      path: '/search',
      summary: 'Search memories, arguments in the body',
      tool: search,
      from: 'body',
    },
    ...{ without: [], fixed: NONE, status: OK },
  },
  {
    ...{ method: 'get', path: '/context', summary: 'What matters for a goal', tool: context, from: 'query' },
    ...{ without: [], fixed: NONE, status: OK },
  },
  {
    ...{ method: 'post', path: '/context', summary: 'The same, arguments in the body', tool: context, from: 'body' },
    ...{ without: [], fixed: NONE, status: OK },
  },
]

/** Properties of a tool's input that an operation accepts. */
export const acceptedBy = ({
  tool,
  without,
}: Pick<Operation, 'tool' | 'without'>): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(
    Object.entries((tool.inputSchema.properties ?? {}) as Record<string, JsonSchema>).filter(
      ([name]) => !without.includes(name),
    ),
  )

/** Reads a parameter by the type of its argument. The tool checks the value. */
function argumentIn(texts: readonly string[], { type }: JsonSchema): unknown {
  const [text = ''] = texts
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type === 'array') return texts.flatMap((one) => one.split(',')).map((one) => one.trim())
  return text
}

function queryArguments(url: URL, accepted: Readonly<Record<string, JsonSchema>>): Args {
  const args: Args = {}
  for (const name of new Set(url.searchParams.keys())) {
    const schema = Object.hasOwn(accepted, name) ? accepted[name] : undefined
    if (schema === undefined)
      throw invalidInput(
        `Unknown parameter "${name.slice(0, 40)}"; accepted: ${Object.keys(accepted).join(', ') || 'none'}`,
      )
    const texts = url.searchParams.getAll(name)
    if (texts.some((text) => text !== '')) args[name] = argumentIn(texts, schema)
  }
  return args
}

/** The place of a value in the body, as the rules for MCP calls name it. */
const inCall = (path: readonly (string | number)[]): (string | number)[] => ['params', 'arguments', ...path]

async function bodyArguments(
  request: Request,
  config: Config,
  accepted: Readonly<Record<string, JsonSchema>>,
): Promise<Args> {
  // A page of another site can send any other type without asking the server first.
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw invalidInput('Content-Type must be application/json')
  const body = await readJsonBody(request, MAX_BODY_BYTES, {
    isBase64: (path) => isImageData(inCall(path)),
    maxBase64Bytes: config.imageLimits.each,
    longest: longestString,
    isBounded: (path) => isArguments(inCall(path)),
    maxMembers: MAX_MEMBERS,
    maxValues: MAX_MEMBERS,
  })
  if (body.kind === 'too_large') throw new Problem('limit_exceeded', body.reason)
  if (body.kind === 'malformed' || !isRecord(body.value)) throw invalidInput('The body must be a JSON object')
  const unknown = Object.keys(body.value).find((name) => !Object.hasOwn(accepted, name))
  if (unknown !== undefined)
    throw invalidInput(
      `Unknown member "${unknown.slice(0, 40)}"; the body accepts: ${Object.keys(accepted).join(', ')}`,
    )
  return body.value
}

const ID = /^[1-9]\d{0,15}$/

export function createRestRoutes() {
  const routes = new Hono<{ Variables: Variables }>()
  for (const operation of OPERATIONS) {
    const { method, path, tool, from, fixed, status } = operation
    const accepted = acceptedBy(operation)
    routes.on(method.toUpperCase(), `/:org${path}`, async (c) => {
      const { services, credential, setup } = c.var
      const principal = requireNamedOrg(credential, c.req.param('org'))
      if (toolsetOf(setup.config, CORE_NAME)?.tools.includes(tool) !== true)
        throw new Problem('unsupported', `${tool.name} is switched off on this server`)
      const caller: Caller = { ...principal, action: tool.name, tool: tool.name, changeId: services.ids.next() }
      const id = c.req.param('id') ?? '1'
      if (!ID.test(id) || !Number.isSafeInteger(Number(id))) throw notFound('No such memory')
      try {
        requireRole(caller, tool.role)
        const url = new URL(c.req.url)
        const args =
          from === 'query' ? queryArguments(url, accepted) : await bodyArguments(c.req.raw, setup.config, accepted)
        const key = c.req.header('idempotency-key')
        const keyed = key !== undefined && Object.hasOwn(accepted, 'idempotency_key') ? { idempotency_key: key } : {}
        const called = { ...args, ...keyed, ...fixed(Number(id)) }
        await scheduler.tick(charactersOf(called))
        const { structured } = await tool.call(
          { principal: caller, services, config: setup.config, origin: url.origin },
          called,
        )
        setup.measure?.called(tool.name, 'ok')
        const json = await writeJson(structured)
        return c.body(typeof json === 'string' ? json : json.join(''), status(structured), {
          'Content-Type': 'application/json',
          'Cache-Control': 'no-store',
        })
      } catch (error) {
        setup.measure?.called(tool.name, error instanceof Problem ? error.code : 'internal')
        if (error instanceof Problem && error.code === 'forbidden')
          await services.administration.note(caller, false, { denied: 1 })
        throw error
      }
    })
  }
  return routes
}
