// Does the server answer, with all that it needs?
import { ask } from './ask.mjs'

/** @param {import('./command.mjs').Around} around @returns {Promise<import('./command.mjs').Finding[]>} */
export async function checkServer(around) {
  const { url, from } = around
  const { status, json } = await ask(around, '/ready')
  if (status === 0)
    return [
      {
        name: 'server',
        ok: false,
        isAll: true,
        told: `no answer from ${url} (${from}): ${json}`,
        todo: 'npm start, or name another with --url',
      },
    ]
  if (!Array.isArray(json?.checks) && typeof json?.checks !== 'object')
    return [
      {
        name: 'server',
        ok: false,
        isAll: true,
        told: `what answers at ${url} (${from}) is no Commonplace`,
        todo: 'name its address with --url',
      },
    ]
  if (status !== 200)
    return [
      {
        name: 'server',
        ok: false,
        told: `${url} is not ready: ${JSON.stringify(json.checks)}`,
        todo: `curl ${url}/ready`,
      },
    ]
  return [{ name: 'server', ok: true, told: `${url} (${from}) is ready` }]
}
