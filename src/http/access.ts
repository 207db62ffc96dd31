/**
 * Who may call at all: what the guard has to know before anything else is read. `config.ts` checks the same variables and
 * says what is wrong with them; here a bad host simply names nothing.
 */
export interface Access {
  /** AUTH_MODE=open: this machine only. */
  readonly open: boolean
  /** ALLOWED_HOSTS: the names of this deployment; null when it names none, and then every name leads here. */
  readonly hosts: readonly ServedHost[] | null
}

export interface ServedHost {
  /** Lower-case. */
  readonly name: string
  /** Null: any. */
  readonly port: string | null
}

export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(\.\d{1,3}){3}\]?)$/i.test(hostname)

const HOST = /^([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::(\d{1,5}))?$/

/** One entry of ALLOWED_HOSTS, a name with or without a port; null for anything else. */
export function readHost(text: string): ServedHost | null {
  const [, name, port = null] = HOST.exec(text.trim().toLowerCase()) ?? []
  return name === undefined ? null : { name, port }
}

const listed = (value: unknown): string[] =>
  typeof value === 'string' ? value.split(',').filter((item) => item.trim() !== '') : []

export function readAccess(env: Readonly<Record<string, unknown>>): Access {
  const hosts = listed(env.ALLOWED_HOSTS)
  return {
    open: typeof env.AUTH_MODE === 'string' && env.AUTH_MODE.trim().toLowerCase() === 'open',
    hosts: hosts.length === 0 ? null : hosts.map(readHost).filter((host) => host !== null),
  }
}
