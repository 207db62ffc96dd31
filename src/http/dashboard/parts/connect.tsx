import { OTHER_CLIENTS, SETUP_CLIENTS, type SetupClient, SHAPES } from '../../../integrations/setup/client-files'
import { PLACEHOLDER, setupOf, snippetOf } from '../../../integrations/setup/client-setup'
import { Copyable } from './common'

/** Lines to copy that connect clients to this server. */
export interface Connecting {
  readonly origin: string
  readonly open: boolean
  /** A key that was just made, to insert in the lines; null for a placeholder. */
  readonly key: string | null
}

/** The tools for daily use, to limit the tokens that tool definitions cost a client with each request. */
export const endpointOf = (origin: string): string => `${origin}/mcp/core`

/** The command for Claude Code. */
export const claudeCodeLine = ({ origin, open, key }: Connecting): string =>
  `claude mcp add --transport http commonplace ${endpointOf(origin)}${
    open ? '' : ` --header "Authorization: Bearer ${key ?? '<key>'}"`
  }`

function Client({ client, of: { origin, open, key } }: { client: SetupClient; of: Connecting }) {
  const setup = setupOf(client, { url: endpointOf(origin), useDocker: false, open })
  const { label, install } = SHAPES[client]
  const filled = (text: string) => (key === null ? text : text.replaceAll(PLACEHOLDER, key))
  return (
    <details>
      <summary>{label}</summary>
      {install === undefined ? null : (
        <p>
          <a class="button" href={install(endpointOf(origin))}>
            Add to {label}
          </a>
        </p>
      )}
      <p class="soft">{setup.configFile === '(manual)' ? 'In its configuration:' : `In ${setup.configFile}:`}</p>
      <Copyable text={filled(snippetOf(setup))} label={`Configuration of ${label}`} />
      {setup.notes.map((note) => (
        <p class="hint">{filled(note)}</p>
      ))}
    </details>
  )
}

/** Lines for every supported client; those that read the key from the environment name its variable. */
export const Clients = ({ of }: { of: Connecting }) => (
  <div>
    <p class="soft">For Claude Code, in a terminal:</p>
    <Copyable text={claudeCodeLine(of)} label="Command for Claude Code" />
    {of.key === null ? null : (
      <p class="hint">Lines with COMMONPLACE_KEY read the key from that environment variable.</p>
    )}
    <div class="clients more">
      {SETUP_CLIENTS.map((client) => (
        <Client client={client} of={of} />
      ))}
      {OTHER_CLIENTS.map(({ label, how }) => (
        <details>
          <summary>{label}</summary>
          <p class="hint">{how(endpointOf(of.origin))}</p>
        </details>
      ))}
    </div>
  </div>
)
