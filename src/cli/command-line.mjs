// What the words of a command line run. Plain Node; packages are loaded by the commands that need them.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ADMINISTRATION } from './administration.mjs'
import { STATE } from './place.mjs'
import { reembed } from './reembed.mjs'
import { runningServers } from './running.mjs'
import { fail } from './server.mjs'
import { help, refuse } from './usage.mjs'

const DEFAULT_URL = 'http://localhost:8787'

async function copy(options, _, usage) {
  const command = await import('./copy/command.mjs')
  const { UsageError } = await import('./postgres/url.mjs')
  const { Failure } = await import('./postgres/connect.mjs')
  try {
    process.exitCode = await command.copy(options)
  } catch (error) {
    if (error instanceof UsageError) usage(error.message)
    if (error instanceof Failure) fail(error.message)
    throw error
  }
}

async function exportTo(options, _, usage) {
  const given = { ...options, project: options.project?.[0] }
  if (options.format === 'markdown') return (await import('./markdown/export.mjs')).exportMarkdown(given, usage)
  return (await import('./export/command.mjs')).exportOrg(given, usage)
}

async function importFrom(options, path, usage) {
  const given = { ...options, project: options.project?.[0] }
  const mayBeFolder = [undefined, 'markdown'].includes(options.from)
  // An export of Markdown files writes this file into its folder.
  if (mayBeFolder && existsSync(join(path, '.commonplace.json')))
    return (await import('./markdown/import.mjs')).importFolder(given, path, usage)
  return (await import('./import/command.mjs')).importFile(given, path, usage)
}

/**
 * Each command: what it runs, given the options, the word and how wrong usage is told; the options it takes, whether a word must or
 * may follow it, and whether it asks no server.
 */
const COMMANDS = {
  ...ADMINISTRATION,
  reembed: { run: reembed, options: [] },
  copy: { run: copy, options: ['org', 'from', 'to', 'state'], isLocal: true },
  index: {
    run: async (options, dir, usage) =>
      (await import('./index/command.mjs')).index({ ...options, project: options.project?.[0] }, dir, usage),
    options: ['project', 'root', 'watch', 'full'],
    mayHaveWord: true,
  },
  watch: {
    run: async (options) => (await import('./watch.mjs')).watch({ ...options, project: options.project?.[0] }),
    options: ['thread', 'project', 'after'],
  },
  import: {
    run: importFrom,
    options: ['from', 'project', 'name', 'out', 'dry-run', 'prompts', 'on-conflict'],
    word: 'the file or folder',
  },
  export: {
    run: exportTo,
    options: ['out', 'format', 'watch', 'project', 'since', 'history', 'vectors', 'no-images', 'gzip'],
  },
  backup: {
    run: async (options, _, usage) => (await import('./backup/command.mjs')).backup(options, usage),
    options: ['to'],
  },
  restore: {
    run: async (options, day, usage) => (await import('./backup/command.mjs')).restore(options, day, usage),
    options: ['from', 'on-conflict'],
    word: 'the day',
  },
  verify: {
    run: async (options, file, usage) => (await import('./import/command.mjs')).verify(options, file, usage),
    options: [],
    word: 'the file',
    isLocal: true,
  },
  stdio: { run: async (options) => (await import('./stdio.mjs')).stdio(options), options: [] },
  setup: {
    run: async (options, client, usage) =>
      options.capture
        ? (await import('./capture/setup.mjs')).setupCapture(options, client, usage)
        : (await import('./setup/command.mjs')).setup(options, client, usage),
    options: ['docker', 'print', 'capture'],
    word: 'the client',
  },
  doctor: {
    run: async (options, client, usage) => (await import('./doctor/command.mjs')).doctor(options, client, usage),
    options: ['url'],
    mayHaveWord: true,
    isLocal: true,
  },
  'model pull': {
    run: async (options, name, usage) => (await import('./models/command.mjs')).pull(options, name, usage),
    options: [],
    mayHaveWord: true,
    isLocal: true,
  },
  'model list': {
    run: async (options) => (await import('./models/command.mjs')).list(options),
    options: [],
    isLocal: true,
  },
  'model remove': {
    run: async (options, name, usage) => (await import('./models/command.mjs')).remove(options, name, usage),
    options: [],
    word: 'the model',
    isLocal: true,
  },
  status: {
    run: async (options) => (await import('./capture/status.mjs')).status(options),
    options: [],
    isLocal: true,
  },
}
const FLAGS = [
  'history',
  'vectors',
  'no-images',
  'gzip',
  'json',
  'children',
  'no-capture',
  'watch',
  'full',
  'docker',
  'print',
  'dry-run',
  'prompts',
  'capture',
  'forked',
]

/** @param {string} text */
const isServerUrl = (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Of the server of this checkout or package; without one, where it would be. */
async function runningUrl() {
  const servers = await runningServers()
  const found = servers.find(({ state }) => state === STATE) ?? servers[0]
  if (servers.length > 1) console.error(`Several servers run here; this asks ${found?.origin} (--url names another).`)
  return found?.origin ?? DEFAULT_URL
}

/** @param {readonly string[]} args @param {(problem: string) => never} usage */
function readArguments(args, usage) {
  const named = new Set(
    Object.values(COMMANDS).flatMap(({ options }) => options.filter((name) => !FLAGS.includes(name))),
  )
  const texts = [...named, 'url', 'org'].map((name) => [name, { type: 'string', multiple: name === 'project' }])
  const flags = Object.fromEntries(FLAGS.map((name) => [name, { type: 'boolean' }]))
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...Object.fromEntries(texts), ...flags, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    return usage(error.message)
  }
}

/**
 * Runs a command. Exit 0, 1 on failure, 2 on wrong usage, 3 when something was refused.
 *
 * @param {readonly string[]} args what follows the name of the program
 */
export async function commonplace(args) {
  /** @type {(problem: string) => never} */
  const usage = (problem) => refuse(problem, args)
  /** @type {{ values: Record<string, any>, positionals: string[] }} */
  const { values, positionals: words } = readArguments(args, usage)
  if (values.help || words[0] === 'help') {
    console.log(help(args))
    process.exit(0)
  }
  if (words.length === 0) usage('no command')
  const name = [words.slice(0, 2).join(' '), words[0]].find((text) => Object.hasOwn(COMMANDS, text))
  if (name === undefined) {
    const further = Object.keys(COMMANDS).filter((text) => text.startsWith(`${words[0]} `) && words.length === 1)
    if (further.length > 0)
      usage(`${words[0]} needs one more word: ${further.map((text) => text.split(' ')[1]).join(', ')}`)
    usage(`unknown command: ${words.join(' ')}`)
  }
  const command = COMMANDS[name]
  const rest = words.slice(name.split(' ').length)
  if (command.word && rest.length === 0) usage(`${name} needs one more word: ${command.word}`)
  if (rest.length > (command.word || command.mayHaveWord ? 1 : 0)) usage(`unknown command: ${words.join(' ')}`)
  const allowed = [...command.options, 'json', ...(command.isLocal ? [] : ['url', 'org'])]
  const foreign = Object.keys(values).find((option) => !allowed.includes(option))
  if (foreign !== undefined) usage(`${name} takes no --${foreign}`)
  const { COMMONPLACE_URL: variable = '' } = process.env
  // What asks no server here says itself what is wrong with the variable.
  const given = values.url ?? (command.isLocal || variable === '' ? undefined : variable)
  if (given !== undefined && !isServerUrl(given))
    usage(
      `${values.url === undefined ? 'COMMONPLACE_URL' : '--url'} is "${given}": a URL begins with http:// or https://, such as ${DEFAULT_URL}`,
    )
  const url = given ?? (command.isLocal ? variable || DEFAULT_URL : await runningUrl())
  const named = values.url !== undefined || variable !== ''
  try {
    await command.run({ ...values, url, named, namedUrl: values.url }, rest[0], usage)
  } catch (error) {
    // A folder that is not there, or a disk that is full, is no fault of this program.
    if (typeof error?.syscall !== 'string' || typeof error.code !== 'string') throw error
    fail(error.message)
  }
}
