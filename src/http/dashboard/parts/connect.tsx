import { SETUP_CLIENTS, type SetupClient } from '../../../domain/setup/client-files'
import { PLACEHOLDER, setupOf } from '../../../domain/setup/clients'
import { snippetOf } from '../../../domain/setup/snippet'
import { Copyable } from './common'

/** How clients are told of this server: lines to copy. */
export interface Connecting {
  readonly origin: string
  readonly open: boolean
  /** A key that was just made, to stand in the lines; null where the reader has to fill in their own. */
  readonly key: string | null
}

const LABELS: Readonly<Record<SetupClient, string>> = {
  opencode: 'OpenCode',
  claude: 'Claude Desktop',
  'claude-code': 'Claude Code',
  kimi: 'Kimi CLI',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  cursor: 'Cursor',
  docker: 'Any client, by Docker',
  generic: 'Any other client',
}

/** The few tools of every day: what clients pay for their definitions with each request. */
export const endpointOf = (origin: string): string => `${origin}/mcp/core`

/** The one line of Claude Code. */
export const claudeCodeLine = ({ origin, open, key }: Connecting): string =>
  `claude mcp add --transport http commonplace ${endpointOf(origin)}${
    open ? '' : ` --header "Authorization: Bearer ${key ?? '<key>'}"`
  }`

function Client({ client, of: { origin, open, key } }: { client: SetupClient; of: Connecting }) {
  const setup = setupOf(client, { url: endpointOf(origin), useDocker: false, open })
  const filled = (text: string) => (key === null ? text : text.replaceAll(PLACEHOLDER, key))
  return (
    <details>
      <summary>{LABELS[client]}</summary>
      <p class="soft">{setup.configFile === '(manual)' ? 'In its configuration:' : `In ${setup.configFile}:`}</p>
      <Copyable text={filled(snippetOf(setup))} label={`Configuration of ${LABELS[client]}`} />
      {setup.notes.map((note) => (
        <p class="hint">{filled(note)}</p>
      ))}
    </details>
  )
}

/** Lines for nine clients; those that read the key from the environment say so by name. */
export const Clients = ({ of }: { of: Connecting }) => (
  <div>
    <p class="soft">For Claude Code, in a terminal:</p>
    <Copyable text={claudeCodeLine(of)} label="Command for Claude Code" />
    {of.key === null ? null : (
      <p class="hint">Lines that name COMMONPLACE_KEY read the key from that variable of your shell.</p>
    )}
    <div class="clients more">
      {SETUP_CLIENTS.map((client) => (
        <Client client={client} of={of} />
      ))}
    </div>
  </div>
)
