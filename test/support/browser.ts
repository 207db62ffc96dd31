import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Browser, chromium, type Frame, type Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { ROOT } from './build'
import type { Json } from './oauth'

/** A real browser, and the callback server of an OAuth client. */
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
/** Options for few processes, because starting them takes most of a page's time. */
const FEW_PROCESSES = ['--in-process-gpu', '--renderer-process-limit=1', '--disable-site-isolation-trials']

function startBrowser(): Promise<Browser> {
  const executablePath = execFileSync(process.execPath, [join(ROOT, 'scripts', 'chromium.mjs')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
  return chromium.launch({ executablePath, args: [...FLAGS, ...QUIET, ...FEW_PROCESSES] })
}

/** One browser for a file, because starting one takes more than a second. */
export function useBrowser(): () => Browser {
  let browser: Browser | null = null
  beforeAll(async () => {
    browser = await startBrowser()
  }, 300_000)
  afterAll(() => browser?.close())
  return () => {
    if (browser === null) throw new Error('the browser has started')
    return browser
  }
}

export type Callback = Awaited<ReturnType<typeof startCallback>>

/** Simulates a client that forwards the browser to another host, as sites with several hosts do. */
export async function startCallback() {
  const heard: URL[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
    if (url.pathname === '/callback') {
      heard.push(url)
      response.writeHead(302, { location: `http://localhost:${url.port}/done` }).end()
    } else {
      const frame = url.searchParams.get('frame')?.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
      const body = frame === undefined ? '<h1>You may close this window</h1>' : `<iframe src="${frame}"></iframe>`
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Client</title>${body}`)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, () => resolve()))
  const { port } = server.address() as AddressInfo
  return {
    heard,
    origin: `http://127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/callback`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** Runs in the page, whose types are not those of a Worker. */
const CONTRAST = `(selector) => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/\\d+/g).slice(0, 3).map((part) => {
      const value = Number(part) / 255
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const node = document.querySelector(selector)
  let behind = node
  while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement
  const both = [luminance(getComputedStyle(node).color), luminance(getComputedStyle(behind).backgroundColor)]
  return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05)
}`

/** Contrast of an element's text with its background (WCAG 2.2 §1.4.3). */
export const contrastOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`(${CONTRAST})(${JSON.stringify(selector)})`)

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Violations that axe finds in a page, or in one frame of it, one line each. */
export async function violations(page: Page | Frame, rules: object = RULES): Promise<string[]> {
  // Half a megabyte of script: once for each checked document, from a source that the browser has already compiled.
  if ((await page.evaluate('typeof axe')) === 'undefined') {
    if ('context' in page) {
      const session = await page.context().newCDPSession(page)
      await session.send('Runtime.evaluate', { expression: AXE })
      await session.detach()
    } else await page.evaluate(AXE)
  }
  // Passed rules are not reported.
  const options = JSON.stringify({ runOnly: rules, resultTypes: ['violations'] })
  const { violations: found } = (await page.evaluate(`axe.run(document, ${options})`)) as Json
  return found.map(({ id, nodes }: Json) => `${id}: ${nodes.map(({ target }: Json) => target).join(' ')}`)
}
