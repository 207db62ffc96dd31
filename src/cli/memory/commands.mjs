// `commonplace remember|search|context|undo|stale|why`: the memory without a client, by the core tools of /mcp/core and by /api/v1.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { TYPED } from '../place.mjs'
import { call, credentialHeaders, fail, refusalOf, shown, silent } from '../server.mjs'
import { paint } from '../terminal.mjs'

const TITLE_LENGTH = 80

/** Options whose names differ from those of the arguments. @type {Record<string, string>} */
const FLAG_OF = { max_tokens: '--max-tokens', id: 'the ID', ids: 'the ID', content: 'the text', goal: 'the goal' }

/** Replaces the names of arguments in a message with those of the options. */
function inFlags(message, { details = [] }) {
  const paths = [...new Set(details.map(({ path }) => String(path).split(/[.[]/)[0]))]
  return paths.reduce((text, path) => text.replace(new RegExp(`\\b${path}\\b`), FLAG_OF[path] ?? `--${path}`), message)
}

/** Parses the JSON of a response, which may be one event of a stream. */
function jsonOf(text) {
  try {
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
  } catch {
    return {}
  }
}

/** As `askCore`. Ends the program with the server's message when it fails. */
export const callCore = (url, name, args) => askCore(url, name, args).catch((error) => fail(error.message))

/**
 * Calls a tool of `/mcp/core`, or of another family.
 *
 * @param {string} url of the server, or of one of its endpoints
 * @param {string} name
 * @param {Record<string, unknown>} args
 * @param {string} [family]
 * @throws {Error} with the server's message
 */
export async function askCore(url, name, args, family = 'core') {
  const endpoint = new URL(`/mcp/${family}`, url)
  const response = await fetch(endpoint, {
    method: 'POST',
    redirect: 'error',
    headers: {
      ...credentialHeaders(url),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  }).catch((error) => {
    throw new Error(silent(endpoint.origin, error).message)
  })
  const answer = jsonOf(await response.text())
  const { result } = answer
  if (result === undefined) {
    const error = typeof answer.error === 'object' ? answer.error : {}
    throw new Error(refusalOf(endpoint.origin, response.status, { error }))
  }
  const content = result.structuredContent ?? {}
  if (!result.isError) return content
  throw new Error(shown(inFlags(content.error?.message ?? 'the call failed', content.error ?? {})))
}

// Remembering the last change.

const lastFile = () => join(homedir(), '.commonplace', 'last-change.json')

/** @typedef {{ url: string, tool: string, args: Record<string, unknown>, done: string }} LastChange tool and args undo it */

/** @param {LastChange} change */
function keepLast(change) {
  try {
    mkdirSync(dirname(lastFile()), { recursive: true, mode: 0o700 })
    writeFileSync(lastFile(), JSON.stringify(change), { mode: 0o600 })
  } catch {
    // In a read-only folder undo needs the ID.
  }
}

/** @returns {LastChange | null} */
function lastChange() {
  try {
    return JSON.parse(readFileSync(lastFile(), 'utf8'))
  } catch {
    return null
  }
}

// Printing for people.

const columns = () => Math.min(process.stdout.columns || 100, 120)

/** Wraps a text to the width of the terminal, indented. */
function wrapped(text, indent) {
  const width = columns() - indent.length
  return shownLines(text).flatMap((line) => {
    const rows = ['']
    for (const word of line.split(' ')) {
      const last = rows[rows.length - 1]
      if (last !== '' && last.length + word.length + 1 > width) rows.push(word)
      else rows[rows.length - 1] = last === '' ? word : `${last} ${word}`
    }
    return rows.map((row) => `${indent}${row}`.trimEnd())
  })
}

/** Splits a stored text into lines, without control characters. */
const shownLines = (text) =>
  String(text)
    .split(/\r?\n/)
    .map((line) => shown(line.replaceAll('\t', '  ')))

function printMemory({ id, title, kind, project, tags, by, at, content, why, total_chars: total, replaced_by: newer }) {
  const about = [kind, project, ...(tags ?? []).map((tag) => `#${tag}`), by, at?.slice(0, 10)].filter(Boolean)
  console.log(`${paint('cyan', String(id).padStart(4))}  ${paint('bold', shown(title))}`)
  console.log(paint('dim', `      ${about.map(shown).join(' · ')}`))
  if (newer !== undefined) console.log(paint('yellow', `      replaced by ${[newer].flat().map(shown).join(', ')}`))
  const lines = content === undefined || content === title ? [] : wrapped(content, '      ')
  for (const line of lines) console.log(line)
  if (total !== undefined) console.log(paint('dim', `      … an excerpt of ${total} characters`))
  if (why !== undefined) console.log(paint('dim', `      why: ${shown(why)}`))
}

function printNotes({ hint, warnings, omitted }) {
  for (const warning of [warnings ?? []].flat())
    console.error(paint('yellow', `! ${shown(warning?.message ?? warning)}`))
  if (Array.isArray(omitted) && omitted.length > 0)
    console.log(paint('dim', `${omitted.length} more did not fit; narrow the search to see them.`))
  if (typeof hint === 'string') console.log(paint('dim', shown(hint)))
}

/** @param {any} options @param {any} answer @param {(answer: any) => void} print */
function show({ json }, answer, print) {
  if (json) return console.log(JSON.stringify(answer, null, 2))
  print(answer)
  printNotes(answer)
}

// Reading options.

const commaList = (text) =>
  text
    ?.split(',')
    .map((word) => word.trim())
    .filter(Boolean)

function numberOf(options, name, usage) {
  const text = options[name]
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text)) usage(`--${name} is "${text}"; it must be a number`)
  return Number(text)
}

/** Makes a title for a text without one: its first line or sentence. */
export function titleOf(content) {
  const [line = ''] = content.trim().split('\n')
  const sentence = /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line
  const title = sentence.replace(/^#+\s*/, '').replace(/[.\s]+$/, '')
  const letters = [...title]
  return letters.length <= TITLE_LENGTH ? title : `${letters.slice(0, TITLE_LENGTH - 1).join('')}…`
}

/** @param {any} options @param {string | undefined} word the text; `-` reads standard input @param {(problem: string) => never} usage */
export async function remember(options, word, usage) {
  const { url, kind, tags, status, audience } = options
  const content = (word === '-' ? await textOf(process.stdin) : (word ?? '')).trim()
  if (content === '') usage('remember needs a text')
  const title = options.title ?? titleOf(content)
  const project = options.project?.[0]
  const answer = await callCore(url, 'remember', {
    ...{ title, content, kind, project, status, audience },
    tags: commaList(tags),
  })
  if (!answer.existing) keepLast({ url, tool: 'forget', args: { ids: [answer.id] }, done: `Deleted ${answer.id}` })
  show(options, answer, ({ id, existing, similar }) => {
    const where = answer.project === undefined ? '' : ` in ${shown(answer.project)}`
    console.log(
      existing
        ? `${paint('yellow', '=')} ${id} already holds this text${where}.`
        : `${paint('green', '✓')} Remembered as ${paint('cyan', String(id))} (${shown(answer.kind)}${where}). Undo: ${TYPED.command} undo`,
    )
    for (const other of similar ?? [])
      console.log(paint('dim', `  similar: ${other.id ?? other}  ${shown(other.title ?? '')}`))
  })
}

/** @param {any} options @param {string | undefined} query @param {(problem: string) => never} usage */
export async function search(options, query, usage) {
  const { url, mode, tags, by, since, until, thread } = options
  const answer = await callCore(url, 'search', {
    ...{ query, mode, by, since, until, thread, project: options.project?.[0] },
    ...{ kind: commaList(options.kind), tags: commaList(tags), limit: numberOf(options, 'limit', usage) },
  })
  show(options, answer, ({ results }) => {
    if (results.length === 0) console.log('Nothing found.')
    for (const memory of results) printMemory(memory)
  })
}

/** @param {any} options @param {string | undefined} goal @param {(problem: string) => never} usage */
export async function context(options, goal, usage) {
  const { url, since } = options
  const answer = await callCore(url, 'context', {
    ...{ goal, since, project: options.project?.[0], kind: commaList(options.kind) },
    ...{ limit: numberOf(options, 'limit', usage), max_tokens: numberOf(options, 'max-tokens', usage) },
  })
  show(options, answer, ({ sections = [], projects = [], where_you_left_off: last }) => {
    if (sections.length === 0) console.log('No matching memories.')
    for (const { title, memories } of sections) {
      console.log(paint('bold', `\n${shown(title)}`))
      for (const memory of memories) printMemory(memory)
    }
    if (last?.title) console.log(`\nWhere you left off: ${shown(last.title)}`)
    if (projects.length > 0) console.log(`\nProjects: ${projects.map(shown).join(', ')}`)
  })
}

/** Parses the call that `forget` returns as its undo. @param {string} undo such as `restore {"change_id": "…"}` */
function callOf(undo) {
  const [, tool = '', args = '{}'] = /^(\w+) (\{.*\})$/.exec(undo ?? '') ?? []
  return { tool, args: JSON.parse(args) }
}

/**
 * Undoes the last change of this command line; with an ID, restores that memory or its previous version.
 *
 * @param {any} options @param {string | undefined} word @param {(problem: string) => never} usage
 */
export async function undo(options, word, usage) {
  const { url } = options
  if (word !== undefined) {
    if (!/^\d+$/.test(word)) usage(`"${word}" is not an ID; pass the ID of a memory, or nothing`)
    const answer = await callCore(url, 'restore', { id: Number(word) })
    return show(options, answer, () => console.log(`${paint('green', '✓')} Restored ${word} to its previous state.`))
  }
  const last = lastChange()
  if (last === null)
    return fail(`No change was made from this machine. Pass the ID of a memory: ${TYPED.command} undo ID`)
  if (new URL(last.url).origin !== new URL(url).origin)
    return fail(`The last change was made at ${last.url}. Undo it with: ${TYPED.command} undo --url ${last.url}`)
  const answer = await callCore(url, last.tool, last.args)
  const { tool, args } = callOf(answer.undo)
  // Undoing twice restores the memory.
  if (tool === '') rmSync(lastFile(), { force: true })
  else keepLast({ url, tool, args, done: last.done.replace('Deleted', 'Restored') })
  show(options, answer, () => {
    const again = tool === '' ? '' : ` To redo it: ${TYPED.command} undo`
    console.log(`${paint('green', '✓')} ${last.done}.${again}`)
  })
}

/** How much of each text of a pair the terminal shows. */
const PAIR_EXCERPT = 240

const cutTo = (text, most) => {
  const letters = [...text.replace(/\s+/g, ' ').trim()]
  return letters.length <= most ? letters.join('') : `${letters.slice(0, most - 1).join('')}…`
}

/** Lists the pairs of memories of which the earlier one may be outdated. @param {any} options @param {string | undefined} _ @param {(problem: string) => never} usage */
export async function stale(options, _, usage) {
  const { url, project, after } = options
  const limit = numberOf(options, 'limit', usage)
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ project: project?.[0], after, limit }))
    if (value !== undefined) query.set(name, String(value))
  const answer = await call(url, 'GET', `/orgs/-/stale?${query}`)
  show(options, answer, ({ pairs, next }) => {
    if (pairs.length === 0)
      return console.log(
        'No pair waits for a judgement. The server looks for pairs every few minutes, after memories were stored.',
      )
    for (const { later, earlier, verdict, shown: times } of pairs) {
      const shownTo =
        times === 0 ? '' : `  the earlier one was shown to ${times === 1 ? '1 session' : `${times} sessions`}`
      const judged = verdict === null ? '' : `  a model judged: ${verdict}`
      console.log(paint('bold', `\n${later.id} ${earlier.id}${shownTo}${judged}`))
      for (const memory of [later, earlier])
        printMemory({ ...memory, content: cutTo(memory.content, PAIR_EXCERPT), total_chars: undefined })
    }
    const [{ later, earlier }] = pairs
    const ids = `${later.id} ${earlier.id}`
    console.log(paint('dim', `\nSettle a pair: ${TYPED.command} stale replaces|both-hold|merge ${ids}`))
    if (next !== null) console.log(paint('dim', `More: ${TYPED.command} stale --after ${next}`))
  })
}

/** Explains why a call did not return a memory. @param {any} options @param {string | undefined} words @param {(problem: string) => never} usage */
export async function why(options, words, usage) {
  const [, query, id] = /^([\s\S]*\S)\s+(\d+)$/.exec(words ?? '') ?? []
  if (query === undefined || id === undefined)
    usage('why needs the query or goal of the call, then the ID of the memory')
  const { url, tool, project, kind, tags, by, since, until, thread, mode, limit } = options
  const asked = {
    ...{ query, id, tool, project: project?.[0], kind, tags, by, since, until, thread, mode, limit },
    ...{ as_of: options['as-of'], max_tokens: options['max-tokens'] },
  }
  const given = Object.entries(asked).filter(([, value]) => value !== undefined)
  const answer = await call(url, 'GET', `/orgs/-/why?${new URLSearchParams(given)}`)
  show(options, answer, ({ returned, causes, notes }) => {
    for (const [i, { cause, message }] of causes.entries()) {
      const name = shown(cause.replaceAll('_', ' '))
      const label = i > 0 ? `  also: ${name}` : `${paint(returned ? 'green' : 'yellow', returned ? '✓' : '✗')} ${name}`
      console.log(`${label}. ${shown(message)}`)
    }
    for (const note of notes) console.log(paint('dim', shown(note)))
  })
}

/** Words of the command line, and what the server calls the same. */
const RESOLUTIONS = { replaces: 'replaces', 'both-hold': 'both_hold', merge: 'merge' }

const SETTLED = {
  replaces: (later, earlier) => `${later} replaces ${earlier}.`,
  'both-hold': (later, earlier) => `${later} and ${earlier} both hold.`,
  merge: (later, earlier, id) => `${id} holds ${later} and ${earlier}, which it replaces.`,
}

/** Settles a pair. @param {keyof typeof RESOLUTIONS} as */
export const settle = (as) => async (options, words, usage) => {
  const [, later, earlier] = /^(\d+) (\d+)$/.exec(words ?? '') ?? []
  if (later === undefined || earlier === undefined)
    usage(`stale ${as} needs two IDs: the later memory, then the earlier one`)
  const { url } = options
  const body = { later: Number(later), earlier: Number(earlier), as: RESOLUTIONS[as] }
  const answer = await call(url, 'POST', '/orgs/-/stale', body)
  if (as === 'merge') keepLast({ url, tool: 'forget', args: { ids: [answer.id] }, done: `Deleted ${answer.id}` })
  else keepLast({ url, tool: 'restore', args: { id: answer.id }, done: `Restored ${answer.id} as it was before` })
  show(options, answer, ({ id }) =>
    console.log(`${paint('green', '✓')} ${SETTLED[as](later, earlier, id)} Undo: ${TYPED.command} undo`),
  )
}
