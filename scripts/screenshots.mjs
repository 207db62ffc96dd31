// `npm run screenshots`: takes pictures of the dashboard for docs/pictures, with the data of the demo.
// `npm run screenshots -- --all`: takes every full page, narrow and wide, light and dark, and with an empty store, into .wrangler/pictures
// for review.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
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

/** @type {readonly (readonly [name: string, path: string])[]} */
const PAGES = [
  ...PICTURES.filter(([, , scheme]) => scheme === 'light').map(([name, path]) => /** @type {const} */ ([name, path])),
  ['search-start', '/search'],
  ['search-nothing', '/search?q=refnud&by=words&tag=nothing-has-it&kind=decision'],
  ['search-filters', '/search?q=refund&project=ferry-api&kind=decision&field=status&op=not_exists&value='],
  ['help', '/help'],
  ['connect', '/connect'],
  ['threads', '/threads'],
  ['version', '/entries/13/versions/1'],
  ['edit', '/entries/13/edit'],
  ['delete', '/entries/13/delete'],
  ['pack-start', '/pack'],
  ['projects', '/projects'],
  ['keys', '/keys'],
  ['audit', '/audit'],
  ['backups', '/backups'],
  ['cost', '/cost'],
  ['stale', '/stale'],
  ['usage', '/usage'],
  ['settings', '/settings'],
  ['no-such', '/entries/999999'],
]
/** @type {readonly (readonly [name: string, path: string])[]} */
const EMPTY = [
  ['empty', '/'],
  ['empty-threads', '/threads'],
  ['empty-activity', '/activity'],
  ['empty-review', '/review'],
]
const WIDTHS = [390, 1280]
const SCHEMES = /** @type {const} */ (['light', 'dark'])

const state = join(root, '.wrangler/screenshots')
const folder = join(root, 'docs/pictures')
rmSync(state, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const seed = fileURLToPath(new URL('demo/seed.mjs', import.meta.url).href)
const { status } = spawnSync(nodePath(), [seed, state], { cwd: root, env: environment({}), stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

const finder = fileURLToPath(new URL('chromium.mjs', import.meta.url).href)
const executablePath = execFileSync(process.execPath, [finder], { encoding: 'utf8' }).trim()
const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] })

/**
 * @param {string} url
 * @param {string} path of the picture
 * @param {{ width: number, height: number, colorScheme: 'light' | 'dark', fullPage?: boolean }} look
 */
async function take(url, path, { width, height, colorScheme, fullPage = false }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
  await page.goto(url)
  await page.screenshot({ path, fullPage })
  await page.close()
  console.log(relative(root, path))
}

/** @param {string} origin @param {readonly (readonly [name: string, path: string])[]} pages */
async function takeAll(origin, pages) {
  const all = join(root, '.wrangler/pictures')
  mkdirSync(all, { recursive: true })
  for (const [name, path] of pages)
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES)
        await take(origin + path, join(all, `${name}-${width}-${colorScheme}.png`), {
          ...{ width, height: 800, colorScheme, fullPage: true },
        })
}

const { server, origin } = await startOn(state)
if (process.argv.includes('--all')) {
  await takeAll(origin, PAGES)
  const nothing = join(root, '.wrangler/screenshots-empty')
  rmSync(nothing, { recursive: true, force: true })
  const empty = await startOn(nothing)
  await takeAll(empty.origin, EMPTY)
  await empty.server.dispose()
} else
  for (const [name, path, colorScheme] of PICTURES)
    await take(origin + path, join(folder, `${name}.png`), { width: 1160, height: 725, colorScheme })
await browser.close()
await server.dispose()
process.exit(0)
