// Writes the deployed configuration: `[env.production]` of wrangler.toml as a separate file, with top-level bindings and the ids of
// the account's stores. A deployment changes nothing in the checkout.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parse } from 'smol-toml'
import { root } from '../install.mjs'

/**
 * @typedef {object} Found ids of the account's stores; absent where wrangler provisions them or they are not needed
 * @property {string} [name] of the Worker
 * @property {string} [database] id
 * @property {string} [grants] id
 * @property {boolean} [images] false: the account has no R2
 * @property {string} [hyperdrive] id
 * @property {boolean} [vectorize]
 * @property {string} [account] id
 *
 * @typedef {Record<string, any>} Configuration
 */

/** Keys that an environment inherits from the top level, as far as we use them. */
const INHERITED = [
  'main',
  'compatibility_date',
  'compatibility_flags',
  'no_bundle',
  'migrations',
  'rules',
  'observability',
]
const PLACES = ['placement', 'routes', 'route', 'workers_dev', 'limits', 'logpush', 'tail_consumers']

/** @returns {Configuration} */
export const readToml = () => parse(readFileSync(join(root, 'wrangler.toml'), 'utf8'))

/** Cloudflare's builds bind the stores of the deploy button at the top level, under names that the user chose. */
export const isButton = (/** @type {NodeJS.ProcessEnv} */ env) => env.WORKERS_CI === '1'

/**
 * @param {Configuration} toml
 * @param {Found} found
 * @param {{ fromButton?: boolean, vars?: Record<string, string> }} [options]
 * @returns {Configuration}
 */
export function deploymentOf(toml, found, { fromButton = false, vars = {} } = {}) {
  const { production } = toml.env
  const pick = (/** @type {Configuration} */ from, /** @type {string[]} */ names) =>
    Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]))
  const bound = fromButton ? toml : production
  const bindings = ['d1_databases', 'kv_namespaces', 'r2_buckets']
  const onPostgres = found.hyperdrive !== undefined
  const withId = (/** @type {string} */ list, /** @type {string} */ name, /** @type {string | undefined} */ id) =>
    (bound[list] ?? []).map((/** @type {Configuration} */ one) => (id === undefined ? one : { ...one, [name]: id }))
  /** @type {Configuration} */
  const made = {
    ...pick(toml, [...INHERITED, ...PLACES]),
    ...pick(
      production,
      Object.keys(production).filter((name) => !bindings.includes(name)),
    ),
    name: found.name ?? (fromButton ? toml.name : production.name),
    vars: { ...production.vars, ...(onPostgres && { STORAGE_BACKEND: 'postgresql' }), ...vars },
    ...(found.account && { account_id: found.account }),
    ...(!onPostgres && { d1_databases: withId('d1_databases', 'database_id', found.database) }),
    kv_namespaces: withId('kv_namespaces', 'id', found.grants),
    ...(found.images !== false && { r2_buckets: bound.r2_buckets }),
    ...(onPostgres && { hyperdrive: [{ binding: 'HYPERDRIVE', id: found.hyperdrive }] }),
    ...(found.vectorize && { vectorize: [{ binding: 'VECTORIZE', index_name: production.name }] }),
  }
  return made
}

/**
 * Writes it to a folder that git ignores, with adjusted paths.
 *
 * @param {Configuration} deployment
 * @param {string} [file]
 * @returns {string} the file
 */
export function writeDeployment(deployment, file = join(root, '.wrangler', 'commonplace', `${deployment.name}.json`)) {
  const back = (/** @type {string} */ path) => relative(dirname(file), resolve(root, path)).replaceAll('\\', '/')
  const { main, d1_databases: databases, ...rest } = deployment
  mkdirSync(dirname(file), { recursive: true })
  const text = {
    ...rest,
    main: back(main),
    build: { command: 'node scripts/build.mjs', cwd: root },
    ...(databases && {
      d1_databases: databases.map((/** @type {Configuration} */ one) => ({
        ...one,
        migrations_dir: back(one.migrations_dir),
      })),
    }),
  }
  writeFileSync(file, `${JSON.stringify(text, null, 2)}\n`)
  return file
}
