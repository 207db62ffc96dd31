// `npm run deploy -- --destroy`: removes a deployment after its name was typed; its backups are not removed.
import { Blocked, blocked } from './failures.mjs'
import { forgetToken } from './token.mjs'
import { must, parsed } from './wrangler.mjs'

const GONE = /\[code: (10007|7404|10006|10013|3000|2001|10090)\]|not found|does not exist|couldn't find|could not find/i

/** @typedef {import('./command.mjs').Deploying} Deploying */

/** Parts of a deployment, in the order of removal: the Worker first, so that nothing writes to the others. */
const partsOf = (/** @type {Deploying['names']} */ names) => ({
  worker: `the Worker ${names.worker}`,
  database: `D1 ${names.database}`,
  grants: `KV ${names.grants}`,
  vectors: `Vectorize ${names.worker}`,
  hyperdrive: `Hyperdrive ${names.worker}`,
  images: `R2 ${names.images}`,
})

/** @param {Deploying} deploying @param {boolean} keepsBackups */
function sayBackups({ names, say }, keepsBackups) {
  if (keepsBackups)
    say('backups', `R2 ${names.backups} is not removed; delete it in the dashboard when you no longer need its backups`)
}

/**
 * Prints what `--destroy` would remove, without a prompt.
 *
 * @param {Deploying} deploying
 * @param {boolean} keepsBackups
 * @param {(line: string) => void} print
 */
export function rehearseDestroy(deploying, keepsBackups, print) {
  print('Nothing is changed (--dry-run). --destroy would ask for the name of the Worker and remove, for good:')
  for (const [step, what] of Object.entries(partsOf(deploying.names)))
    deploying.say(step, step === 'worker' ? what : `${what}, if it exists`)
  sayBackups(deploying, keepsBackups)
}

/** @param {Deploying} deploying @param {boolean} keepsBackups whether it has a bucket of backups */
export async function destroy(deploying, keepsBackups) {
  const { wrangler, env, names, say, ask } = deploying
  const typed = await ask(
    `This removes the Worker ${names.worker} and everything that is stored in it, for good. Type its name to continue: `,
  )
  if (typed.trim() !== names.worker) throw new Blocked('Nothing was removed: that is not its name.')
  const kv = parsed(await must(wrangler, 'list the KV namespaces', ['kv', 'namespace', 'list'], env))?.find(
    (/** @type {{ title: string }} */ { title }) => title === names.grants,
  )?.id
  const drives = await must(wrangler, 'list the Hyperdrive configurations', ['hyperdrive', 'list'], env).catch(() => '')
  const drive = drives
    .split('\n')
    .find((line) => line.split(/[│|\s]+/).includes(names.worker))
    ?.match(/\b[0-9a-f]{32}\b/)?.[0]
  /** @type {Record<keyof ReturnType<typeof partsOf>, string[] | undefined>} */
  const commands = {
    worker: ['delete', '--name', names.worker, '--force'],
    database: ['d1', 'delete', names.database, '--skip-confirmation'],
    grants: kv && ['kv', 'namespace', 'delete', '--namespace-id', kv],
    vectors: ['vectorize', 'delete', names.worker, '--force'],
    hyperdrive: drive === undefined ? undefined : ['hyperdrive', 'delete', drive],
    images: ['r2', 'bucket', 'delete', names.images],
  }
  let isWhole = true
  for (const [step, what] of Object.entries(partsOf(names))) {
    const args = commands[/** @type {keyof typeof commands} */ (step)]
    if (args === undefined) continue
    const { code, said } = await wrangler(args, env)
    if (code === 0) say(step, `removed ${what}`)
    else if (/not empty|\[code: 10008\]/i.test(said)) {
      isWhole = false
      say(step, `${what} contains images and was not removed; empty it in the dashboard and run this again`)
    } else if (!GONE.test(said) && !/\[code: 10042\]/.test(said)) throw blocked(`remove ${what}`, said)
  }
  sayBackups(deploying, keepsBackups)
  forgetToken(deploying)
  return isWhole
}
