/**
 * The list of clients (fabric contract §10), used by `commonplace setup`, `context_setup`, docs/clients, the dashboard,
 * the doctor and capture. Clients without a configuration file are in `OTHER_CLIENTS`.
 */
export const SETUP_CLIENTS = [
  'opencode',
  'claude',
  'claude-code',
  'kimi',
  'codex',
  'gemini',
  'cursor',
  'vs-code',
  'windsurf',
  'zed',
  'jetbrains',
  'cline',
  'docker',
  'generic',
] as const

export type SetupClient = (typeof SETUP_CLIENTS)[number]

/** The name of the server in every client. */
export const ENTRY = 'commonplace'

/**
 * The name that earlier versions of `commonplace setup` used, and Context Fabric uses too. An entry with this name is
 * replaced.
 */
export const FORMER_ENTRY = 'context-fabric'

interface Shape {
  /** Name for people. */
  readonly label: string
  readonly configFile: string
  readonly format?: 'toml'
  /** Names above the entry. */
  readonly outer: readonly string[]
  /** The client's syntax for an environment variable; null without one. */
  readonly variable: string | null
  readonly remote: (url: string, headers: object) => Record<string, unknown>
  /** The entry of a program that the client starts, where it differs from the usual form. */
  readonly local?: (program: Program) => Record<string, unknown>
  /** @param open whether the server accepts requests without a key */
  readonly notes?: (url: string, open: boolean) => string[]
  /** A link that opens the client and adds the server. It never contains a key: OAuth asks for one. */
  readonly install?: (url: string) => string
  /** Its name in `commonplace setup <name> --capture`, for clients with capture. */
  readonly capture?: string
}

/** A client without a file that a program could write. */
interface OtherClient {
  readonly label: string
  /** @param url URL of `/mcp/core` */
  readonly how: (url: string) => string
}

const settings = (url: string, where: string) =>
  `${where}, with the address ${url}. OAuth opens a page that asks for the key.`

export const OTHER_CLIENTS: readonly OtherClient[] = [
  {
    label: 'claude.ai',
    how: (url) => settings(url, 'A deployment only: Settings → Connectors → Add custom connector'),
  },
  {
    label: 'ChatGPT',
    how: (url) => settings(url.replace(/\/core$/, '/connector'), 'A deployment only: Settings → Connectors → Create'),
  },
  {
    label: 'LangGraph and LangChain',
    how: (url) =>
      `MultiServerMCPClient with {"commonplace": {"transport": "http", "url": "${url}"}}: docs/clients/frameworks.md.`,
  },
  {
    label: 'n8n',
    how: (url) =>
      `The node MCP Client Tool: Endpoint ${url}, Server Transport "HTTP Streamable", Authentication "Bearer Auth" with your key.`,
  },
]

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
    label: 'OpenCode',
    capture: 'opencode',
    configFile: '~/.config/opencode/opencode.json',
    outer: ['mcp'],
    variable: '{env:COMMONPLACE_KEY}',
    remote: (url, headers) => ({ type: 'remote', url, enabled: true, ...headers }),
    local: ({ command, args, env }) => ({
      ...{ type: 'local', command: [command, ...args], enabled: true },
      ...(Object.keys(env).length === 0 ? {} : { environment: env }),
    }),
    notes: () => ['In opencode 2, put the entry below mcp.servers.'],
  },
  claude: {
    label: 'Claude Desktop',
    configFile:
      'claude_desktop_config.json in ~/Library/Application Support/Claude/, %APPDATA%\\Claude\\ or ~/.config/Claude/',
    outer: SERVERS,
    variable: null,
    // Its file does not support URLs.
    remote: () => ({}),
    // Connectors are called from the servers of Anthropic, which cannot reach this machine.
    notes: (url, open) =>
      open ? [] : [`Without a bridge: Settings → Connectors → Add custom connector, with ${url}.`],
  },
  'claude-code': {
    label: 'Claude Code',
    capture: 'claude-code',
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
    label: 'Kimi CLI',
    configFile: '~/.kimi/mcp.json (newer: ~/.kimi-code/mcp.json)',
    outer: SERVERS,
    variable: null,
    remote: (url, headers) => ({ url, transport: 'http', ...headers }),
    notes: () => ['Newer versions also accept bearerTokenEnvVar instead of headers.'],
  },
  codex: {
    label: 'Codex',
    capture: 'codex',
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
    label: 'Gemini CLI',
    configFile: '~/.gemini/settings.json',
    outer: SERVERS,
    variable: '$COMMONPLACE_KEY',
    remote: (httpUrl, headers) => ({ httpUrl, ...headers }),
  },
  cursor: {
    label: 'Cursor',
    capture: 'cursor',
    install: (url) =>
      `cursor://anysphere.cursor-deeplink/mcp/install?name=${ENTRY}&config=${encodeURIComponent(btoa(JSON.stringify({ url })))}`,
    configFile: '~/.cursor/mcp.json',
    outer: SERVERS,
    variable: '${' + 'env:COMMONPLACE_KEY}',
    remote: (url, headers) => ({ url, ...headers }),
  },
  'vs-code': {
    label: 'VS Code and GitHub Copilot',
    capture: 'vscode',
    install: (url) => `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: ENTRY, type: 'http', url }))}`,
    configFile: 'mcp.json in ~/Library/Application Support/Code/User/, %APPDATA%\\Code\\User\\ or ~/.config/Code/User/',
    outer: ['servers'],
    variable: '${' + 'env:COMMONPLACE_KEY}',
    remote: http,
  },
  windsurf: {
    label: 'Windsurf',
    configFile: '~/.codeium/windsurf/mcp_config.json',
    outer: SERVERS,
    variable: '${' + 'env:COMMONPLACE_KEY}',
    remote: (serverUrl, headers) => ({ serverUrl, ...headers }),
  },
  zed: {
    label: 'Zed',
    configFile: '~/.config/zed/settings.json (Windows: %APPDATA%\\Zed\\settings.json)',
    outer: ['context_servers'],
    variable: null,
    remote: (url, headers) => ({ url, ...headers }),
  },
  jetbrains: {
    label: 'JetBrains AI Assistant',
    configFile: MANUAL,
    outer: SERVERS,
    variable: null,
    remote: (url, headers) => ({ url, ...headers }),
    notes: () => ['Settings → Tools → AI Assistant → Model Context Protocol → Add → As JSON.'],
  },
  cline: {
    label: 'Cline',
    configFile: '~/.cline/data/settings/cline_mcp_settings.json (in VS Code: MCP Servers → Configure)',
    outer: SERVERS,
    variable: null,
    remote: (url, headers) => ({ type: 'streamableHttp', url, ...headers }),
  },
  docker: { label: 'Any client, by Docker', configFile: MANUAL, outer: SERVERS, variable: null, remote: () => ({}) },
  generic: { label: 'Any other client', configFile: MANUAL, outer: SERVERS, variable: null, remote: http },
}
