// What the words of a command line run. Plain Node; packages are loaded by the commands that need them.
import { parseArgs } from 'node:util'
import { ADMINISTRATION } from './administration.mjs'
import { STATE } from './place.mjs'
import { reembed } from './reembed.mjs'
import { runningServers } from './running.mjs'
import { fail } from './server.mjs'

const DEFAULT_URL = 'http://localhost:8787'

const USAGE = `usage: commonplace <command>

 the server on this machine, of the package (in a checkout: npm start)
  start [--port N] [--ip ADDRESS] [--var NAME:VALUE]… [--env-file FILE]… [--persist-to FOLDER]
            serves until it is stopped; the same without a command. Data live in the user's data folder, or COMMONPLACE_DATA;
            settings come from .env there, the environment and --var. On PostgreSQL: STORAGE_BACKEND=postgresql and DATABASE_URL

 administration of a server [--url URL] [--org ORG] [--json]
  orgs list                      organizations that the credential sees
  orgs create ID [--name NAME]   with ADMIN_TOKEN only
  projects list
  projects create ID [--name NAME]
  keys list
  keys create NAME [--role reader|writer|admin] [--project ID]… [--agent NAME] [--owner NAME] [--expires DATE]
                                 [--no-capture]: what hooks send with it is not captured
  keys revoke ID [--children]    and the keys that were made with it, and with those
  audit list [--after SEQ] [--limit N]
  reembed                        makes the vectors that are missing for the configured model, for instance after
                                 EMBEDDING_MODEL has changed; may be stopped and started again at any time

 what happens
  watch [--thread T] [--project P] [--after CURSOR] [--url URL] [--org ORG] [--json]
            prints each change of what the key may see, as it is made, until it is stopped; a lost connection is opened
            again and misses nothing. --after start begins with the oldest kept; --json prints one object a line

 for coding agents
  index [DIR] --project P [--root NAME] [--watch] [--full] [--url URL] [--json]
            sends what changed of a folder's files to the index of code, and what vanished: what git knows or would add,
            else all but what tools make; never what holds keys (.env*, *.pem, id_rsa*, .npmrc, credentials*, .ssh/ …). Of
            several repositories each is a root of its own, named by its origin. Where more than half of the known files
            are gone nothing is deleted, unless with --full, which begins anew
  stdio [--url URL]
            MCP over standard input and output, for clients that only start programs; the key comes from COMMONPLACE_KEY
  setup CLIENT [--url URL] [--docker] [--print] [--json]
            writes this server into the client's own file (a copy is kept as .bak), or only shows what it would write.
            CLIENT is opencode, claude, claude-code, kimi, codex, gemini, cursor, docker or generic
  setup CLIENT --capture [--url URL] [--json]
            installs the hooks by which sessions are captured and recalled, then asks the doctor. CLIENT is claude-code, codex,
            cursor, copilot, vscode or opencode; Codex is told to trust them as they are now
  doctor [CLIENT] [--url URL] [--json]
            looks at server, key, model, clients' files and hooks: a line each, and what to do. It plays a recorded session through each
            installed hook, shows what was captured, and erases it
  status [--json]
            which server the hooks send to, the role there, how many events wait, when it last answered

 databases
  copy --org ORG --from BACKEND --to BACKEND [--state DIR] [--json]
            moves an org between D1 and PostgreSQL: entries with their ids, tags, links, vectors, search index. May be
            stopped and started again; compares both sides at the end. BACKEND is d1:local (of npm start, which must not
            run; --state for another folder than .wrangler/state), d1:<database id> (with CLOUDFLARE_ACCOUNT_ID and
            CLOUDFLARE_API_TOKEN) or postgresql://… (POSTGRESQL_SCHEMA). In open mode the org is "local"

  export --out F [--org ORG] [--project P] [--since CURSOR|FILE] [--history] [--vectors] [--no-images] [--gzip]
            an org as a file of volumes, of what the credential may read; ADMIN_TOKEN: whole. --since has only what changed behind
            an earlier export; a connection that breaks goes on behind the last whole volume. Verified when it is written
  import F [--from SOURCE] [--on-conflict skip|replace|fail] [--dry-run] [--out V] [--project P] [--name NAME] [--prompts]
            takes a file of volumes, or what another system wrote, into the server. What came before is known: the same file again
            changes nothing. --dry-run only says what would be taken (with --url, also what the server would do with it); --out
            writes another system's file as volumes into V. SOURCE is mcp-context-server, context-fabric, server-memory,
            mcp-memory-service, basic-memory, markdown, chatgpt, claude, claude-mem, claude-code, codex or ndjson.
            --project is for what names none; F.map.json renames projects, and tells which id became which; --name stands for
            the path of F, by which a store is known again; --prompts takes the user's prompts too (claude-mem)
  backup --to r2|FOLDER [--org ORG]
            an org with its history as files of today, in the server's bucket of backups (ADMIN_TOKEN), or in a folder
  restore DAY --org ORG [--from r2|FOLDER] [--on-conflict skip|replace|fail]
            takes such files into a server, which may be empty; again, and it goes on where it stopped
  verify F [--json]
            checks a file of volumes to its end: every byte, count and hash

--json prints one answer for programs and no progress.
Exit codes: 0, 1 on failure, 2 on wrong usage, 3 when something was refused and the rest was taken.
Environment: COMMONPLACE_URL (else the server that npm start runs here), and ADMIN_TOKEN or COMMONPLACE_KEY.
ORG may be left out where the credential sees only one.`

/** @param {string} problem @returns {never} */
function usage(problem) {
  console.error(`${problem}\n\n${USAGE}`)
  process.exit(2)
}

async function copy(options) {
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

/** Each command: what it runs, the options it takes, whether a word must or may follow it, and whether it asks no server. */
const COMMANDS = {
  ...ADMINISTRATION,
  reembed: { run: reembed, options: [] },
  copy: { run: copy, options: ['org', 'from', 'to', 'state'], isLocal: true },
  index: {
    run: async (options, dir) =>
      (await import('./index/command.mjs')).index({ ...options, project: options.project?.[0] }, dir, usage),
    options: ['project', 'root', 'watch', 'full'],
    mayHaveWord: true,
  },
  watch: {
    run: async (options) => (await import('./watch.mjs')).watch({ ...options, project: options.project?.[0] }),
    options: ['thread', 'project', 'after'],
  },
  import: {
    run: async (options, file) =>
      (await import('./import/command.mjs')).importFile({ ...options, project: options.project?.[0] }, file, usage),
    options: ['from', 'project', 'name', 'out', 'dry-run', 'prompts', 'on-conflict'],
    word: 'the file or folder',
  },
  export: {
    run: async (options) =>
      (await import('./export/command.mjs')).exportOrg({ ...options, project: options.project?.[0] }, usage),
    options: ['out', 'project', 'since', 'history', 'vectors', 'no-images', 'gzip'],
  },
  backup: {
    run: async (options) => (await import('./backup/command.mjs')).backup(options, usage),
    options: ['to'],
  },
  restore: {
    run: async (options, day) => (await import('./backup/command.mjs')).restore(options, day, usage),
    options: ['from', 'on-conflict'],
    word: 'the day',
  },
  verify: {
    run: async (options, file) => (await import('./import/command.mjs')).verify(options, file, usage),
    options: [],
    word: 'the file',
    isLocal: true,
  },
  stdio: { run: async (options) => (await import('./stdio.mjs')).stdio(options), options: [] },
  setup: {
    run: async (options, client) =>
      options.capture
        ? (await import('./capture/setup.mjs')).setupCapture(options, client, usage)
        : (await import('./setup/command.mjs')).setup(options, client, usage),
    options: ['docker', 'print', 'capture'],
    word: 'the client',
  },
  doctor: {
    run: async (options, client) => (await import('./doctor/command.mjs')).doctor(options, client, usage),
    options: ['url'],
    mayHaveWord: true,
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
]

/** Of the server of this checkout or package; without one, where it would be. */
async function runningUrl() {
  const servers = await runningServers()
  const found = servers.find(({ state }) => state === STATE) ?? servers[0]
  if (servers.length > 1) console.error(`Several servers run here; this asks ${found?.origin} (--url names another).`)
  return found?.origin ?? DEFAULT_URL
}

/** @param {readonly string[]} args */
function readArguments(args) {
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
  /** @type {{ values: Record<string, any>, positionals: string[] }} */
  const { values, positionals: words } = readArguments(args)
  if (values.help || words[0] === 'help') {
    console.log(USAGE)
    process.exit(0)
  }
  if (words.length === 0) usage('no command')
  const name = [words.slice(0, 2).join(' '), words[0]].find((text) => Object.hasOwn(COMMANDS, text))
  if (name === undefined) usage(`unknown command: ${words.join(' ')}`)
  const command = COMMANDS[name]
  const rest = words.slice(name.split(' ').length)
  if (command.word && rest.length === 0) usage(`${name} needs one more word: ${command.word}`)
  if (rest.length > (command.word || command.mayHaveWord ? 1 : 0)) usage(`unknown command: ${words.join(' ')}`)
  const allowed = [...command.options, 'json', ...(command.isLocal ? [] : ['url', 'org'])]
  const foreign = Object.keys(values).find((option) => !allowed.includes(option))
  if (foreign !== undefined) usage(`${name} takes no --${foreign}`)
  const url = values.url ?? process.env.COMMONPLACE_URL ?? (command.isLocal ? DEFAULT_URL : await runningUrl())
  if (!URL.canParse(url)) usage(`${url} is not a URL`)
  const named = values.url !== undefined || process.env.COMMONPLACE_URL !== undefined
  try {
    await command.run({ ...values, url, named, namedUrl: values.url }, rest[0])
  } catch (error) {
    // A folder that is not there, or a disk that is full, is no fault of this program.
    if (typeof error?.syscall !== 'string' || typeof error.code !== 'string') throw error
    fail(error.message)
  }
}
