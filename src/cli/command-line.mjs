// Parses the command line and runs a command. Plain Node; commands load the packages that they need.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ADMINISTRATION } from './administration.mjs'
import { didYouMean } from './nearest.mjs'
import { PACKAGE, VERSION } from './place.mjs'
import { reembed } from './reembed.mjs'
import { DEFAULT_URL, isServerUrl, resolveServer } from './resolve-server.mjs'
import { fail, useKey, useOptions } from './server.mjs'
import { help, refuse } from './usage.mjs'

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

/** A command of the memory, loaded when it runs. @param {'remember' | 'search' | 'context' | 'undo' | 'stale' | 'why'} name */
const inMemory = (name) => async (options, word, usage) =>
  (await import('./memory/commands.mjs'))[name](options, word, usage)

/** Settles a pair of memories. @param {'replaces' | 'both-hold' | 'merge'} as */
const settling = (as) => ({
  run: async (options, words, usage) => (await import('./memory/commands.mjs')).settle(as)(options, words, usage),
  options: [],
  word: 'the IDs of the later memory and of the earlier one',
  isText: true,
  isOfKey: true,
})

const CAPTURE = ['claude-code', 'codex', 'cursor', 'copilot', 'vscode', 'opencode']
const CLIENTS = [
  ...['opencode', 'claude', 'claude-code', 'kimi', 'codex', 'gemini', 'cursor', 'vs-code', 'windsurf', 'zed'],
  ...['jetbrains', 'cline', 'docker', 'generic'],
]

/**
 * Returns the name of a client in the list of a command: VS Code is `vs-code` in setup and `vscode` in capture, and each
 * command accepts both.
 *
 * @template {string | undefined} Client
 * @param {Client} client @param {'vs-code' | 'vscode'} vsCode @returns {Client | 'vs-code' | 'vscode'}
 */
const listed = (client, vsCode) => (client === 'vs-code' || client === 'vscode' ? vsCode : client)
const EVERYWHERE = ['json', 'help']

async function completion(_, shell, usage) {
  const { completionFor, SHELLS } = await import('./completion.mjs')
  const options = Object.fromEntries(
    Object.entries(COMMANDS).map(([name, command]) => [name, [...allowedOf(command), ...EVERYWHERE]]),
  )
  const words = { setup: [...new Set([...CLIENTS, ...CAPTURE])], doctor: CAPTURE, completion: SHELLS }
  const script = completionFor(shell, { commands: ['start', ...Object.keys(COMMANDS), 'help'], options, words })
  if (script === undefined)
    return usage(`unknown shell: ${shell}.${didYouMean(shell, SHELLS)} Known shells: ${SHELLS.join(', ')}`)
  process.stdout.write(script)
}

/** @param {{ json?: boolean }} options */
export function version({ json }) {
  const own = { name: PACKAGE, version: VERSION, node: process.version }
  console.log(json ? JSON.stringify(own, null, 2) : VERSION)
}

/**
 * Commands: the function to run (with the options, the argument and the usage error), its options, whether an argument is required
 * or optional, whether several words are one text, whether the key alone decides the organization (isOfKey), and whether it needs no server (isLocal).
 */
const COMMANDS = {
  remember: {
    run: inMemory('remember'),
    options: ['title', 'kind', 'project', 'tags', 'status', 'audience'],
    word: 'the text, or - for standard input',
    isText: true,
    isOfKey: true,
  },
  search: {
    run: inMemory('search'),
    options: ['mode', 'project', 'kind', 'tags', 'by', 'since', 'until', 'thread', 'limit'],
    mayHaveWord: true,
    isText: true,
    isOfKey: true,
  },
  context: {
    run: inMemory('context'),
    options: ['project', 'kind', 'since', 'limit', 'max-tokens'],
    mayHaveWord: true,
    isText: true,
    isOfKey: true,
  },
  undo: { run: inMemory('undo'), options: [], mayHaveWord: true, isOfKey: true },
  stale: { run: inMemory('stale'), options: ['project', 'limit', 'after'], isOfKey: true },
  'stale replaces': settling('replaces'),
  'stale both-hold': settling('both-hold'),
  'stale merge': settling('merge'),
  why: {
    run: inMemory('why'),
    options: [
      ...['tool', 'project', 'as-of', 'kind', 'since', 'limit', 'max-tokens'],
      ...['tags', 'by', 'until', 'thread', 'mode'],
    ],
    word: 'the query or goal of the call, then the ID of the memory',
    isText: true,
    isOfKey: true,
  },
  test: {
    run: async (options, file, usage) => (await import('./memory-test/command.mjs')).test(options, file, usage),
    options: ['junit', 'pin'],
    mayHaveWord: true,
    isOfKey: true,
  },
  open: { run: async (options) => (await import('./open.mjs')).openDashboard(options), options: [], isOfKey: true },
  ...ADMINISTRATION,
  reembed: { run: reembed, options: [] },
  copy: { run: copy, options: ['org', 'from', 'to', 'state'], isLocal: true },
  index: {
    run: async (options, dir, usage) =>
      (await import('./index/command.mjs')).index({ ...options, project: options.project?.[0] }, dir, usage),
    options: ['project', 'root', 'watch', 'full'],
    mayHaveWord: true,
  },
  check: {
    run: async (options, dir) => (await import('./check/command.mjs')).check(options, dir),
    options: ['dry-run', 'project'],
    mayHaveWord: true,
    isOfKey: true,
  },
  learn: {
    run: async (options, dir) => (await import('./learn/command.mjs')).learn(options, dir),
    options: ['dry-run', 'project', 'audience'],
    mayHaveWord: true,
    isOfKey: true,
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
    options: ['from', 'on-conflict', 'report'],
    word: 'the day',
  },
  verify: {
    run: async (options, file) => (await import('./import/command.mjs')).verify(options, file),
    options: [],
    word: 'the file',
    isLocal: true,
  },
  stdio: { run: async (options) => (await import('./stdio.mjs')).stdio(options), options: [] },
  setup: {
    run: async (options, client, usage) =>
      options.capture
        ? (await import('./capture/setup.mjs')).setupCapture(options, listed(client, 'vscode'), usage)
        : (await import('./setup/command.mjs')).setup(options, listed(client, 'vs-code'), usage),
    options: ['docker', 'print', 'capture'],
    word: 'the client',
  },
  doctor: {
    run: async (options, client, usage) =>
      (await import('./doctor/command.mjs')).doctor(options, listed(client, 'vscode'), usage),
    options: ['url', 'check-updates'],
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
    options: ['url'],
    isLocal: true,
  },
  statusline: {
    run: async () => (await import('./capture/statusline.mjs')).statusline(),
    options: [],
    isLocal: true,
  },
  'service install': {
    run: async (options) => (await import('./service.mjs')).install(options),
    options: ['port', 'print'],
    isLocal: true,
  },
  'service remove': {
    run: async (options) => (await import('./service.mjs')).remove(options),
    options: [],
    isLocal: true,
  },
  'service status': {
    run: async (options) => (await import('./service.mjs')).status(options),
    options: [],
    isLocal: true,
  },
  completion: { run: completion, options: [], word: 'bash, zsh or fish', isLocal: true },
  version: { run: version, options: [], isLocal: true },
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
  'erase',
  'prompts',
  'capture',
  'forked',
  'check-updates',
  'pin',
  'cost',
]

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
      options: {
        ...Object.fromEntries(texts),
        ...flags,
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    })
  } catch (error) {
    const [, typed] = /^Unknown option '(-[^']*)'/.exec(error.message) ?? []
    if (typed === undefined) return usage(error.message)
    const known = [...texts.map(([name]) => name), ...FLAGS, 'help', 'version'].map((name) => `--${name}`)
    return usage(`unknown option: ${typed}.${didYouMean(typed, known)}`)
  }
}

/** Returns the options of a command. @returns {string[]} */
const allowedOf = ({ options, isLocal = false, isOfKey = false }) => [
  ...options,
  ...(isLocal ? [] : ['url']),
  ...(isLocal || isOfKey ? [] : ['org']),
]

/** Returns the name of a command. @param {readonly string[]} words @param {(problem: string) => never} usage @returns {string} */
function nameIn(words, usage) {
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((text) => Object.hasOwn(COMMANDS, text))
  if (name !== undefined) return name
  const first = words[0] ?? ''
  const further = Object.keys(COMMANDS)
    .filter((text) => text.startsWith(`${first} `))
    .map((text) => text.split(' ')[1] ?? '')
  if (further.length > 0 && words.length === 1) return usage(`${first} needs a subcommand: ${further.join(', ')}`)
  const known =
    further.length > 0 ? further.map((word) => `${first} ${word}`) : ['start', 'help', ...Object.keys(COMMANDS)]
  return usage(`unknown command: ${words.join(' ')}.${didYouMean(words.join(' '), known) || didYouMean(first, known)}`)
}

/**
 * Runs a command. Exit 0, 1 on failure, 2 on wrong usage, 3 when something was refused.
 *
 * @param {readonly string[]} args arguments after the name of the program
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
  if (values.version) return version(values)
  if (words.length === 0) usage('no command')
  const name = nameIn(words, usage)
  const command = COMMANDS[name]
  const rest = words.slice(name.split(' ').length)
  if (command.word && rest.length === 0) usage(`${name} needs an argument: ${command.word}`)
  if (!command.isText && rest.length > (command.word || command.mayHaveWord ? 1 : 0))
    usage(`${name} does not accept: ${rest.slice(command.word || command.mayHaveWord ? 1 : 0).join(' ')}`)
  const allowed = [...allowedOf(command), 'json']
  const foreign = Object.keys(values).find((option) => !allowed.includes(option))
  if (foreign !== undefined) usage(`${name} takes no --${foreign}.${didYouMean(foreign, allowed)}`)
  const { COMMONPLACE_URL: variable = '' } = process.env
  // Commands that resolve the server themselves report what is wrong with the variable.
  const given = values.url ?? (command.isLocal || variable === '' ? undefined : variable)
  if (given !== undefined && !isServerUrl(given))
    usage(
      `${values.url === undefined ? 'COMMONPLACE_URL' : '--url'} is "${given}": a URL starts with http:// or https://, such as ${DEFAULT_URL}`,
    )
  const resolved = command.isLocal ? null : await resolveServer(values.url)
  useOptions(allowed)
  if (resolved !== null) useKey(resolved.url, resolved.key)
  const url = resolved?.url ?? values.url ?? DEFAULT_URL
  const named = values.url !== undefined || variable !== ''
  const word = command.isText && rest.length > 0 ? rest.join(' ') : rest[0]
  try {
    await command.run({ ...values, url, named, namedUrl: values.url }, word, usage)
  } catch (error) {
    // A missing folder or a full disk is not an error of this program.
    if (typeof error?.syscall !== 'string' || typeof error.code !== 'string') throw error
    fail(error.message)
  }
}
