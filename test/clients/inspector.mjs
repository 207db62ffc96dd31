// The web page of MCP Inspector in a real Chromium: registers itself, is sent to the consent page, gets a token for the key, and calls a
// tool. Needs a server that asks for keys and COMMONPLACE_KEY; in both eras of the protocol.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { freePort } from '../../scripts/ports.mjs'
import { URL_OF_SERVER } from './server.mjs'

const { COMMONPLACE_KEY: key } = process.env
const LAUNCHER = join('node_modules', '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js')
const PATIENCE_MS = 30_000

/** Starts the Inspector; resolves to the address of its page. @param {string} home @param {string} era */
async function startInspector(home, era) {
  const port = await freePort()
  const args = [LAUNCHER, '--web', '--transport', 'http', '--server-url', URL_OF_SERVER, '--protocol-era', era]
  const settings = { HOST: '127.0.0.1', CLIENT_PORT: String(port), MCP_AUTO_OPEN_ENABLED: 'false' }
  const secrets = { MCP_INSPECTOR_SECRET_STORE: 'memory', MCP_SANDBOX_PORT: String(await freePort()) }
  const child = spawn(process.execPath, args, { env: { ...process.env, ...settings, ...secrets, HOME: home } })
  let out = ''
  const url = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        out += chunk
        const [found] = /http:\/\/127\.0\.0\.1:\d+\S*API_TOKEN=\S+/.exec(out) ?? []
        if (found !== undefined) resolve(found)
      })
    child.once('exit', () => reject(new Error(out)))
  })
  return { url, stop: () => child.kill() }
}

/** Connects, gives the key on the consent page, and calls a tool. @param {import('playwright-core').Page} page @param {string} url */
async function visit(page, url) {
  page.setDefaultTimeout(PATIENCE_MS)
  await page.goto(url)
  await page.getByRole('switch').click({ force: true })
  await page.waitForURL((at) => at.pathname === '/authorize')
  await page.locator('input[type=password]').fill(key ?? '')
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('Connected', { exact: true }).waitFor()
  const version = await page.getByText(/^MCP 20\d\d/).innerText()
  await page.getByText('Tools', { exact: true }).first().click()
  await page.getByText('list_threads', { exact: true }).first().click()
  await page
    .getByRole('button', { name: /execute|run|call/i })
    .last()
    .click()
  await page
    .getByText(/total_threads|"threads"/)
    .first()
    .waitFor()
  return version
}

const { status } = await fetch(URL_OF_SERVER, { method: 'POST' })
if (!key || status !== 401) {
  console.log(
    'Inspector                          not tried: it needs COMMONPLACE_KEY and a server with AUTH_MODE=required',
  )
  process.exit(1)
}
const executablePath = execFileSync(process.execPath, [
  fileURLToPath(new URL('../../scripts/chromium.mjs', import.meta.url).href),
])
  .toString()
  .trim()
const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox'] })
for (const era of ['legacy', 'modern']) {
  const home = mkdtempSync(join(tmpdir(), 'commonplace-inspector-'))
  const inspector = await startInspector(home, era)
  const page = await browser.newPage()
  try {
    console.log(
      `Inspector, ${era}`.padEnd(34),
      `OAuth, connected by ${await visit(page, inspector.url)}, called a tool`,
    )
  } catch (error) {
    console.log(`Inspector, ${era}`.padEnd(34), `FAILED at ${page.url()}: ${error.message.split('\n')[0]}`)
    if (process.env.VERBOSE) console.log(await page.locator('body').innerText())
    process.exitCode = 1
  }
  await page.close()
  inspector.stop()
  rmSync(home, { recursive: true, force: true })
}
await browser.close()
