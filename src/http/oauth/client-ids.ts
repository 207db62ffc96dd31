import { isLoopback } from '../access'

/**
 * Decides which client ids may be addresses of a metadata document, which the provider then fetches. On Cloudflare a fetch reaches
 * the public internet only; private addresses are refused anyway, wherever a request can hold a client id.
 */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/i

/** Only deployments fetch documents: on one machine every document address could be private. */
export const fetchesDocuments = (origin: string): boolean => !isLoopback(new URL(origin).hostname)

/** Returns whether a client id is not an address at all, or one of a public host by name. */
export function isAcceptableClientId(id: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(id)) return true
  if (!/^[\x21-\x7e]{1,2000}$/.test(id) || !URL.canParse(id)) return false
  const { protocol, hostname, port } = new URL(id)
  const named = hostname.includes('.') && !hostname.startsWith('[') && !/(^|\.)\d+$/.test(hostname.replace(/\.$/, ''))
  return protocol === 'https:' && port === '' && named && !LOCAL_NAME.test(hostname.replace(/\.$/, ''))
}

function issuerOfAssertion(assertion: string): string {
  try {
    const claims = (assertion.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    return String((JSON.parse(atob(claims)) as { iss?: unknown }).iss ?? '')
  } catch {
    return ''
  }
}

/** Returns the client that a token request names, as the provider reads it; its secret is not checked here. */
export function clientIdOf(form: URLSearchParams, authorization: string | null): string {
  const basic = /^Basic +(\S+)/i.exec(authorization ?? '')?.[1]
  if (basic !== undefined) return credentialsOf(basic).split(':')[0] ?? ''
  return form.get('client_id') || issuerOfAssertion(form.get('client_assertion') ?? '')
}

/** The same for each place of a token request in which a client can name itself. */
export function namesAcceptableClient(form: URLSearchParams, authorization: string | null): boolean {
  const ids = [...form.getAll('client_id'), ...form.getAll('client_assertion').map(issuerOfAssertion)]
  // Clients with documents have no shared secret, so Basic credentials never name one.
  const basic = /^Basic +(\S+)/i.exec(authorization ?? '')?.[1]
  return ids.every(isAcceptableClientId) && (basic === undefined || !namesAddress(basic))
}

function credentialsOf(encoded: string): string {
  try {
    return atob(encoded)
  } catch {
    return ''
  }
}

const namesAddress = (encoded: string): boolean => /^https?(:|%3a)/i.test(credentialsOf(encoded))

/**
 * Decides which addresses a code may be sent to: https, http on this machine, and schemes that an app registers for itself (RFC 8252
 * §7.1), such as `cursor:`. Another app may register the same scheme, so a code alone gives no access: PKCE is required of every client.
 */

/** Schemes that browsers or operating systems handle themselves: they run, show, send or dial the content of the address. */
const OF_THE_SYSTEM = new Set([
  ...[
    'javascript',
    'data',
    'vbscript',
    'file',
    'blob',
    'filesystem',
    'about',
    'view-source',
    'mailto',
    'tel',
    'sms',
    'ws',
    'wss',
  ],
  ...[
    'ftp',
    'ftps',
    'sftp',
    'gopher',
    'ldap',
    'ldaps',
    'smb',
    'nfs',
    'afp',
    'ssh',
    'telnet',
    'rdp',
    'vnc',
    'git',
    'svn',
    'jar',
  ],
  ...[
    'res',
    'resource',
    'chrome',
    'edge',
    'brave',
    'opera',
    'moz',
    'intent',
    'android-app',
    'content',
    'package',
    'cid',
    'mid',
  ],
  ...['urn', 'magnet', 'search', 'search-ms', 'shell', 'itms', 'itms-services', 'market', 'x-apple.systempreferences'],
])

/** Scheme prefixes that Windows and Office give each of their programs. */
const OF_WINDOWS = /^ms-/

/** Returns whether an app may have registered the scheme of an address for itself. */
function isPrivateUse(uri: string): boolean {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/[^\s\\]*$/i.exec(uri) ?? []
  if (scheme === undefined || /^https?$/i.test(scheme)) return false
  const name = scheme.toLowerCase()
  return !OF_THE_SYSTEM.has(name) && !OF_WINDOWS.test(name)
}

/** Returns whether a redirect URI may be registered or used; the provider checks the rules for web addresses. */
export const isAllowedRedirect = (uri: string): boolean => /^https?:\/\//i.test(uri) || isPrivateUse(uri)

/** Where a person is redirected, as the consent page shows it: the host, with the scheme of an app before it. */
export function destinationOf(address: string): string {
  const { protocol, host } = new URL(address)
  return /^https?:$/.test(protocol) ? host : `${protocol}//${host}`
}

/** Returns whether an address leads to an app of the person's own machine. */
export const leadsToApp = (address: string): boolean => !/^https?:$/.test(new URL(address).protocol)
