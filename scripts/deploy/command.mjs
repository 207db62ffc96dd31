// The steps of `npm run deploy`, in order. Each checks first and does only what is missing, so the command can be repeated at any time.
import { parseArgs } from 'node:util'
import { parseUrl } from '../../src/cli/postgres/url.mjs'
import { chooseAccount } from './account.mjs'
import { deploymentOf, isButton, readToml, writeDeployment } from './configuration.mjs'
import { destroy, rehearseDestroy } from './destroy.mjs'
import { Blocked, blocked } from './failures.mjs'
import { prove, waitUntilReady } from './proof.mjs'
import { backups, database, grants, hyperdrive, images, vectors } from './stores.mjs'
import { chooseToken, lookAtWorker } from './token.mjs'
import { applyMigrations, upload } from './upload.mjs'

/**
 * @typedef {object} Options
 * @property {string} [account] id or name
 * @property {string} [name] of the Worker and its stores
 * @property {string} [org] organization of the proof and the first key
 * @property {string} [postgres] URL of the database
 * @property {boolean} [dry-run]
 * @property {boolean} [destroy]
 *
 * @typedef {object} Surroundings dependencies that tests replace
 * @property {import('./wrangler.mjs').Wrangler} wrangler
 * @property {typeof globalThis.fetch} fetch
 * @property {(ms: number) => Promise<void>} sleep
 * @property {(question: string) => Promise<string>} ask
 * @property {(url: string) => Promise<void>} migratePostgres
 * @property {(line: string) => void} print
 * @property {() => Date} now
 * @property {Record<string, string | undefined>} environment
 * @property {import('./configuration.mjs').Configuration} [toml] instead of wrangler.toml
 * @property {string} folder for the configuration and the token
 *
 * @typedef {object} Names
 * @property {string} worker
 * @property {string} database
 * @property {string} images
 * @property {string} backups
 * @property {string} grants
 *
 * @typedef {Omit<Surroundings, 'print' | 'environment' | 'toml'> & { options: Options, names: Names, env: Record<string, string>,
 *   say: (step: string, what: string) => void }} Deploying
 */

export const USAGE = `usage: npm run deploy [-- OPTIONS]

  --dry-run            shows every step and builds the Worker; needs no account
  --account ID         the Cloudflare account, where the login sees several (or CLOUDFLARE_ACCOUNT_ID)
  --name NAME          another name than commonplace-production, for a second deployment
  --org ORG            the organization of the first key (else the first one, or "main")
  --postgres URL       uses PostgreSQL through Hyperdrive instead of D1
  --destroy            removes a deployment and its data, after you type its name`

/** @param {readonly string[]} args @returns {Options} @throws {Blocked} */
export function readOptions(args) {
  try {
    const text = /** @type {const} */ ({ type: 'string' })
    const flag = /** @type {const} */ ({ type: 'boolean' })
    const parsed = parseArgs({
      args: [...args],
      options: { account: text, name: text, org: text, postgres: text, 'dry-run': flag, destroy: flag },
    })
    const values = /** @type {Options} */ (parsed.values)
    if (values.name !== undefined && !/^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/.test(values.name))
      throw new Error(`${values.name} is not a valid Worker name: use a-z, 0-9 and -, at most 52 characters`)
    if (values.postgres !== undefined) parseUrl(values.postgres)
    return values
  } catch (error) {
    throw new Blocked(`${error.message}\n\n${USAGE}`)
  }
}

/** The bucket of daily backups, if wrangler.toml binds it. */
const BACKUPS = 'BACKUP_BUCKET'

/** @param {ReturnType<typeof readToml>} toml @param {string} binding @returns {string | undefined} */
const bucketOf = (toml, binding) =>
  toml.env.production.r2_buckets.find((/** @type {{ binding: string }} */ one) => one.binding === binding)?.bucket_name

/** @param {ReturnType<typeof readToml>} toml @param {string | undefined} name @returns {Names} */
function namesOf(toml, name) {
  const { production } = toml.env
  if (name !== undefined)
    return {
      worker: name,
      database: name,
      images: `${name}-images`,
      backups: `${name}-backups`,
      grants: `${name}-grants`,
    }
  return {
    worker: production.name,
    database: production.d1_databases[0].database_name,
    images: bucketOf(toml, 'IMAGES') ?? `${production.name}-images`,
    backups: bucketOf(toml, BACKUPS) ?? `${production.name}-backups`,
    grants: `${production.name}-grants`,
  }
}

/** Dimensions of the model whose vectors are in Vectorize. */
const dimensionsOf = (/** @type {Record<string, string>} */ vars) => Number(vars.EMBEDDING_DIM ?? 1024)

/**
 * @param {Surroundings} surroundings
 * @param {Options} options
 * @returns {Promise<number>} exit code
 */
export async function deploy(surroundings, options) {
  const { print, environment, toml = readToml(), ...given } = surroundings
  const names = namesOf(toml, options.name)
  const env = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const say = (/** @type {string} */ step, /** @type {string} */ what) => print(`  ${step.padEnd(10)}  ${what}`)
  /** @type {Deploying} */
  const deploying = { ...given, options, names, env, say }
  const fromButton = isButton(environment)
  const { vars } = toml.env.production
  const keepsBackups = bucketOf(toml, BACKUPS) !== undefined
  if (options['dry-run'] && options.destroy) {
    rehearseDestroy(deploying, keepsBackups, print)
    return 0
  }
  if (options['dry-run']) return await rehearse(deploying, toml, { fromButton, print })

  const account = await chooseAccount(deploying)
  env.CLOUDFLARE_ACCOUNT_ID = account
  if (options.destroy) return (await destroy(deploying, keepsBackups)) ? 0 : 1

  const worker = await lookAtWorker({
    ...deploying,
    names: { ...names, worker: fromButton ? toml.name : names.worker },
  })
  /** @type {import('./configuration.mjs').Found} */
  const found = { account, ...(options.name && { name: options.name }) }
  if (!fromButton)
    await makeStores(deploying, found, {
      ...{ exists: worker.exists, vars },
      keepsBackups,
    })
  const deployment = rename(deploymentOf(toml, found, { fromButton }), names, fromButton)
  const file = writeDeployment(deployment, `${given.folder}/${deployment.name}.json`)
  // The deploy button's stores are bound by ids that only Cloudflare's build knows; the Worker applies its schema itself.
  if (options.postgres === undefined && !fromButton) await applyMigrations(deploying, file)
  // The button asks for the token and sets it.
  const { token, isNew } = fromButton ? { token: null, isNew: false } : chooseToken(deploying, worker.hasToken)
  const origin = await upload(deploying, file, isNew ? token : null)
  if (fromButton) return 0
  const ready = await waitUntilReady(deploying, origin)
  print('')
  print(`MCP endpoint   ${origin}/mcp   (ten tools designed for models: ${origin}/mcp/core)`)
  for (const [part, { ok, problem }] of Object.entries(ready.checks ?? {}))
    if (!ok) print(`! ${part}: ${problem ?? 'does not respond'}`)
  if (token === null) {
    print(
      'Its ADMIN_TOKEN is unknown here, so the deployment was not tested with an entry: set ADMIN_TOKEN and deploy again to test it.',
    )
    return 0
  }
  const { key, org } = await prove(deploying, origin, token)
  print(clientLines(origin, key, org))
  return 0
}

/**
 * @param {Deploying} deploying
 * @param {import('./configuration.mjs').Found} found filled in
 * @param {{ exists: boolean, vars: Record<string, string>, keepsBackups: boolean }} known
 */
async function makeStores(deploying, found, { exists, vars, keepsBackups }) {
  const { options, names } = deploying
  if (options.postgres !== undefined) {
    await deploying.migratePostgres(options.postgres)
    deploying.say('schema', 'the database has the schema of this release')
    found.hyperdrive = await hyperdrive(deploying, options.postgres)
  } else {
    if (exists && !(await isOurs(deploying)))
      throw new Blocked(
        `This account has a Worker ${names.worker} that was not deployed from here: it has no database ` +
          `${names.database}. Choose another name: npm run deploy -- --name NAME`,
      )
    found.database = await database(deploying)
  }
  found.grants = await grants(deploying)
  found.images = await images(deploying)
  if (keepsBackups && found.images) await backups(deploying)
  if (vars.VECTOR_BACKEND === 'vectorize') {
    await vectors(deploying, dimensionsOf(vars))
    found.vectorize = true
  }
}

/** Returns whether the Worker of this name has our stores. @param {Deploying} deploying */
async function isOurs({ wrangler, env, names }) {
  const { code, said } = await wrangler(['d1', 'info', names.database, '--json'], env)
  if (code === 0) return true
  if (/(not|n't) find|not found|\[code: 7404\]/i.test(said)) {
    const drives = await wrangler(['hyperdrive', 'list'], env)
    return drives.out.includes(names.worker)
  }
  throw blocked('read the database', said)
}

/** @param {import('./configuration.mjs').Configuration} deployment @param {Names} names @param {boolean} fromButton */
function rename(deployment, names, fromButton) {
  if (fromButton) return deployment
  return {
    ...deployment,
    ...(deployment.d1_databases && {
      d1_databases: deployment.d1_databases.map((one) => ({ ...one, database_name: names.database })),
    }),
    ...(deployment.r2_buckets && {
      r2_buckets: deployment.r2_buckets.map((one) => ({
        ...one,
        bucket_name: one.binding === BACKUPS ? names.backups : names.images,
      })),
    }),
    ...(deployment.vectorize && {
      vectorize: deployment.vectorize.map((one) => ({ ...one, index_name: names.worker })),
    }),
  }
}

/**
 * Shows what a deployment would do, and checks that wrangler accepts the Worker and its configuration.
 *
 * @param {Deploying} deploying
 * @param {ReturnType<typeof readToml>} toml
 * @param {{ fromButton: boolean, print: (line: string) => void }} how
 */
async function rehearse(deploying, toml, { fromButton, print }) {
  const { options, names, say } = deploying
  const { vars } = toml.env.production
  const onPostgres = options.postgres !== undefined
  print('Nothing is changed (--dry-run). A deployment would:')
  say('account', options.account ?? 'use the account of your login, or require --account if it has several')
  if (onPostgres) {
    say('schema', 'migrate the PostgreSQL database')
    say('hyperdrive', `make Hyperdrive ${names.worker}, without a cache`)
  } else say('database', `make D1 ${names.database} if it is missing`)
  say('grants', `make KV ${names.grants} if it is missing`)
  say('images', `make R2 ${names.images} if it is missing; without R2 in the account, everything works but images`)
  if (bucketOf(toml, BACKUPS) !== undefined) say('backups', `make R2 ${names.backups} if it is missing`)
  if (vars.VECTOR_BACKEND === 'vectorize')
    say('vectors', `make Vectorize ${names.worker} of ${dimensionsOf(vars)} dimensions if it is missing`)
  if (!onPostgres) say('schema', 'apply missing migrations')
  say('token', 'make ADMIN_TOKEN if the Worker has none')
  const found = {
    name: options.name,
    vectorize: vars.VECTOR_BACKEND === 'vectorize',
    ...(onPostgres && { hyperdrive: 'made' }),
  }
  const deployment = rename(deploymentOf(toml, found, { fromButton }), names, fromButton)
  const file = writeDeployment(deployment, `${deploying.folder}/${deployment.name}.dry-run.json`)
  const { code, said } = await deploying.wrangler(['deploy', '--dry-run', '--config', file], deploying.env)
  if (code !== 0) throw blocked('build the Worker', said)
  say('worker', `deploy ${deployment.name}; wrangler accepts it: ${file}`)
  say('ready', 'wait until /ready answers')
  say('proof', 'store, find and delete one entry; make a first admin key if there is none')
  return 0
}

/** @param {string} origin @param {string | null} key @param {string} org */
function clientLines(origin, key, org) {
  const header = '--header "Authorization: Bearer $KEY"'
  return [
    '',
    ...(key === null
      ? [`${org} already has keys. To make another: COMMONPLACE_URL=${origin} npm run commonplace -- keys create NAME`]
      : [`First admin key of ${org}, shown only once; store it like a password:`, '', `  ${key}`]),
    '',
    'Connect a client, with a key in KEY:',
    '',
    `  Claude Code   claude mcp add --transport http commonplace ${origin}/mcp/core ${header}`,
    `  Codex         codex mcp add commonplace --url ${origin}/mcp/core --bearer-token-env-var KEY`,
    `  Gemini CLI    gemini mcp add --transport http commonplace ${origin}/mcp/core ${header}`,
    `  VS Code       code --add-mcp '{"name":"commonplace","type":"http","url":"${origin}/mcp/core"}'`,
    `  others        COMMONPLACE_URL=${origin} COMMONPLACE_KEY=$KEY npm run commonplace -- setup cursor`,
    `  claude.ai, ChatGPT   the address ${origin}/mcp as a connector; it asks for the key on a page`,
    `  people        ${origin}/`,
    '',
  ].join('\n')
}
