// `npm run deploy -- --destroy`: removes what a deployment made, after the name has been typed; its backups outlive it.
import { Blocked, blocked } from './failures.mjs'
import { forgetToken } from './token.mjs'
import { must, parsed } from './wrangler.mjs'

const GONE = /\[code: (10007|7404|10006|10013|3000|2001|10090)\]|not found|does not exist|couldn't find|could not find/i

/** @param {import('./command.mjs').Deploying} deploying @param {boolean} keepsBackups whether it has a bucket of backups */
export async function destroy(deploying, keepsBackups) {
  const { wrangler, env, names, say, ask } = deploying
  const typed = await ask(
    `This removes the Worker ${names.worker} and everything that is stored in it, for good. Type its name to go on: `,
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
  /** @type {[string, string, string[]][]} the Worker first: nothing writes into what goes after it */
  const steps = [
    ['worker', `the Worker ${names.worker}`, ['delete', '--name', names.worker, '--force']],
    ['database', `D1 ${names.database}`, ['d1', 'delete', names.database, '--skip-confirmation']],
    ...(kv
      ? [
          /** @type {[string, string, string[]]} */ ([
            'grants',
            `KV ${names.grants}`,
            ['kv', 'namespace', 'delete', '--namespace-id', kv],
          ]),
        ]
      : []),
    ['vectors', `Vectorize ${names.worker}`, ['vectorize', 'delete', names.worker, '--force']],
    ...(drive
      ? [
          /** @type {[string, string, string[]]} */ ([
            'hyperdrive',
            `Hyperdrive ${names.worker}`,
            ['hyperdrive', 'delete', drive],
          ]),
        ]
      : []),
    ['images', `R2 ${names.images}`, ['r2', 'bucket', 'delete', names.images]],
  ]
  let isWhole = true
  for (const [step, what, args] of steps) {
    const { code, said } = await wrangler(args, env)
    if (code === 0) say(step, `removed ${what}`)
    else if (/not empty|\[code: 10008\]/i.test(said)) {
      isWhole = false
      say(step, `${what} holds images and stays; empty it in the dashboard and run this again`)
    } else if (!GONE.test(said) && !/\[code: 10042\]/.test(said)) throw blocked(`remove ${what}`, said)
  }
  if (keepsBackups)
    say('backups', `R2 ${names.backups} stays; remove it in the dashboard when nobody needs its backups`)
  forgetToken(deploying)
  return isWhole
}
