// `commonplace status`: which server, as whom, and what waits for it? (capture contract §2)
import { ask } from '../doctor/ask.mjs'
import { shown } from '../server.mjs'
import { hookSettings, spoolState } from './settings.mjs'

const time = (ms) => (ms === null ? 'never' : new Date(ms).toISOString())

/** @param {{ json?: boolean }} options */
export async function status(options) {
  const { url, key, from, flaw } = hookSettings()
  const { waiting, lost, answeredAt, failedSince } = spoolState()
  const { status: code, json } = await ask({ url, key }, '/api/v1/hooks')
  const role = code === 200 ? json.role : null
  const problem =
    code === 200 ? flaw : code === 0 ? `no answer: ${json}` : (json?.error?.message ?? `it answered ${code}`)
  if (options.json)
    console.log(
      JSON.stringify(
        {
          url,
          from,
          role,
          capture: json?.capture ?? null,
          problem,
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
    console.log(`server   ${url} (${from})${flaw === null ? '' : `: ${flaw}`}`)
    console.log(
      `role     ${role === null ? shown(problem) : `${role} of ${shown(json.org)}${json.capture ? '' : ', captures nothing'}`}`,
    )
    console.log(`waiting  ${waiting} ${waiting === 1 ? 'event' : 'events'}${lost === 0 ? '' : `, ${lost} lost`}`)
    console.log(`answered ${time(answeredAt)}${failedSince === null ? '' : `, not since ${time(failedSince)}`}`)
  }
  if (problem !== null) process.exitCode = 1
}
