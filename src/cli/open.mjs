// `commonplace open`: opens the dashboard in the browser.
import { spawn } from 'node:child_process'

/** Returns the program that opens an address; null without a desktop. */
function opener(address, platform = process.platform, env = process.env) {
  if (env.BROWSER) return { command: env.BROWSER, args: [address] }
  if (platform === 'darwin') return { command: 'open', args: [address] }
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', address] }
  return env.DISPLAY || env.WAYLAND_DISPLAY ? { command: 'xdg-open', args: [address] } : null
}

/** @param {{ url: string, json?: boolean }} options */
export async function openDashboard({ url, json }) {
  const address = new URL('/', url).href
  const found = opener(address)
  const opened =
    found !== null &&
    (await new Promise((resolve) => {
      const child = spawn(found.command, found.args, { stdio: 'ignore', detached: true })
      child.once('error', () => resolve(false))
      child.once('spawn', () => {
        child.unref()
        resolve(true)
      })
    }))
  if (json) console.log(JSON.stringify({ url: address, opened }, null, 2))
  else console.log(opened ? `Opened ${address}` : `Open this address in a browser: ${address}`)
}
