// Finds Chromium for browser tests. On Debian, as root, a missing one is installed; with `--shell`, its shell
// is installed if only the full browser exists.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** The shell opens no window, and renders the same pages with two thirds of the work. */
const SHELL = '/usr/bin/chromium-headless-shell'
const PLACES = [
  SHELL,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
]

const find = () => (process.env.CHROMIUM_PATH ? [process.env.CHROMIUM_PATH] : PLACES).find((path) => existsSync(path))

/** Standard output is reserved for the path. */
const apt = (...args) =>
  spawnSync('apt-get', args, {
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }).status === 0

const isMissing = find() === undefined || (process.argv.includes('--shell') && !existsSync(SHELL))
if (isMissing && !process.env.CHROMIUM_PATH && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
  process.stderr.write('Installing Chromium …\n')
  const install = (name) => apt('install', '-qq', '-y', '--no-install-recommends', name)
  if (apt('update', '-qq')) install('chromium-headless-shell') || find() !== undefined || install('chromium')
}

const path = find()
if (path === undefined) {
  process.stderr.write(
    'No Chromium or Chrome was found. Install one (Debian: apt-get install chromium), or set its path: ' +
      'CHROMIUM_PATH=/path/to/chromium\n',
  )
  process.exit(1)
}
process.stdout.write(`${path}\n`)
