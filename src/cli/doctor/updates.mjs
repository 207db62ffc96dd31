// Asks the npm registry for a newer release, only for `doctor --check-updates`.
import { PACKAGE, VERSION } from '../place.mjs'

const LONGEST_MS = 10_000

/** Parses a version into numbers that order releases; a prerelease sorts before its release. @param {string} version @returns {number[]} */
const orderOf = (version) => {
  const [core = '', pre] = version.split('-')
  return [...core.split('.').map(Number), pre === undefined ? 1 : 0, ...(pre?.match(/\d+/g) ?? []).map(Number)]
}

/** Returns whether the first version is newer. @param {string} a @param {string} b */
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
      return { name, ok: null, detail: `${VERSION}; the npm registry has no release of ${PACKAGE}` }
    if (!response.ok) throw new Error(`the npm registry returned status ${response.status}`)
    const { version } = await response.json()
    if (!isNewer(version, VERSION)) return { name, ok: true, detail: `${VERSION} is the latest` }
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
      detail: `${VERSION}; cannot reach ${registry}: ${error.cause?.message ?? error.message}`,
    }
  }
}
