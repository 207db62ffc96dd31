// `commonplace setup <client> --capture`: installs the hooks, then checks that they work. (capture contract §1)
import { doctor } from '../doctor/command.mjs'
import { didYouMean } from '../nearest.mjs'
import { fail } from '../server.mjs'
import { CAPTURE_CLIENTS, keepMarketplace, NotInstalled } from './clients.mjs'
import { keepSettings, keptKeyOf } from './settings.mjs'

/**
 * @param {{ url: string, json?: boolean, print?: boolean, docker?: boolean }} options
 * @param {string} client
 * @param {(problem: string) => never} usage
 */
export async function setupCapture(options, client, usage) {
  if (!Object.hasOwn(CAPTURE_CLIENTS, client))
    usage(
      `unknown client for --capture: ${client}.${didYouMean(client, Object.keys(CAPTURE_CLIENTS))} Known clients: ${Object.keys(CAPTURE_CLIENTS).join(', ')}`,
    )
  for (const name of ['print', 'docker']) if (options[name]) usage(`--${name} cannot be combined with --capture`)
  const url = options.url.replace(/\/mcp(\/.*)?$/, '').replace(/\/+$/, '')
  const key = process.env.COMMONPLACE_KEY ?? keptKeyOf(url)
  try {
    keepMarketplace()
    const lines = await CAPTURE_CLIENTS[client].install({ url, key })
    const file = keepSettings({ url, key })
    if (!options.json) console.log([...lines, `${file} now has ${url}${key === '' ? '' : ' and the key'}.`].join('\n'))
  } catch (error) {
    if (error instanceof NotInstalled) fail(error.message)
    fail(`${client} was not set up: ${error.message}`)
  }
  await doctor({ ...options, namedUrl: url, key }, client, usage)
}
