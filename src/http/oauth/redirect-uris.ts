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
