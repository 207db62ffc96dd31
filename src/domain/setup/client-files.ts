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
  /** @param open the server asks nobody for a key */
  readonly notes?: (url: string, open: boolean) => string[]
}

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const MANUAL = '(manual)'
const SERVERS = ['mcpServers']
const http = (url: string, headers: object) => ({ type: 'http', url, ...headers })

export const SHAPES: Readonly<Record<SetupClient, Shape>> = {
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
    notes: (url, open) => {
      const header = open ? '' : ' --header "Authorization: Bearer $COMMONPLACE_KEY"'
      return [`Or: claude mcp add --transport http --scope user ${ENTRY} ${url}${header}`]
    },
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
