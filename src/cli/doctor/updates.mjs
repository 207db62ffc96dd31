// Asks the npm registry for a newer release, only when a person says so (`doctor --check-updates`).
import { PACKAGE, VERSION } from '../place.mjs'

const LONGEST_MS = 10_000

/** @param {string} version @returns {number[]} numbers that order releases; a prerelease comes before its release */
const orderOf = (version) => {
  const [core = '', pre] = version.split('-')
  return [...core.split('.').map(Number), pre === undefined ? 1 : 0, ...(pre?.match(/\d+/g) ?? []).map(Number)]
}

/** Whether the first version is newer. @param {string} a @param {string} b */
export function isNewer(a, b) {
  const [left, right] = [orderOf(a), orderOf(b)]
  const at = left.findIndex((number, i) => number !== (right[i] ?? 0))
  return at >= 0 && Number(left[at]) > (right[at] ?? 0)
}

/** @returns {Promise<import('./command.mjs').Finding>} */
export async function checkUpdates(registry = process.env.npm_config_registry || 'https://registry.npmjs.org') {
  const name = 'release'
  try {
    const address = `${registry.replace(/\/$/, '')}/${PACKAGE}/latest`
    const response = await fetch(address, { signal: AbortSignal.timeout(LONGEST_MS) })
    if (response.status === 404)
      return { name, ok: null, detail: `${VERSION}; the registry has no release of ${PACKAGE}` }
    if (!response.ok) throw new Error(`the registry answered ${response.status}`)
    const { version } = await response.json()
    if (!isNewer(version, VERSION)) return { name, ok: true, detail: `${VERSION} is the newest` }
    return {
      name,
      ok: null,
      detail: `${VERSION}; ${version} is available`,
      todo: 'docs/upgrading.md describes the upgrade',
    }
  } catch (error) {
    return {
      name,
      ok: null,
      detail: `${VERSION}; no answer from ${registry}: ${error.cause?.message ?? error.message}`,
    }
  }
}
