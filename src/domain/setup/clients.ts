/** How each coding client is told of this server (fabric contract §10): what stands in its file, and where. */
export const SETUP_CLIENTS = [
  'opencode',
  'claude',
  'claude-code',
  'kimi',
  'codex',
  'gemini',
  'cursor',
  'docker',
  'generic',
] as const
export type SetupClient = (typeof SETUP_CLIENTS)[number]

/** An older local entry of this name is replaced, not doubled. */
export const ENTRY = 'context-fabric'
/** What stands in for the key where a client cannot read its environment; the command line fills it in. */
export const PLACEHOLDER = '<COMMONPLACE_KEY>'

export interface SetupChoice {
  /** Of the endpoint. */
  readonly url: string
  readonly useDocker: boolean
  /** The server asks nobody for a key, so none is named. */
  readonly open: boolean
}

export interface Setup {
  readonly configFile: string
  readonly format: 'json' | 'toml'
  /** Names that lead to the entry in the file. */
  readonly path: readonly string[]
  readonly entry: Readonly<Record<string, unknown>>
  /** What to know beside, in sentences. */
  readonly notes: readonly string[]
}

interface Shape {
  readonly configFile: string
  readonly format?: 'toml'
  /** Names above the entry. */
  readonly outer: readonly string[]
  /** How the client names an environment variable; null where it cannot. */
  readonly variable: string | null
  readonly remote: (url: string, headers: object) => Record<string, unknown>
  /** A program that the client starts, where its shape is not the usual one. */
  readonly local?: (program: Program) => Record<string, unknown>
  readonly notes?: (url: string) => string[]
}

interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const MANUAL = '(manual)'
const SERVERS = ['mcpServers']

const programEntry = ({ command, args, env }: Program): Record<string, unknown> => ({
  ...{ command, args },
  ...(Object.keys(env).length === 0 ? {} : { env }),
})

const http = (url: string, headers: object) => ({ type: 'http', url, ...headers })

const SHAPES: Readonly<Record<SetupClient, Shape>> = {
  opencode: {
    configFile: '~/.config/opencode/opencode.json',
    outer: ['mcp'],
    variable: '{env:COMMONPLACE_KEY}',
    remote: (url, headers) => ({ type: 'remote', url, enabled: true, ...headers }),
    local: ({ command, args, env }) => ({
      ...{ type: 'local', command: [command, ...args], enabled: true },
      ...(Object.keys(env).length === 0 ? {} : { environment: env }),
    }),
    notes: () => ['opencode 2 nests the entry in mcp.servers.'],
  },
  claude: {
    configFile:
      'claude_desktop_config.json in ~/Library/Application Support/Claude/, %APPDATA%\\Claude\\ or ~/.config/Claude/',
    outer: SERVERS,
    variable: null,
    // Its file takes no URL.
    remote: () => ({}),
    notes: (url) => [`Without a bridge: Settings → Connectors → Add custom connector, with ${url}.`],
  },
  'claude-code': {
    configFile: '~/.claude.json',
    outer: SERVERS,
    variable: '${' + 'COMMONPLACE_KEY}',
    remote: http,
    notes: (url) => [
      `Or: claude mcp add --transport http --scope user ${ENTRY} ${url} --header "Authorization: Bearer $COMMONPLACE_KEY"`,
    ],
  },
  kimi: {
    configFile: '~/.kimi/mcp.json (newer: ~/.kimi-code/mcp.json)',
    outer: SERVERS,
    variable: null,
    remote: (url, headers) => ({ url, transport: 'http', ...headers }),
    notes: () => ['Newer versions also take bearerTokenEnvVar in the place of headers.'],
  },
  codex: {
    configFile: '~/.codex/config.toml',
    format: 'toml',
    outer: ['mcp_servers'],
    variable: null,
    remote: (url, headers) => ({
      url,
      ...(Object.keys(headers).length === 0 ? {} : { bearer_token_env_var: 'COMMONPLACE_KEY' }),
    }),
  },
  gemini: {
    configFile: '~/.gemini/settings.json',
    outer: SERVERS,
    variable: '$COMMONPLACE_KEY',
    remote: (httpUrl, headers) => ({ httpUrl, ...headers }),
  },
  cursor: {
    configFile: '~/.cursor/mcp.json',
    outer: SERVERS,
    variable: '${' + 'env:COMMONPLACE_KEY}',
    remote: (url, headers) => ({ url, ...headers }),
  },
  docker: { configFile: MANUAL, outer: SERVERS, variable: null, remote: () => ({}) },
  generic: { configFile: MANUAL, outer: SERVERS, variable: null, remote: http },
}

/** A program that speaks to the server for clients that only start programs. */
function bridge({ url, open }: SetupChoice, inDocker: boolean, key: string): Program {
  const header = open ? [] : ['--header', 'Authorization:${' + 'AUTH}']
  const env: Record<string, string> = open ? {} : { AUTH: `Bearer ${key}` }
  const remote = ['-y', 'mcp-remote', url, ...header]
  if (!inDocker) return { command: 'npx', args: remote, env }
  const pass = open ? [] : ['-e', 'AUTH']
  return { command: 'docker', args: ['run', '--rm', '-i', ...pass, 'node:24-alpine', 'npx', ...remote], env }
}

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/

/** What a client's file holds for this server. */
export function setupOf(client: SetupClient, choice: SetupChoice): Setup {
  const { configFile, format = 'json', outer, variable, remote, local = programEntry, notes } = SHAPES[client]
  const { url, open } = choice
  const key = variable ?? PLACEHOLDER
  const headers = open ? {} : { headers: { Authorization: `Bearer ${key}` } }
  const inDocker = choice.useDocker || client === 'docker'
  const program = inDocker || client === 'claude' ? bridge(choice, inDocker, key) : null
  const entry = program === null ? remote(url, headers) : local(program)
  const hidden = inDocker && LOOPBACK.test(new URL(url).hostname)
  return {
    ...{ configFile, format, entry },
    path: [...outer, ENTRY],
    notes: [
      ...(notes?.(url) ?? []),
      ...(hidden
        ? ['In a container localhost is the container itself: name this machine by host.docker.internal.']
        : []),
      ...(!open && JSON.stringify(entry).includes(PLACEHOLDER) ? [`Put your key in the place of ${PLACEHOLDER}.`] : []),
    ],
  }
}

const tomlValue = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(tomlValue).join(', ')}]` : JSON.stringify(value)

/** The entry as a table of TOML, and tables below it. */
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

/** A text that parses: JSON with its outer key, or TOML. */
export function snippetOf(setup: Setup): string {
  if (setup.format === 'toml') return tomlOf(setup)
  const whole = setup.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), setup.entry)
  return JSON.stringify(whole, null, 2)
}
