// `commonplace status`: which server, as whom, and what waits for it? (capture contract §2)
import { existsSync } from 'node:fs'
import { ask } from '../doctor/ask.mjs'
import { refusalOf } from '../doctor/key.mjs'
import { TYPED } from '../place.mjs'
import { configFile, resolveServer } from '../resolve-server.mjs'
import { shown } from '../server.mjs'
import { hookUrl, spoolState } from './settings.mjs'

const time = (ms) => (ms === null ? 'never' : new Date(ms).toISOString())

/** Returns why hooks cannot reach this server, and what to do; null if they can. */
async function wrongWith({ url, key, flaw }, answer) {
  if (answer.status === 0)
    return { detail: `cannot connect: ${answer.json}`, todo: `${TYPED.start}, or set COMMONPLACE_URL` }
  if (answer.status !== 200) return refusalOf({ url, key }, answer)
  return flaw === null ? null : { detail: flaw, todo: 'fix the file; until then hooks send to the server above' }
}

/** @param {{ namedUrl?: string, json?: boolean }} options */
export async function status(options) {
  const resolved = await resolveServer(options.namedUrl)
  const settings = { ...resolved, url: resolved.url.replace(/\/mcp(\/.*)?$/, '').replace(/\/+$/, '') }
  const { url, from } = settings
  const { waiting, lost, answeredAt, failedSince } = spoolState()
  const hooks = hookUrl()
  const isUsed = existsSync(configFile()) || waiting > 0 || answeredAt !== null || failedSince !== null
  const isElsewhere = isUsed && new URL(hooks).origin !== new URL(url).origin
  const answer = await ask(settings, '/api/v1/hooks')
  const known = answer.status === 200 ? answer.json : null
  const wrong = await wrongWith(settings, answer)
  if (options.json)
    console.log(
      JSON.stringify(
        {
          url,
          from,
          hooks,
          role: known?.role ?? null,
          capture: known?.capture ?? null,
          problem: wrong?.detail ?? null,
          ...(wrong !== null && { todo: wrong.todo }),
          waiting,
          lost,
          answered_at: answeredAt,
          failed_since: failedSince,
        },
        null,
        2,
      ),
    )
  else {
    console.log(`server   ${url} (${from})`)
    if (isElsewhere)
      console.log(
        `hooks    send to ${hooks}, not to this server\n         → ${TYPED.command} setup CLIENT --capture --url ${url}`,
      )
    console.log(
      `role     ${known === null ? 'none' : `${known.role} of ${shown(known.org)}${known.capture ? '' : ', captures nothing'}`}`,
    )
    if (wrong !== null) console.log(`problem  ${shown(wrong.detail)}\n         → ${wrong.todo}`)
    console.log(`waiting  ${waiting} ${waiting === 1 ? 'event' : 'events'}${lost === 0 ? '' : `, ${lost} lost`}`)
    console.log(
      answeredAt === null && failedSince === null
        ? 'answered no hook has been sent yet'
        : `answered ${time(answeredAt)}${failedSince === null ? '' : `, not since ${time(failedSince)}`}`,
    )
  }
  if (wrong !== null) process.exitCode = 1
}
