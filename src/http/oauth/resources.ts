import { FAMILIES } from '../../tools/catalogue'
import { connector } from '../../tools/connector/family'
import { CORE_NAME } from '../../tools/toolsets'
import { withoutClosingSlash } from '../mcp-message'

/**
 * Decides which addresses a token can be issued for, and where it is valid. A client names the exact address it calls (RFC 8707), so
 * each address that serves MCP is its own resource. A grant for `/mcp` is valid below it too, never the reverse.
 */
export const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const WHOLE = '/mcp'

/** Every set of families, each in one order. */
function familyPaths(): string[] {
  let sets: string[][] = [[]]
  for (const { name } of Object.values(FAMILIES)) sets = sets.concat(sets.map((set) => [...set, name]))
  return sets
    .map((set) => set.join(','))
    .filter((names) => names !== '')
    .map((names) => `${WHOLE}/${names}`)
}

const PATHS: readonly string[] = [WHOLE, ...familyPaths(), `${WHOLE}/${CORE_NAME}`, `${WHOLE}/${connector.name}`]

/** All resources of a deployment, the full one first. */
export const resourcesAt = (origin: string): string[] => PATHS.map((path) => `${origin}${path}`)

/** Returns the resource that a client of this address requests a token for. */
function resourceOf({ origin, pathname }: URL): string {
  const path = withoutClosingSlash(pathname)
  return `${origin}${PATHS.includes(path) ? path : WHOLE}`
}

/** Returns a resource as a client names it, without the trailing slash of the called address. */
export const withoutSlash = (resource: string): string =>
  /^https?:\/\/[^/]+\/mcp(\/[^/]+)?\/$/.test(resource) ? resource.slice(0, -1) : resource

/** Returns where the metadata of that resource is (RFC 9728 §3.1: the path follows the well-known name). */
export const metadataUrlOf = (url: URL): string => {
  const { origin, pathname } = new URL(resourceOf(url))
  return `${origin}${WELL_KNOWN}${pathname}${slashOf(url)}`
}

/** The trailing slash of an address that names a resource: clients compare the resource with the address that they called. */
const slashOf = ({ pathname }: URL): '/' | '' =>
  pathname.endsWith('/') && PATHS.includes(withoutClosingSlash(pathname)) ? '/' : ''

/** Returns the resource that a metadata address describes; the bare name means the full one, null for an unknown address. */
export function describedBy({ origin, pathname }: URL): string | null {
  const path = pathname.slice(WELL_KNOWN.length)
  if (withoutClosingSlash(path) === '' || path === '/') return `${origin}${WHOLE}`
  return PATHS.includes(withoutClosingSlash(path)) ? `${origin}${path}` : null
}

/**
 * Returns whether a token for `audience` is valid at an address. Results link to images and pages of entries. Administration
 * is not a resource: a grant must not create keys that outlive it.
 */
export function counts(audience: unknown, url: URL): boolean {
  if (typeof audience !== 'string') return false
  if (/^\/mcp(\/|$)/.test(url.pathname)) return audience === `${url.origin}${WHOLE}` || audience === resourceOf(url)
  return /^\/(images|entries)\//.test(url.pathname) && resourcesAt(url.origin).includes(audience)
}

/** The only scope of tokens. */
export const SCOPE = 'memory'

/** Returns whether an origin can issue tokens: plain http only on this machine. */
export function isIssuer(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' || /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** Three parts: id of the key, of the grant, and the secret. The provider issues codes and tokens of no other form. */
export const TOKEN = /^[\w-]{1,64}:[\w-]{16}:[\w-]{32}$/
