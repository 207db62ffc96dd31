import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')

/**
 * A page that hosts MCP Apps as a client does: `AppBridge` of `@modelcontextprotocol/ext-apps`, the reference client of MCP, a frame
 * without an origin, and the policy that the specification sets for an app that declares no origin.
 */
const HOST = `
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'"
const info = { name: 'host', version: '1' }
const ui = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }

window.opened = []
window.openApp = async (key, tool, args, { asks = true, theme } = {}) => {
  const client = new Client(info, {
    capabilities: { extensions: ui, ...(asks ? { elicitation: { form: {} } } : {}) },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  })
  if (asks)
    client.setRequestHandler('elicitation/create', ({ params }) => new Promise((resolve) => {
      const dialog = document.querySelector('dialog')
      dialog.querySelector('p').textContent = params.message
      dialog.querySelector('.yes').onclick = () => { dialog.close(); resolve({ action: 'accept', content: { confirm: true } }) }
      dialog.querySelector('.no').onclick = () => { dialog.close(); resolve({ action: 'decline' }) }
      dialog.showModal()
    }))
  const requestInit = { headers: { authorization: 'Bearer ' + key } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp/core', location), { requestInit }))
  const { tools } = await client.listTools()
  const { resourceUri } = tools.find(({ name }) => name === tool)._meta.ui
  const [{ text }] = (await client.readResource({ uri: resourceUri })).contents
  const frame = document.createElement('iframe')
  frame.title = 'App'
  frame.sandbox = 'allow-scripts'
  document.querySelector('main').replaceChildren(frame)
  const hostContext = theme ? { theme } : {}
  const bridge = new AppBridge(client, info, { openLinks: {}, serverTools: {} }, { hostContext })
  bridge.onopenlink = async ({ url }) => { window.opened.push(url); return {} }
  bridge.addEventListener('sizechange', ({ height }) => { frame.style.height = height + 'px' })
  const ready = new Promise((resolve) => bridge.addEventListener('initialized', resolve))
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.srcdoc = text.replace('<head>', '<head><meta http-equiv="Content-Security-Policy" content="' + POLICY + '">')
  await ready
  bridge.sendToolInput({ arguments: args })
  bridge.sendToolResult(await client.callTool({ name: tool, arguments: args }))
}
`

const PAGE = `<!doctype html><html lang="en"><title>Host</title><meta name="viewport" content="width=device-width">
<style>:root{color-scheme:light dark}body{margin:0}iframe{border:0;width:100%;height:300px;display:block}</style>
<main></main><dialog><p></p><button class="yes">Yes</button><button class="no">No</button></dialog>
<script type="module" src="/test-host.js"></script></html>`

let script: Promise<string> | undefined
const bundled = async (): Promise<string> => {
  const stdin = { contents: HOST, resolveDir: import.meta.dirname }
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm', platform: 'browser' })
  return outputFiles[0].text
}

/** Opens the host on the origin of a server, so that its client needs no permission for another origin. */
export async function openHost(page: Page, origin: string): Promise<void> {
  script ??= bundled()
  const body = await script
  await page.route('**/test-host', (route) => route.fulfill({ contentType: 'text/html', body: PAGE }))
  await page.route('**/test-host.js', (route) => route.fulfill({ contentType: 'text/javascript', body }))
  await page.goto(`${origin}/test-host`)
  await page.waitForFunction('window.openApp !== undefined')
}
