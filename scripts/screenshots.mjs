// `npm run screenshots`: pictures of the dashboard for docs/pictures, from the data of the demo, so that nobody takes them by hand.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { startOn } from './demo/server.mjs'
import { environment, nodePath, root } from './install.mjs'

/** @type {readonly (readonly [name: string, path: string, scheme: 'light' | 'dark'])[]} */
const PICTURES = [
  ['overview', '/', 'light'],
  ['overview-dark', '/', 'dark'],
  ['search', '/search?q=refund+rules', 'light'],
  ['thread', '/threads/seat-map', 'light'],
  ['entry', '/entries/13', 'light'],
  ['pack', '/pack?goal=make+refunds+safe+to+retry&project=ferry-api', 'light'],
  ['activity', '/activity', 'light'],
  ['review', '/review', 'light'],
]

const state = join(root, '.wrangler/screenshots')
const folder = join(root, 'docs/pictures')
rmSync(state, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const seed = fileURLToPath(new URL('demo/seed.mjs', import.meta.url).href)
const { status } = spawnSync(nodePath(), [seed, state], { cwd: root, env: environment({}), stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

const { server, origin } = await startOn(state)
const finder = fileURLToPath(new URL('chromium.mjs', import.meta.url).href)
const executablePath = execFileSync(process.execPath, [finder], { encoding: 'utf8' }).trim()
const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] })
for (const [name, path, colorScheme] of PICTURES) {
  const page = await browser.newPage({ viewport: { width: 1160, height: 725 }, colorScheme, reducedMotion: 'reduce' })
  await page.goto(origin + path)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await page.close()
  console.log(`docs/pictures/${name}.png`)
}
await browser.close()
await server.dispose()
process.exit(0)
