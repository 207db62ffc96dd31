// Checks that the server accepts the key, and its role.
import { TYPED } from '../place.mjs'
import { ask } from './ask.mjs'

const NEW_KEY = `create one with ADMIN_TOKEN or an admin key: ${TYPED.command} keys create NAME; then set COMMONPLACE_KEY to it`
const DAY_MS = 86_400_000
/** Time before its end from which the doctor warns, as the server does. */
const SOON_MS = 14 * DAY_MS
const NO_KEY = 'remove the key from COMMONPLACE_KEY or ~/.commonplace/config.json'

/**
 * Returns why a server does not report the role of the key, and what to do.
 *
 * @param {Pick<import('./command.mjs').Around, 'url' | 'key'>} around
 * @param {{ status: number, json: any }} answer
 * @returns {Promise<{ detail: string, todo: string }>}
 */
export async function refusalOf({ url, key }, { status, json }) {
  const said = json?.error?.message ?? status
  if (status === 404) return { detail: `${url} has a version without hooks`, todo: 'update the server' }
  if (status !== 401 && status !== 403)
    return { detail: `the server did not report the role: ${said}`, todo: `check ${url}/ready and its log` }
  if (key === '') return { detail: 'the server requires a key, but none is set', todo: NEW_KEY }
  if (status === 403 && said === 'Organization context required')
    return { detail: 'the key is the ADMIN_TOKEN of the server, which belongs to no organization', todo: NEW_KEY }
  const needsNone = status === 401 && (await ask({ url, key: '' }, '/api/v1/hooks')).status === 200
  return { detail: `the server refuses the key: ${said}`, todo: needsNone ? NO_KEY : NEW_KEY }
}

/** @param {import('./command.mjs').Around} around @returns {Promise<import('./command.mjs').Finding[]>} */
export async function checkKey(around) {
  const answer = await ask(around, '/api/v1/hooks')
  if (answer.status !== 200) return [{ name: 'key', ok: false, isAll: true, ...(await refusalOf(around, answer)) }]
  const { json } = answer
  around.known = json
  const where = json.projects === null ? 'all projects' : json.projects.join(', ')
  const left = json.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(json.expires_at) - Date.now()
  const days = Math.floor(left / DAY_MS)
  const end = json.expires_at === undefined ? '' : `, expires in ${days} ${days === 1 ? 'day' : 'days'}`
  const detail = `${around.key === '' ? 'no key needed; ' : ''}${json.role} of ${json.org}, ${where}${end}`
  return [
    left <= SOON_MS
      ? { name: 'key', ok: null, detail, todo: `ask an administrator to run ${TYPED.command} keys rotate` }
      : { name: 'key', ok: true, detail },
    json.capture
      ? { name: 'capture', ok: true, detail: 'sessions are captured' }
      : { name: 'capture', ok: null, detail: json.why ?? 'sessions are not captured; memories are still recalled' },
  ]
}
