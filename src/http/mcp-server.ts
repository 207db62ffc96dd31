import {
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { ABOUT } from '../domain/about'
import { Problem } from '../domain/errors'
import { withoutEchoes } from '../domain/identity/remove-echoes'
import type { Caller } from '../domain/identity/scope'
import { parseResource, TEMPLATES } from '../domain/resources/resource-uri'
import { scheduler } from '../domain/scheduler'
import { FAMILIES, findTool, listedName } from '../tools/catalogue'
import { ConsentNeeded } from '../tools/consent'
import type { ToolContext } from '../tools/context'
import type { Tool } from '../tools/define-tool'
import { namesIn } from '../tools/named-projects'
import { listPrompts, promptText } from '../tools/prompts/catalogue'
import { charactersOf, isRecord } from '../tools/record'
import { readContents } from '../tools/resources/contents'
import { completeName, listResources, listTemplates } from '../tools/resources/directory'
import { type SendChunked, type ToolResult, toErrorResult, toResult } from '../tools/tool-result'
import { requireRole } from './auth'
import { showsApps, showsForms } from './client-capabilities'
import { consentIn, questionOf } from './consent'
import type { McpRequest } from './mcp-message'
import { offerSkills, SKILLS_CAPABILITY, skillAt } from './skills'

/** Registers resources, prompts and completions of the endpoint. */

/** The revisions of 2025, and the one of 2026. */
export type Era = 'legacy' | 'modern'

/** Declared capabilities. Clients of 2025 would subscribe by another method, which needs a session. */
export const resourceCapabilities = (era: Era) => ({
  resources: era === 'modern' ? { subscribe: true } : {},
  prompts: {},
  completions: {},
  ...SKILLS_CAPABILITY,
})

/** Translates errors to protocol errors, which do not have the product's codes. */
function toProtocolError(error: unknown, method: string, { log, requestId }: McpRequest, asked: unknown): unknown {
  if (error instanceof ProtocolError) return error
  const inside = !(error instanceof Problem) || error.cause !== undefined
  if (inside) {
    const cause = error instanceof Problem ? error.cause : error
    log('ERROR', 'request_failed', { method, requestId, message: withoutEchoes(String(cause), asked) })
  }
  if (!(error instanceof Problem))
    return new ProtocolError(ProtocolErrorCode.InternalError, `Internal server error (request ${requestId})`)
  const { code, message, retryable } = error
  const ours = code === 'unavailable' || code === 'internal'
  return new ProtocolError(ours ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, message, {
    code,
    retryable,
  })
}

/** Returns the MCP Apps for a client that shows them; null for another one. The module is loaded when such a client asks. */
const appsFor = async ({ offersApps }: McpRequest, asked: ServerContext) =>
  offersApps && showsApps(asked) ? await import('./apps') : null

export function offerResources(server: Server, request: McpRequest, origin: string, sendApart: SendChunked): void {
  const { config, services, principal, tools } = request
  const listed = new Set(tools.map((tool) => listedName(tool, config)))
  const prompts = listPrompts(listed)

  /** Runs a request as its caller; a denial is logged. */
  async function answering<T>(
    method: string,
    asked: unknown,
    answer: (context: ToolContext) => Promise<T>,
  ): Promise<T> {
    const caller: Caller = { ...principal, action: method, tool: null, changeId: services.ids.next() }
    try {
      return await answer({ principal: caller, services, config, origin })
    } catch (error) {
      if (error instanceof Problem && error.code === 'forbidden')
        await services.administration
          .note(caller, false, { denied: 1 })
          .catch((failure) => request.log('ERROR', 'denial_not_noted', { method, message: String(failure) }))
      throw toProtocolError(error, method, request, asked)
    }
  }

  server.setRequestHandler('resources/list', ({ params }, asked) =>
    answering('resources/list', params, async (context) => {
      if (request.listsThreads) return listResources(context, params?.cursor)
      const apps = await appsFor(request, asked)
      return { resources: apps?.listApps() ?? [] }
    }),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: listTemplates(listed).map((template) => ({ ...template })),
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }, asked) =>
    answering('resources/read', uri, async (context) => {
      if (uri.startsWith('ui://')) {
        const app = (await appsFor(request, asked))?.readApp(uri, origin)
        if (!app) throw new ResourceNotFoundError(uri)
        return { contents: [app] }
      }
      if (uri.startsWith('skill://')) {
        const file = await skillAt(context, uri)
        if (file === null) throw new ResourceNotFoundError(uri)
        return { contents: [{ uri, mimeType: 'text/markdown', text: file.text }] }
      }
      const resource = parseResource(uri)
      const offered = resource !== null && (resource.kind !== 'pack' || listed.has('context'))
      const contents = offered ? await readContents(context, resource, uri, sendApart) : null
      if (contents === null) throw new ResourceNotFoundError(uri)
      return { contents }
    }),
  )

  offerSkills(server, answering)

  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ name, title, description, arguments: args }) => ({
      ...{ name, title, description },
      arguments: args.map((argument) => ({ ...argument })),
    })),
  }))
  server.setRequestHandler('prompts/get', ({ params }) =>
    answering('prompts/get', params, async (context) => {
      const prompt = prompts.find(({ name }) => name === params.name)
      if (prompt === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${params.name}`)
      const text = await promptText(prompt, { ...context, tools: listed }, params.arguments ?? {})
      return {
        description: prompt.description,
        messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
      }
    }),
  )

  server.setRequestHandler('completion/complete', ({ params }) =>
    answering('completion/complete', params, async (context) => {
      const { ref, argument } = params
      const known =
        ref.type === 'ref/prompt'
          ? prompts.find(({ name }) => name === ref.name)?.arguments.some(({ name }) => name === argument.name)
          : Object.values(TEMPLATES).some((template) => template === ref.uri && template.includes(`{${argument.name}}`))
      if (known !== true)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          'No such prompt, resource template or argument to complete',
        )
      return { completion: await completeName(context, argument.name, argument.value) }
    }),
  )
}

/** An SDK error that holds the findings of its validator as a JSON list, alone or after a few words. */
const FINDINGS = /^(?:Invalid [^[]{0,100}: )?(\[[\s\S]*\])$/

/** Formats one finding: the member, the expected type, and the actual one. */
function sentenceOf({ path, message }: Record<string, unknown>): string {
  const name = Array.isArray(path) && path.length > 0 ? path.join('.') : 'params'
  const [, expected, received] = /expected (\w+), received (\w+)/.exec(String(message)) ?? []
  if (expected === undefined) return `${name} is not valid`
  const type = expected === 'record' ? 'object' : expected
  return received === 'undefined' ? `${name} is missing (${type})` : `${name} must be of type ${type}, not ${received}`
}

/** Formats the findings of a request; null for any other error. */
function findingsOf(error: unknown): string | null {
  const [, list] = error instanceof Error ? (FINDINGS.exec(error.message) ?? []) : []
  if (list === undefined) return null
  try {
    const findings: unknown = JSON.parse(list)
    if (!Array.isArray(findings) || !findings.every(isRecord)) return null
    return findings.map(sentenceOf).join('; ')
  } catch {
    return null
  }
}

/** An SDK server that reports wrong parameters as the caller's error, not its own (JSON-RPC: −32602, not −32603). */
export class StrictServer extends Server {
  protected override _wrapHandler(
    ...[method, handler]: Parameters<Server['_wrapHandler']>
  ): ReturnType<Server['_wrapHandler']> {
    const wrapped = super._wrapHandler(method, handler)
    return async (request, context) => {
      try {
        return await wrapped(request, context)
      } catch (error) {
        const findings = findingsOf(error)
        if (findings === null) throw error
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params of ${method}: ${findings}`)
      }
    }
  }
}

/** Creates the server of one MCP request: its tools, resources and prompts, and the execution of a tool call. */

const INSTRUCTIONS =
  'Shared memory of your team. Call store_context for what others should not have to learn again, under the thread of ' +
  'the conversation or task. Before you start, search for what is known: hybrid_search_context for a question, ' +
  'fts_search_context for exact words, search_context by thread, tags, metadata and dates; grep_context for exact ' +
  'strings in long texts. Results are truncated: read_context_range returns the part you need of a long entry ' +
  '(total_chars), get_context_by_ids the complete entry.'

/**
 * Writes a denial to the audit log, also one of a single item of a batch (platform contract §5). If that fails, the answer does not
 * change.
 */
async function noteDenials(
  { services, principal }: ToolContext,
  denied: number,
  { log, requestId }: McpRequest,
): Promise<void> {
  if (denied > 0)
    await services.administration
      .note(principal, false, { denied })
      .catch((error) => log('ERROR', 'denial_not_noted', { tool: principal.tool, requestId, message: String(error) }))
}

/** Returns an error in a form that the log may hold, without the caller's text. */
function discreetly(error: unknown, args: unknown): Record<string, string | undefined> {
  if (!(error instanceof Error)) return { message: withoutEchoes(String(error), args) }
  return { message: withoutEchoes(error.message, args), stack: withoutEchoes(error.stack ?? '', args) }
}

async function callTool(
  tool: Tool,
  context: ToolContext,
  args: unknown,
  request: McpRequest,
  sendApart: SendChunked,
): Promise<ToolResult | InputRequiredResult> {
  const { log, requestId } = request
  const startedAt = Date.now()
  const answer = async (result: ToolResult, structured = result.structuredContent): Promise<ToolResult> => {
    await noteDenials(context, tool.family.denials(structured), request)
    return result
  }
  try {
    requireRole(context.principal, tool.role)
    // Several calls of one request are parsed one after the other.
    await scheduler.tick(charactersOf(args))
    const called = await tool.call(context, args)
    log('DEBUG', 'tool', { tool: tool.name, requestId, ms: Date.now() - startedAt })
    request.measure?.called(tool.name, 'ok')
    const renderedFrom = Date.now()
    let apart = 0
    const result = await toResult(called, {
      ...sendApart,
      asString(pieces) {
        for (const piece of pieces) apart += piece.length
        return sendApart.asString(pieces)
      },
    })
    request.measure?.answered(namesIn(args)[0] ?? null, apart || result.content[0].text.length)
    request.measure?.rendered(Date.now() - renderedFrom)
    return answer(result, called.structured)
  } catch (error) {
    if (error instanceof ConsentNeeded) {
      request.measure?.called(tool.name, 'ok')
      return await questionOf(error)
    }
    request.measure?.called(tool.name, error instanceof Problem ? error.code : 'internal')
    if (!(error instanceof Problem) || error.cause !== undefined) {
      const cause = error instanceof Problem ? error.cause : error
      log('ERROR', 'tool_failed', { tool: tool.name, requestId, ...discreetly(cause, args) })
    }
    return answer(toErrorResult(tool.family, error, requestId))
  }
}

export function createServer(request: McpRequest, origin: string, era: Era, sendApart: SendChunked): Server {
  const { config, services, principal, tools, offersResources, requestId } = request
  const instructions = config.instructions ?? tools[0]?.family.instructions ?? INSTRUCTIONS
  const server = new StrictServer(
    { name: 'commonplace', title: ABOUT.title, version: ABOUT.version },
    {
      capabilities: { tools: {}, ...(offersResources ? resourceCapabilities(era) : {}) },
      ...(instructions === '' ? {} : { instructions }),
    },
  )
  if (offersResources) offerResources(server, request, origin, sendApart)
  server.setRequestHandler('tools/list', async (_, asked) => {
    const apps = await appsFor(request, asked)
    return {
      tools: [...tools, ...(apps?.toolsOf(config) ?? [])].map((tool) => ({
        name: listedName(tool, config),
        title: tool.title,
        description: tool.description,
        inputSchema: tool.inputSchema as { type: 'object' },
        outputSchema: tool.outputSchema as { type: 'object' },
        annotations: { title: tool.title, ...tool.annotations },
        ...apps?.metaOf(tool),
      })),
    }
  })
  server.setRequestHandler('tools/call', async ({ params }, asked) => {
    request.measure?.traced(params._meta?.traceparent)
    const tool =
      findTool(tools, params.name) ?? findTool((await appsFor(request, asked))?.toolsOf(config) ?? [], params.name)
    if (!tool) {
      const instead =
        request.instead && Object.hasOwn(request.instead, params.name) ? request.instead[params.name] : null
      if (instead === null || instead === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
      const moved = new Problem('unsupported', `${params.name} is not a tool of this address. Call ${instead}`)
      // Uses the name that was called, not the canonical one.
      return toErrorResult(FAMILIES.threads, moved, requestId)
    }
    const caller: Caller = { ...principal, action: tool.name, tool: tool.name, changeId: services.ids.next() }
    const confirm = era === 'modern' && showsForms(asked) ? { confirm: consentIn(asked) } : {}
    const context: ToolContext = { principal: caller, services, config, origin, ...confirm }
    return callTool(tool, context, params.arguments, request, sendApart)
  })
  return server
}

/** Path of the server description that clients read before they connect, below the endpoint (SEP-2127). */
export const CARD_PATH = '/mcp/server-card'
/** The revisions of the protocol that the endpoint supports. */
const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']

/**
 * Returns the public Server Card of an endpoint: its description and how to connect. It reveals nothing that the endpoint's own refusals
 * do not. Shape: github.com/modelcontextprotocol/experimental-ext-server-card, schema v1.
 */
export function serverCard(origin: string, mode: 'open' | 'required'): Response {
  const card = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...ABOUT,
    remotes: ['/mcp/core', '/mcp'].map((path) => ({
      type: 'streamable-http',
      url: `${origin}${path}`,
      ...(mode === 'required' && {
        headers: [
          {
            name: 'Authorization',
            description: 'Bearer and a key of your organization; clients that know OAuth need none',
            isRequired: false,
            isSecret: true,
            value: 'Bearer {key}',
            variables: { key: { description: 'A key: commonplace keys create', isSecret: true } },
          },
        ],
      }),
      supportedProtocolVersions: REVISIONS,
    })),
  }
  return new Response(JSON.stringify(card), {
    headers: {
      'content-type': 'application/mcp-server-card+json',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET',
      'cache-control': 'public, max-age=3600',
    },
  })
}
