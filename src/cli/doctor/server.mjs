// Checks that the server and all of its backends respond.
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
        detail: `cannot reach ${url} (${from}): ${json}`,
        todo: `${TYPED.start}, or pass another server with --url`,
      },
    ]
  if (!Array.isArray(json?.checks) && typeof json?.checks !== 'object')
    return [
      {
        name: 'server',
        ok: false,
        isAll: true,
        detail: `${url} (${from}) is not a Commonplace server`,
        todo: 'pass its address with --url',
      },
    ]
  around.parts = json.checks
  const away = Object.entries(json.checks).filter(([name, { ok }]) => !ok && !isModel(name))
  const detail = away.map(([name, { backend, problem }]) => `${name} (${backend}) ${problem ?? 'does not respond'}`)
  if (status !== 200)
    return [
      {
        name: 'server',
        ok: false,
        detail: `${url} (${from}) is not ready: ${detail.join('; ') || 'a required model does not respond'}`,
        todo: 'fix it (docs/operating.md); no data is lost, and writes are refused meanwhile',
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
