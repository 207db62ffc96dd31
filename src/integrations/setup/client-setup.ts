import { ENTRY, FORMER_ENTRY, type Program, type SetupClient, SHAPES } from './client-files'

/** Placeholder for the key where a client cannot read environment variables. The command line replaces it. */
export const PLACEHOLDER = '<COMMONPLACE_KEY>'

interface SetupChoice {
  /** URL of the endpoint. */
  readonly url: string
  readonly useDocker: boolean
  /** Whether the server accepts requests without a key, so that the entry has none. */
  readonly open: boolean
}

export interface Setup {
  readonly configFile: string
  readonly format: 'json' | 'toml'
  /** Names above the entry in the file. */
  readonly path: readonly string[]
  readonly entry: Readonly<Record<string, unknown>>
  /** Hints for the user, in sentences. */
  readonly notes: readonly string[]
}

const programEntry = ({ command, args, env }: Program): Record<string, unknown> => ({
  ...{ command, args },
  ...(Object.keys(env).length === 0 ? {} : { env }),
})

/** The program that connects to the server, for clients that only start programs. */
function bridge({ url, open }: SetupChoice, inDocker: boolean, key: string): Program {
  const header = open ? [] : ['--header', 'Authorization:${' + 'AUTH}']
  const env: Record<string, string> = open ? {} : { AUTH: `Bearer ${key}` }
  const remote = (address: string, more: string[] = []) => ['-y', 'mcp-remote', address, ...more, ...header]
  if (!inDocker) return { command: 'npx', args: remote(url), env }
  const pass = open ? [] : ['-e', 'AUTH']
  const seen = fromContainer(url)
  // Docker Desktop defines the host name itself; mcp-remote only accepts plain http to other machines with a flag.
  const [host, plain] = seen === url ? [[], []] : [['--add-host=host.docker.internal:host-gateway'], ['--allow-http']]
  const run = ['run', '--rm', '-i', ...host, ...pass, 'node:24-alpine', 'npx', ...remote(seen, plain)]
  return { command: 'docker', args: run, env }
}

/** Whether a host name is this machine. */
const isHere = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/** The URL as seen from a container, in which localhost is the container itself. */
function fromContainer(url: string): string {
  const address = new URL(url)
  if (!isHere(address.hostname)) return url
  address.hostname = 'host.docker.internal'
  return address.href
}

/** The server of an MCP URL, with one name for this machine; null for another URL. */
function endpointOf(text: unknown): string | null {
  if (typeof text !== 'string' || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return null
  const { protocol, hostname, port, pathname } = new URL(text)
  const host = isHere(hostname) || hostname === 'host.docker.internal' ? 'localhost' : hostname
  return /^\/mcp(\/|$)/.test(pathname) ? `${protocol}//${host}:${port}` : null
}

/** All texts in a value. */
const textsIn = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [value]

/**
 * Names of other entries for this server: entries with the same server address, and the name that an earlier version
 * used.
 * @param servers the entries of the file, by name
 */
export const formerEntries = (servers: unknown, url: string): string[] =>
  typeof servers !== 'object' || servers === null
    ? []
    : Object.entries(servers)
        .filter(([, entry]) => typeof entry === 'object' && entry !== null)
        .filter(
          ([name, entry]) =>
            name !== ENTRY &&
            (name === FORMER_ENTRY || textsIn(entry).some((text) => endpointOf(text) === endpointOf(url))),
        )
        .map(([name]) => name)

/** The entry and hints for a client. */
export function setupOf(client: SetupClient, choice: SetupChoice): Setup {
  const { configFile, format = 'json', outer, variable, remote, local = programEntry, notes } = SHAPES[client]
  const { url, open } = choice
  const key = variable ?? PLACEHOLDER
  const headers = open ? {} : { headers: { Authorization: `Bearer ${key}` } }
  const inDocker = choice.useDocker || client === 'docker'
  const program = inDocker || client === 'claude' ? bridge(choice, inDocker, key) : null
  const entry = program === null ? remote(url, headers) : local(program)
  const isHidden = inDocker && fromContainer(url) !== url
  return {
    ...{ configFile, format, entry },
    path: [...outer, ENTRY],
    notes: [
      ...(notes?.(url, open) ?? []),
      ...(isHidden
        ? [
            'A container reaches this machine as host.docker.internal. A server in open mode refuses that name: start it with ' +
              'AUTH_MODE=required on an address that containers reach, and use a key.',
          ]
        : []),
      ...(!open && JSON.stringify(entry).includes(PLACEHOLDER) ? [`Replace ${PLACEHOLDER} with your key.`] : []),
    ],
  }
}

const tomlValue = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(tomlValue).join(', ')}]` : JSON.stringify(value)

/** The entry as a TOML table, with nested tables. */
export function tomlOf({ path, entry }: Pick<Setup, 'path' | 'entry'>): string {
  const isTable = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const own = Object.entries(entry).filter(([, value]) => !isTable(value))
  const tables = Object.entries(entry).filter(([, value]) => isTable(value))
  return [
    `[${path.join('.')}]`,
    ...own.map(([name, value]) => `${name} = ${tomlValue(value)}`),
    ...tables.flatMap(([name, value]) => [
      '',
      tomlOf({ path: [...path, name], entry: value as Record<string, unknown> }).trimEnd(),
    ]),
    '',
  ].join('\n')
}

/** The complete snippet for the file: JSON with its outer keys, or TOML. */
export function snippetOf(setup: Setup): string {
  if (setup.format === 'toml') return tomlOf(setup)
  const whole = setup.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), setup.entry)
  return JSON.stringify(whole, null, 2)
}
