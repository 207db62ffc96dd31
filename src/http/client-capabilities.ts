import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import { isRecord } from '../tools/record'

/** Capabilities that a client declares with each request of the revision 2026-07-28. Requests of earlier revisions declare none. */

function capabilitiesOf({ mcpReq }: ServerContext): Readonly<Record<string, unknown>> {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY]
  return isRecord(capabilities) ? capabilities : {}
}

/** Whether the client can show a form to a person. */
export function showsForms(asked: ServerContext): boolean {
  const { elicitation } = capabilitiesOf(asked)
  return isRecord(elicitation) && (isRecord(elicitation.form) || Object.keys(elicitation).length === 0)
}

/** The MIME type of an MCP App: a page that the client shows in a sandboxed frame. */
export const APP_TYPE = 'text/html;profile=mcp-app'

/** Whether the client shows MCP Apps. */
export function showsApps(asked: ServerContext): boolean {
  const { extensions } = capabilitiesOf(asked)
  const ui = isRecord(extensions) ? extensions['io.modelcontextprotocol/ui'] : undefined
  return isRecord(ui) && Array.isArray(ui.mimeTypes) && ui.mimeTypes.includes(APP_TYPE)
}
