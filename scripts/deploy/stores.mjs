// Step 2: creates the Worker's stores. Existing ones are used, missing ones are created.
import { Blocked, blocked, isTaken, isWithoutR2 } from './failures.mjs'
import { must, parsed } from './wrangler.mjs'

/** @typedef {import('./command.mjs').Deploying} Deploying */

/** @param {Deploying} deploying @returns {Promise<string>} the id of the database */
export async function database({ wrangler, env, names, say }) {
  const find = async () =>
    parsed(await must(wrangler, 'list the D1 databases', ['d1', 'list', '--json'], env))?.find(
      (/** @type {{ name: string }} */ { name }) => name === names.database,
    )?.uuid
  const found = await find()
  if (found) {
    say('database', `D1 ${names.database} is there`)
    return found
  }
  await must(wrangler, `make the D1 database ${names.database}`, ['d1', 'create', names.database], env)
  say('database', `made D1 ${names.database}`)
  const made = await find()
  if (!made) throw new Blocked(`D1 ${names.database} was made but is not listed yet; deploy again in a minute.`)
  return made
}

/** @param {Deploying} deploying @returns {Promise<string>} the id of the namespace for grants of OAuth */
export async function grants({ wrangler, env, names, say }) {
  const find = async () =>
    parsed(await must(wrangler, 'list the KV namespaces', ['kv', 'namespace', 'list'], env))?.find(
      (/** @type {{ title: string }} */ { title }) => title === names.grants,
    )?.id
  const found = await find()
  if (found) {
    say('grants', `KV ${names.grants} is there`)
    return found
  }
  await must(wrangler, `make the KV namespace ${names.grants}`, ['kv', 'namespace', 'create', names.grants], env)
  say('grants', `made KV ${names.grants}`)
  const made = await find()
  if (!made) throw new Blocked(`KV ${names.grants} was made but is not listed yet; deploy again in a minute.`)
  return made
}

/** @param {Deploying} deploying @returns {Promise<boolean>} whether the account has R2 */
export async function images({ wrangler, env, names, say }) {
  const { code, said } = await wrangler(['r2', 'bucket', 'create', names.images], env)
  if (code === 0) say('images', `made R2 ${names.images}`)
  else if (isTaken(said)) say('images', `R2 ${names.images} is there`)
  else if (isWithoutR2(said)) {
    say(
      'images',
      'this account has no R2: everything works but images. To store images, enable R2 in the dashboard and deploy again',
    )
    return false
  } else throw blocked(`make the R2 bucket ${names.images}`, said)
  return true
}

/** @param {Deploying} deploying of an account that has R2 */
export async function backups({ wrangler, env, names, say }) {
  const { code, said } = await wrangler(['r2', 'bucket', 'create', names.backups], env)
  if (code === 0) say('backups', `made R2 ${names.backups}`)
  else if (isTaken(said)) say('backups', `R2 ${names.backups} is there`)
  else throw blocked(`make the R2 bucket ${names.backups}`, said)
}

/** @param {Deploying} deploying @param {number} dimensions of the embedding model */
export async function vectors({ wrangler, env, names, say }, dimensions) {
  const shape = [`--dimensions=${dimensions}`, '--metric=cosine']
  const { code, said } = await wrangler(['vectorize', 'create', names.worker, ...shape], env)
  if (code === 0) return say('vectors', `made Vectorize ${names.worker} of ${dimensions} dimensions`)
  if (!isTaken(said)) throw blocked(`make the Vectorize index ${names.worker}`, said)
  const listed = parsed(await must(wrangler, 'list the Vectorize indexes', ['vectorize', 'list', '--json'], env))
  const there = listed?.find((/** @type {{ name: string }} */ { name }) => name === names.worker)?.config?.dimensions
  if (there !== undefined && there !== dimensions)
    throw new Blocked(
      `The Vectorize index ${names.worker} has ${there} dimensions but the model has ${dimensions}. Remove it ` +
        `(npx wrangler vectorize delete ${names.worker}) and deploy again; the vectors are copied again from the database.`,
    )
  say('vectors', `Vectorize ${names.worker} is there`)
}

/** @param {Deploying} deploying @param {string} url of the database @returns {Promise<string>} the id of its Hyperdrive */
export async function hyperdrive({ wrangler, env, names, say }, url) {
  const find = async () => {
    const out = await must(wrangler, 'list the Hyperdrive configurations', ['hyperdrive', 'list'], env)
    const line = out.split('\n').find((one) => one.split(/[│|\s]+/).includes(names.worker))
    return line?.match(/\b[0-9a-f]{32}\b/)?.[0]
  }
  // A cache would hide recent writes of one agent from another.
  const settings = ['--connection-string', url, '--caching-disabled', 'true']
  const found = await find()
  if (found) {
    await must(wrangler, 'update Hyperdrive', ['hyperdrive', 'update', found, ...settings], env)
    say('hyperdrive', `Hyperdrive ${names.worker} connects to the database, without a cache`)
    return found
  }
  const made = await must(
    wrangler,
    'make a Hyperdrive configuration',
    ['hyperdrive', 'create', names.worker, ...settings],
    env,
  )
  say('hyperdrive', `made Hyperdrive ${names.worker}, without a cache`)
  const id = made.match(/\b[0-9a-f]{32}\b/)?.[0] ?? (await find())
  if (id === undefined) throw new Blocked('Hyperdrive was made but is not listed yet; deploy again in a minute.')
  return id
}
