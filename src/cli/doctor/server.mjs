// Does the server answer, with all that it needs?
import { TYPED } from '../place.mjs'
import { ask } from './ask.mjs'
import { isModel } from './model.mjs'

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
        detail: `no answer from ${url} (${from}): ${json}`,
        todo: `${TYPED.start}, or name another with --url`,
      },
    ]
  if (!Array.isArray(json?.checks) && typeof json?.checks !== 'object')
    return [
      {
        name: 'server',
        ok: false,
        isAll: true,
        detail: `what answers at ${url} (${from}) is no Commonplace`,
        todo: 'name its address with --url',
      },
    ]
  around.parts = json.checks
  const away = Object.entries(json.checks).filter(([name, { ok }]) => !ok && !isModel(name))
  const detail = away.map(([name, { backend, problem }]) => `${name} (${backend}) ${problem ?? 'does not answer'}`)
  if (status !== 200)
    return [
      {
        name: 'server',
        ok: false,
        detail: `${url} (${from}) is not ready: ${detail.join('; ') || 'a model that it needs does not answer'}`,
        todo: 'mend what is named (docs/operating.md); nothing is lost, and writes are refused meanwhile',
      },
    ]
  if (detail.length > 0)
    return [{ name: 'server', ok: null, detail: `${url} (${from}) is ready, but ${detail.join('; ')}` }]
  const { backend } = json.checks.database ?? {}
  /** @type {readonly string[]} */
  const warnings = json.warnings ?? []
  return [
    { name: 'server', ok: true, detail: `${url} (${from}) is ready${backend ? `, on ${backend}` : ''}` },
    ...warnings.map((detail) => ({ name: 'server', ok: null, detail })),
  ]
}
