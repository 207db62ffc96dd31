// The program of `npm start`: runs the Worker in plain workerd, as a child of scripts/serve.mjs, on the Node that Miniflare needs.
// The port connects to the Worker directly, for other machines through `entry.mjs`: the extras of a development server (a database explorer, a trace store, public
// buckets, a debugger, triggers by address) do not exist. Exits with its parent.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, Response } from 'miniflare'
import { isPackaged, WORK } from '../../src/cli/place.mjs'
import { announce, runningServers } from '../../src/cli/running.mjs'
import { isOnlyConfigured, keptWorkerOptions } from '../../src/cli/worker-options.mjs'
import { root } from '../install.mjs'
import { isLoopback, UsageError } from './arguments.mjs'
import { builtinModelFor, embedWhenReady, withDefaultProvider } from './builtin.mjs'
import { bundleWorker, modulesOf } from './bundle.mjs'
import { createEntry, listen } from './entry.mjs'
import { whyNotFree } from './port.mjs'
import { askReadiness, finishUpgrade, troubles, welcome } from './ready.mjs'
import { requestCron, startSchedule } from './schedule.mjs'
import { watchStorage } from './storage.mjs'
import { chooseVariables, isHidden, isOpen, readEnvFiles, refuseOpenDoor, unknownNames } from './variables.mjs'

/**
 * @typedef {object} Task the request of scripts/serve.mjs
 * @property {import('./arguments.mjs').ServeOptions} options
 * @property {string} config wrangler's configuration file
 * @property {string} [hyperdrive] URL of the database behind the binding HYPERDRIVE
 * @property {string} dataLine a sentence about the place of the data
 */

/** Interval at which a server with broken data checks whether they were repaired. */
const MENDED_MS = 5_000

/** @type {Task} */
const task = JSON.parse(process.env.COMMONPLACE_TASK ?? '')
delete process.env.COMMONPLACE_TASK
delete process.env.COMMONPLACE_TYPED
const { options, config, hyperdrive, dataLine } = task

/** Applies to a database in a folder of this machine. */
const storage = hyperdrive === undefined ? watchStorage(options.state, console.error) : null

/** @type {Miniflare | undefined} */
let server
/** @type {import('./builtin.mjs').BuiltinModel | null} */
let builtin = null
let ending = false

/** @param {number} code */
async function end(code) {
  if (ending) return
  ending = true
  // Kills the complete group, workerd included, if it does not exit properly.
  setTimeout(
    () => (process.platform === 'win32' ? process.exit(code) : process.kill(-process.pid, 'SIGKILL')),
    5000,
  ).unref()
  await Promise.all([server?.dispose().catch(() => {}), builtin?.close()])
  process.exit(code)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0))
process.on('disconnect', () => void end(0))

/** Reads .dev.vars or .env of a checkout, .env of the data folder for a package, or the named files. */
async function readFiles() {
  if (isPackaged) return readEnvFiles(options.envFiles ?? [join(WORK, '.env')], options.envFiles !== undefined)
  if (options.envFiles === undefined && isOnlyConfigured()) return {}
  const { unstable_getVarsForDev } = await import('wrangler')
  const inFile = unstable_getVarsForDev(join(root, config), options.envFiles, {}, undefined, true)
  return Object.fromEntries(
    Object.entries(inFile).map(([name, binding]) => [name, 'value' in binding ? binding.value : binding.json]),
  )
}

/** Miniflare's requests and responses are its own. @param {import('./builtin.mjs').BuiltinModel} model */
const answering = (model) => async (/** @type {any} */ request) => {
  const answer = await model.fetch(request)
  return new Response(await answer.arrayBuffer(), { status: answer.status })
}

/** @param {Record<string, unknown>} variables */
async function start(variables) {
  const folder = await bundleWorker()
  // Wrangler reads no configuration with a Hyperdrive whose database it does not know.
  if (hyperdrive !== undefined) process.env.CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_HYPERDRIVE = hyperdrive
  const {
    modulesRules: _,
    rootPath: __,
    bindings,
    cronTriggers = [],
    ...fromConfig
  } = await keptWorkerOptions(config, folder)
  const here = options.ip === 'localhost' ? '127.0.0.1' : options.ip
  const isLocal = isLoopback(options.ip)
  // Outside Cloudflare a client may write any header, including Cloudflare's: the Worker trusts only a header with this name.
  const addressHeader = `x-client-${randomBytes(16).toString('hex')}`
  const scheduleToken = randomBytes(32).toString('hex')
  const said = withDefaultProvider({
    ...bindings,
    ...variables,
    CLIENT_ADDRESS_HEADER: addressHeader,
    SCHEDULE_TOKEN: scheduleToken,
  })
  builtin = builtinModelFor(said)
  builtin?.begin()
  server = new Miniflare(
    convertV4MiniflareOptions({
      ...fromConfig,
      ...(hyperdrive !== undefined && { hyperdrives: { HYPERDRIVE: hyperdrive } }),
      bindings: said,
      serviceBindings: {
        ...fromConfig.serviceBindings,
        ...(storage && {
          LOCAL_STORAGE: async (/** @type {{ url: string }} */ { url }) => {
            const { pathname, searchParams } = new URL(url)
            const seen = /** @type {any} */ (searchParams.get('seen'))
            return Response.json({ fault: await storage.report(pathname === '/failed', seen) })
          },
        }),
        ...(builtin && { BUILTIN_MODEL: answering(builtin) }),
      },
      modulesRoot: folder,
      modules: modulesOf(folder),
      resourcePersistencePath: join(options.state, 'v3'),
      // Miniflare's own entry, which is not used.
      host: '127.0.0.1',
      port: 0,
      unsafeDirectSockets: [isLocal ? { host: here, port: options.port } : { host: '127.0.0.1', port: 0 }],
      ...(options.inspectorPort === undefined ? {} : { inspectorPort: options.inspectorPort }),
      cf: false,
      telemetry: { enabled: false },
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs({ level, message }) {
        if (storage?.heard(message)) return
        if (isHidden(message, said)) return
        const say = level === 'error' || level === 'warn' ? console.error : console.log
        say(message)
      },
    }),
  )
  await server.ready
  if (!isLocal) await listen(createEntry(await server.unsafeGetDirectURL(), addressHeader), options)
  return { server, crons: cronTriggers, scheduleToken }
}

/** @returns {Promise<number>} 0 when it serves, else the exit code after its reason has been printed */
async function serve() {
  const variables = chooseVariables({ file: await readFiles(), environment: process.env, args: options.vars })
  refuseOpenDoor(variables, options.ip)
  for (const name of unknownNames(options.vars))
    console.error(`--var ${name} has no effect: the variable is unknown (docs/configuration.md lists all variables).`)
  if (hyperdrive === undefined && /^postgres/i.test(String(variables.STORAGE_BACKEND ?? '')))
    throw new UsageError(
      isPackaged
        ? 'STORAGE_BACKEND=postgresql needs a database: set DATABASE_URL too'
        : 'STORAGE_BACKEND=postgresql needs a database; start with: npm run dev:postgres',
    )
  const origin = `http://localhost:${options.port}`
  const other = (await runningServers()).find(({ state }) => state === options.state)
  if (other !== undefined) {
    console.error(
      `This data is already served at ${other.origin}/mcp (process ${other.pid}); use that server, or another folder: --persist-to FOLDER`,
    )
    return 1
  }
  // Problems with the data are reported, and returned to every caller until they are fixed.
  storage?.begin()
  const { server: running, crons, scheduleToken } = await start(variables)
  let readiness = await askReadiness(origin)
  if (readiness.checks === undefined && !(await storage?.report(true))) {
    console.error(readiness.error?.message ?? 'The server does not respond.')
    return 1
  }
  announce({ origin, state: options.state })
  if (readiness.checks === undefined)
    console.error(`Commonplace waits at ${origin}/mcp until the problem is fixed. Stop with Ctrl-C.`)
  for (; readiness.checks === undefined; readiness = await askReadiness(origin).catch(() => ({})))
    await new Promise((resolve) => setTimeout(resolve, MENDED_MS))
  const { checks, unfinished } = readiness
  storage?.confirm()
  const adminToken = Boolean(variables.ADMIN_TOKEN)
  console.log(
    welcome({ url: `${origin}/mcp/core`, open: isOpen(variables), adminToken, dataLine, troubles: troubles(checks) }),
  )
  const runCron = (/** @type {string} */ cron) => requestCron(running, scheduleToken, cron)
  const run = startSchedule(runCron, crons, async () => !(await storage?.report(false)))
  if (builtin !== null) embedWhenReady(builtin, { origin, run, isStopping: () => ending })
  void finishUpgrade(origin, unfinished, builtin === null ? undefined : ['words']).catch(() => {})
  return 0
}

try {
  const code = await serve()
  if (code !== 0) await end(code)
} catch (error) {
  const { message, cause } = /** @type {Error} */ (error)
  // Another program may have taken the port since the check.
  const taken = /already in use/i.test(message) ? await whyNotFree(options.port, options.ip) : null
  // Problems with the folder were already reported.
  if (taken !== null || error instanceof UsageError || !(await storage?.report(false)))
    console.error(taken ?? (cause instanceof Error ? `${message}: ${cause.message}` : message))
  await end(error instanceof UsageError ? 2 : 1)
}
