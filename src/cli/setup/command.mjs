// `commonplace setup <client>`: writes this server into the client's own file.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundled } from '../bundle.mjs'
import { didYouMean } from '../nearest.mjs'
import { fail } from '../server.mjs'
import { mergeJson, mergeToml, removeToml, Unreadable, valueInJson, valueInToml } from './merge.mjs'
import { placeOf } from './places.mjs'
import { write } from './write.mjs'

const LOOPBACK = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/

/** Returns the address of the endpoint: as given, or the core tools of a server (capture contract §6). */
function endpointOf(url) {
  const named = new URL(url)
  return named.pathname === '/' ? new URL('/mcp/core', named).href : named.href
}

/**
 * Removes entries that name this server under another name; returns the file and their names.
 *
 * @param {{ formerEntries(servers: unknown, url: string): string[] }} library
 * @param {{ format: string, path: readonly string[] }} made
 */
function withoutFormer(library, { format, path }, url, text) {
  const outer = path.slice(0, -1)
  const isToml = format === 'toml'
  const names = library.formerEntries(isToml ? valueInToml(text, outer) : valueInJson(text, outer), url)
  const without = names.reduce(
    (left, name) => (isToml ? removeToml(left, [...outer, name]) : mergeJson(left, [...outer, name], undefined)),
    text,
  )
  return { names, without }
}

/**
 * @param {{ url: string, docker?: boolean, print?: boolean, json?: boolean }} options
 * @param {string} client
 * @param {(problem: string) => never} usage
 */
export async function setup(options, client, usage) {
  const library = await bundled(fileURLToPath(new URL('library.ts', import.meta.url).href))
  if (!library.SETUP_CLIENTS.includes(client))
    usage(
      `unknown client: ${client}.${didYouMean(client, library.SETUP_CLIENTS)} Known clients: ${library.SETUP_CLIENTS.join(', ')}`,
    )
  const url = endpointOf(options.url)
  const key = process.env.COMMONPLACE_KEY
  // A server on this machine started by npm start needs no key.
  const open = !key && LOOPBACK.test(new URL(url).hostname)
  const made = library.setupOf(client, { url, useDocker: options.docker === true, open })
  const file = placeOf(client)
  const show = (answer, lines) =>
    console.log(options.json ? JSON.stringify(answer, null, 2) : lines.filter(Boolean).join('\n'))
  const snippet = library.snippetOf(made)
  if (options.print || file === null) {
    show({ client, configFile: file ?? made.configFile, snippet, notes: made.notes, written: false }, [snippet])
    return
  }
  const filled = key ? JSON.parse(JSON.stringify(made.entry).replaceAll(library.PLACEHOLDER, key)) : made.entry
  let text = ''
  try {
    if (existsSync(file)) text = readFileSync(file, 'utf8')
    const { names, without } = withoutFormer(library, made, url, text)
    const merged =
      made.format === 'toml'
        ? mergeToml(without, made.path, library.tomlOf({ path: made.path, entry: filled }))
        : mergeJson(without, made.path, filled)
    const changed = merged !== text
    if (changed) write(resolve(file), merged, key !== undefined && merged.includes(key))
    const isKept = JSON.stringify(filled).includes(library.PLACEHOLDER)
    const notes = key ? made.notes.filter((note) => !note.includes(library.PLACEHOLDER)) : made.notes
    show({ client, configFile: file, written: changed, url, notes, ...(names.length > 0 && { replaced: names }) }, [
      changed ? `${file}: ${library.ENTRY} → ${url}` : `${file} is already up to date.`,
      names.length > 0 && `Replaced the entries that name the same server: ${names.join(', ')}`,
      changed && 'Restart the client.',
      isKept && `It contains ${library.PLACEHOLDER}: set COMMONPLACE_KEY and run this again, or write your key there.`,
      !open && !key && 'The client reads the key from COMMONPLACE_KEY in its environment.',
      ...notes.filter((note) => !note.includes(library.PLACEHOLDER)),
    ])
  } catch (error) {
    if (error instanceof Unreadable) fail(`${file} was not changed: ${error.message}`)
    fail(`${file} was not changed: ${error.message}`)
  }
}
