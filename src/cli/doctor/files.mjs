// Checks that the clients' own files name this server, as written by `commonplace setup`.
import { existsSync, readFileSync } from 'node:fs'
import { textsIn } from '../setup/merge.mjs'
import { PLACED_CLIENTS, placeOf } from '../setup/places.mjs'

/** As `src/integrations/setup/client-setup.ts` writes it where a client cannot read its environment. */
const PLACEHOLDER = '<COMMONPLACE_KEY>'
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** Returns the server of an address, with one name for this machine. */
function serverOf(text) {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  return `${url.protocol}//${LOOPBACK.test(url.hostname) ? 'localhost' : url.hostname}:${url.port}`
}

/** @param {string} client @param {string} url of the server @param {boolean} isSilent true if it may be absent @returns {import('./command.mjs').Finding[]} */
function checkFile(client, url, isSilent) {
  const file = placeOf(client)
  if (file === null || !existsSync(file)) return []
  let texts = []
  try {
    texts = textsIn(readFileSync(file, 'utf8'), file.endsWith('.toml'))
  } catch (error) {
    return [{ name: client, ok: false, detail: `${file}: ${error.message}`, todo: 'mend it' }]
  }
  const setup = `commonplace setup ${client} --url ${url}`
  const ours = texts.filter((text) => /\/mcp(?:\/core)?\/?$/.test(text) && serverOf(text) === serverOf(url))
  if (ours.length === 0)
    return isSilent
      ? []
      : [{ name: client, ok: null, detail: `${file} does not name ${url}`, todo: `${setup}, or --capture` }]
  if (texts.some((text) => text.includes(PLACEHOLDER)))
    return [
      {
        name: client,
        ok: false,
        detail: `${file} still holds ${PLACEHOLDER}`,
        todo: `set COMMONPLACE_KEY, then ${setup}`,
      },
    ]
  return [{ name: client, ok: true, detail: `${file} names ${ours[0]}` }]
}

/** @param {import('./command.mjs').Around} around @returns {Promise<import('./command.mjs').Finding[]>} */
export async function checkFiles({ url, client, hooked }) {
  const names = client === null ? PLACED_CLIENTS : PLACED_CLIENTS.filter((name) => name === client)
  // The plugin of capture includes the tools.
  return names.flatMap((name) => checkFile(name, url, hooked.includes(name)))
}
