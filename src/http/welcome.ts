import { html } from 'hono/html'
import { ABOUT } from '../domain/about'
import { frame, type Html, respondWithPage } from './html'

/** Renders the page for a person who opens the server or its endpoint in a browser: what it is, and how to connect a client. */
export interface Welcome {
  /** The address of the endpoint, for clients. */
  readonly address: string
  /** The address of the page. */
  readonly origin: string
  readonly mode: 'open' | 'required'
  /** Whether clients that know OAuth can connect without a key. */
  readonly oauth: boolean
}

/** A browser asks for pages; a client of MCP asks for `application/json` and `text/event-stream`. */
export const isBrowser = (request: Request): boolean =>
  request.method === 'GET' && /(^|,)\s*text\/html\s*(;|,|$)/i.test(request.headers.get('accept') ?? '')

/** Returns whether a client of MCP asks for a stream of events, which this server does not have. */
export const isListener = ({ headers }: Request): boolean => /text\/event-stream/i.test(headers.get('accept') ?? '')

/** The command that adds the server to Claude Code. */
const claudeCode = (address: string, mode: Welcome['mode']): string =>
  `claude mcp add --transport http commonplace ${address}${mode === 'open' ? '' : ' --header "Authorization: Bearer <key>"'}`

/** Returns a description of the endpoint and the command that connects it, for programs such as curl. It holds nothing secret. */
export const introduction = (address: string, mode: Welcome['mode']): Record<string, string> => ({
  name: ABOUT.title,
  version: ABOUT.version,
  description: `${ABOUT.description} This is an MCP server (streamable HTTP); send JSON-RPC by POST.`,
  url: address,
  connect: claudeCode(address, mode),
})

const OPEN = html`<p>This server runs in open mode: only programs on this computer can call it, and they need no key.</p>`

const required = (
  oauth: boolean,
): Html => html`<p>Every call needs a key, which an administrator of your organization makes.
${oauth ? html`A client that supports OAuth needs the address only: it opens a page where you paste the key once.` : ''}</p>`

function commands(address: string, mode: Welcome['mode']): Html {
  const headers = mode === 'open' ? {} : { headers: { Authorization: 'Bearer <key>' } }
  const file = JSON.stringify({ mcpServers: { commonplace: { type: 'http', url: address, ...headers } } }, null, 2)
  return html`<h2>Claude Code</h2>
<pre>${claudeCode(address, mode)}</pre>
<h2>Clients with a configuration file</h2>
<pre>${file}</pre>`
}

/** A small page without a script, the same for everyone: it reveals nothing that the address does not. */
export function welcome({ address, origin, mode, oauth }: Welcome): Promise<Response> {
  const page = frame(
    'Shared memory for AI agents',
    html`<h1>Commonplace</h1>
<p>Shared memory for AI agents. This is an MCP server (streamable HTTP): programs connect to its address, people give it
to their programs.</p>
<dl><dt>Address</dt><dd>${address}</dd></dl>
${mode === 'open' ? OPEN : required(oauth)}
${commands(address, mode)}`,
  )
  return respondWithPage(page, { origin })
}

/** The same page for a server that cannot serve now. @param message one sentence for the user */
export const trouble = (message: string, { origin, status }: { origin: string; status: number }): Promise<Response> =>
  respondWithPage(
    frame(
      'Not ready',
      html`<h1>Commonplace</h1>
<p>Shared memory for AI agents. The server cannot answer now:</p>
<p class="note">${message}</p>`,
    ),
    { origin, status },
  )
