// Does the server take the key, and what may it do?
import { ask } from './ask.mjs'

const NEW_KEY = 'make one: npm run commonplace -- keys create NAME, and set COMMONPLACE_KEY'

/** @param {import('./command.mjs').Around} around @returns {Promise<import('./command.mjs').Finding[]>} */
export async function checkKey(around) {
  const { status, json } = await ask(around, '/api/v1/hooks')
  if (status === 404)
    return [
      {
        name: 'key',
        ok: false,
        isAll: true,
        detail: `${around.url} is of a version that takes no hooks`,
        todo: 'update the server',
      },
    ]
  if (status !== 200) {
    const detail =
      around.key === ''
        ? 'the server asks for a key, and none is set'
        : `the server refuses the key: ${json?.error?.message ?? status}`
    return [{ name: 'key', ok: false, isAll: true, detail, todo: NEW_KEY }]
  }
  around.known = json
  const where = json.projects === null ? 'all projects' : json.projects.join(', ')
  const detail = `${around.key === '' ? 'none is needed; ' : ''}${json.role} of ${json.org}, ${where}`
  return [
    { name: 'key', ok: true, detail },
    json.capture
      ? { name: 'capture', ok: true, detail: 'sessions are captured' }
      : { name: 'capture', ok: null, detail: json.why ?? 'sessions are not captured, only recalled' },
  ]
}
