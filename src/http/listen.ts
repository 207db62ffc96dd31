import { createMcpHandler, type McpServerFactory, type ServerEvent } from '@modelcontextprotocol/server'
import { Problem } from '../domain/errors'
import { actionFor } from '../domain/history/feed'
import { filterOfResource } from '../domain/history/resource-filter'
import type { Principal } from '../domain/identity/scope'
import { parseResource } from '../domain/resources/resource-uri'
import { NO_NAMES } from '../services/people/project-names'
import type { FeedPage } from '../services/searching/history/changes'
import type { Services } from '../services/services'
import { openPages, type Pages } from './event-stream'
import { TICK_MS } from './waiting'

/**
 * Serves `subscriptions/listen` of revision 2026-07-28: one stream of notifications that a client has requested. The SDK handles the
 * protocol (acknowledgement first, names of subscriptions, comments); the change feed supplies the changes.
 */
const METHOD = 'subscriptions/listen'
const MAX_URIS = 100

export interface ListenMessage {
  readonly id: unknown
  readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isListening = (body: unknown): body is ListenMessage => isRecord(body) && body.method === METHOD

interface Listening {
  readonly services: Services
  readonly principal: Principal
  readonly createServer: McpServerFactory
  readonly onerror: (error: Error) => void
  /** Counts the stream as a stream from now on, no longer as a running request. */
  readonly release: () => void
}

const rpcError = (id: unknown, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: id ?? null, error: { code, message } })

/** Returns the message with only those resources that the caller can see, so that the acknowledgement matches the notifications. */
function narrowed(message: ListenMessage, uris: readonly string[]): ListenMessage {
  const { params } = message
  const { resourceSubscriptions: _, ...others } = params?.notifications ?? {}
  const notifications = uris.length === 0 ? others : { ...others, resourceSubscriptions: uris }
  return { ...message, params: { ...params, notifications } }
}

/** The resources that a page of the feed has changed, each once. */
const changedIn = (
  page: FeedPage,
  principal: Principal,
  wanted: ReadonlyMap<string, ReturnType<typeof filterOfResource>>,
) =>
  [...wanted].flatMap(([uri, filter]) =>
    filter !== null && page.changes.some(({ sight }) => actionFor(principal, filter, sight) !== null) ? [uri] : [],
  )

/** Answers a request that listens. @param httpRequest without its body, which is `message` */
export async function serveListening(
  httpRequest: Request,
  message: ListenMessage,
  listening: Listening,
): Promise<Response> {
  const { services, createServer, onerror } = listening
  const asked = message.params?.notifications?.resourceSubscriptions
  const uris = Array.isArray(asked) ? [...new Set(asked.filter((uri) => typeof uri === 'string'))] : []
  if (uris.length > MAX_URIS) return rpcError(message.id, -32602, `Invalid params: at most ${MAX_URIS} resources`)
  const projects = uris.flatMap((uri) => {
    const resource = parseResource(uri)
    return resource?.kind === 'project' ? [resource.project] : []
  })
  const names = projects.length === 0 ? NO_NAMES : await services.names.names(listening.principal, projects)
  const principal = names.within(listening.principal)
  const keyOf = (name: string): string => names.of(name)?.key ?? name
  const wanted = new Map(
    uris.map((uri) => [uri, filterOfResource(principal, uri, keyOf)] as const).filter(([, filter]) => filter !== null),
  )

  let pages: Pages | null = null
  if (wanted.size > 0) {
    try {
      const filters = [...wanted.values()].flatMap((filter) => filter ?? [])
      pages = await openPages(services, principal, { after: undefined, filters })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return rpcError(message.id, -32603, error.message)
    }
  }

  let open = true
  const end = () => {
    open = false
    void pages?.close().catch(() => {})
  }
  async function tell(hear: (event: ServerEvent) => void): Promise<void> {
    while (open && pages !== null) {
      const page = await pages.next()
      if (page === null || !open) break
      for (const uri of changedIn(page, principal, wanted)) hear({ kind: 'resource_updated', uri })
    }
  }
  const handler = createMcpHandler(createServer, {
    legacy: 'reject',
    onerror,
    keepAliveMs: TICK_MS,
    bus: {
      publish: () => {},
      subscribe(hear) {
        listening.release()
        // The stream ends with the feed, the key or its lifetime; the client opens it again.
        tell(hear)
          .catch((error: unknown) => onerror(error instanceof Error ? error : new Error(String(error))))
          .finally(() => void handler.close())
        return end
      },
    },
  })
  return handler.fetch(httpRequest, { parsedBody: narrowed(message, [...wanted.keys()]) })
}
