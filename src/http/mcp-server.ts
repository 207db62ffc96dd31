import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import { ABOUT } from '../domain/about'
import { Problem } from '../domain/errors'
import { withoutEchoes } from '../domain/identity/discretion'
import type { Caller } from '../domain/identity/scope'
import { scheduler } from '../domain/scheduler'
import { FAMILIES, findTool, listedName } from '../tools/catalogue'
import type { ToolContext } from '../tools/context'
import type { Tool } from '../tools/define-tool'
import { charactersOf } from '../tools/record'
import { type SendApart, type ToolResult, toErrorResult, toResult } from '../tools/tool-result'
import { requireRole } from './auth'
import type { McpRequest } from './mcp-request'
import { type Era, offerResources, resourceCapabilities } from './mcp-resources'
import { StrictServer } from './strict-server'

/** Creates the server of one MCP request: its tools, resources and prompts, and the execution of a tool call. */

const INSTRUCTIONS =
  'Shared memory of your team. Store what others should not have to learn again (store_context), under the thread of ' +
  'the conversation or task. Before you start, look for what is known: hybrid_search_context for a question, ' +
  'fts_search_context for exact words, search_context by thread, tags, metadata and dates; grep_context for exact ' +
  'strings in long texts; results are truncated: read_context_range returns the part you need of a long one ' +
  '(total_chars), get_context_by_ids all of it.'

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
  sendApart: SendApart,
): Promise<ToolResult> {
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
    const result = await toResult(called, sendApart)
    request.measure?.rendered(Date.now() - renderedFrom)
    return answer(result, called.structured)
  } catch (error) {
    request.measure?.called(tool.name, error instanceof Problem ? error.code : 'internal')
    if (!(error instanceof Problem) || error.cause !== undefined) {
      const cause = error instanceof Problem ? error.cause : error
      log('ERROR', 'tool_failed', { tool: tool.name, requestId, ...discreetly(cause, args) })
    }
    return answer(toErrorResult(tool.family, error, requestId))
  }
}

export function createServer(request: McpRequest, origin: string, era: Era, sendApart: SendApart): Server {
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
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map((tool) => ({
      name: listedName(tool, config),
      title: tool.title,
      description: tool.description,
      inputSchema: tool.inputSchema as { type: 'object' },
      outputSchema: tool.outputSchema as { type: 'object' },
      annotations: { title: tool.title, ...tool.annotations },
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    request.measure?.traced(params._meta?.traceparent)
    const tool = findTool(tools, params.name)
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
    const context: ToolContext = { principal: caller, services, config, origin }
    return callTool(tool, context, params.arguments, request, sendApart)
  })
  return server
}
