import { FAMILIES } from '../../tools/catalogue'
import { connector } from '../../tools/connector/family'
import { CORE_NAME } from '../../tools/offers'
import { withoutClosingSlash } from '../mcp-path'

/**
 * Which addresses a token can be for, and where it counts. A client names the very address it dials (RFC 8707), so each
 * address that serves MCP is a resource of its own; what is granted for `/mcp` counts below it too, never the reverse.
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

/** All resources of a deployment, the whole one first. */
export const resourcesAt = (origin: string): string[] => PATHS.map((path) => `${origin}${path}`)

/** The resource that a client of this address asks a token for. */
function resourceOf({ origin, pathname }: URL): string {
  const path = withoutClosingSlash(pathname)
  return `${origin}${PATHS.includes(path) ? path : WHOLE}`
}

/** A resource as a client names it, without the closing slash of the address that it dialed. */
export const withoutSlash = (resource: string): string =>
  /^https?:\/\/[^/]+\/mcp(\/[^/]+)?\/$/.test(resource) ? resource.slice(0, -1) : resource

/** Where the metadata of that resource is (RFC 9728 §3.1: the path comes behind the well-known name). */
export const metadataUrlOf = (url: URL): string => {
  const { origin, pathname } = new URL(resourceOf(url))
  return `${origin}${WELL_KNOWN}${pathname}${slashOf(url)}`
}

/** The closing slash of an address that names a resource: clients compare the resource with the address that they dialed. */
const slashOf = ({ pathname }: URL): '/' | '' =>
  pathname.endsWith('/') && PATHS.includes(withoutClosingSlash(pathname)) ? '/' : ''

/** The resource that a metadata address describes; the bare name stands for the whole, null for what is none. */
export function describedBy({ origin, pathname }: URL): string | null {
  const path = pathname.slice(WELL_KNOWN.length)
  if (withoutClosingSlash(path) === '' || path === '/') return `${origin}${WHOLE}`
  return PATHS.includes(withoutClosingSlash(path)) ? `${origin}${path}` : null
}

/**
 * Whether a token for `audience` counts at an address. Images and pages of entries are what results point to. Administration
 * is no resource: a grant must not make keys that outlive it.
 */
export function counts(audience: unknown, url: URL): boolean {
  if (typeof audience !== 'string') return false
  if (/^\/mcp(\/|$)/.test(url.pathname)) return audience === `${url.origin}${WHOLE}` || audience === resourceOf(url)
  return /^\/(images|entries)\//.test(url.pathname) && resourcesAt(url.origin).includes(audience)
}
