import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import { Problem } from '../domain/errors'
import { withoutEchoes } from '../domain/identity/discretion'
import type { Caller } from '../domain/identity/scope'
import { parseResource, TEMPLATES } from '../domain/resources/resource-uri'
import { listedName } from '../tools/catalogue'
import type { ToolContext } from '../tools/context'
import { listPrompts } from '../tools/prompts/catalogue'
import { promptText } from '../tools/prompts/prompt'
import { readContents } from '../tools/resources/contents'
import { completeName, listResources, listTemplates } from '../tools/resources/directory'
import type { SendApart } from '../tools/tool-result'
import type { McpRequest } from './mcp-request'

/** Registers resources, prompts and completions of the endpoint. */

/** The revisions of 2025, and the one of 2026. */
export type Era = 'legacy' | 'modern'

/** Declared capabilities. Clients of 2025 would subscribe by another method, which needs a session. */
export const resourceCapabilities = (era: Era) => ({
  resources: era === 'modern' ? { subscribe: true } : {},
  prompts: {},
  completions: {},
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
    return new ProtocolError(
      ProtocolErrorCode.InternalError,
      `Something went wrong inside the server (request ${requestId})`,
    )
  const { code, message, retryable } = error
  const ours = code === 'unavailable' || code === 'internal'
  return new ProtocolError(ours ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, message, {
    code,
    retryable,
  })
}

export function offerResources(server: Server, request: McpRequest, origin: string, sendApart: SendApart): void {
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

  server.setRequestHandler('resources/list', ({ params }) =>
    answering('resources/list', params, async (context) =>
      request.listsThreads ? listResources(context, params?.cursor) : { resources: [] },
    ),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: listTemplates(listed).map((template) => ({ ...template })),
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    answering('resources/read', uri, async (context) => {
      const resource = parseResource(uri)
      const offered = resource !== null && (resource.kind !== 'pack' || listed.has('context'))
      const contents = offered ? await readContents(context, resource, uri, sendApart) : null
      if (contents === null) throw new ResourceNotFoundError(uri)
      return { contents }
    }),
  )

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
