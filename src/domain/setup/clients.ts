import { ENTRY, type Program, type SetupClient, SHAPES } from './client-files'

/** What stands in for the key where a client cannot read its environment; the command line fills it in. */
export const PLACEHOLDER = '<COMMONPLACE_KEY>'

interface SetupChoice {
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

const programEntry = ({ command, args, env }: Program): Record<string, unknown> => ({
  ...{ command, args },
  ...(Object.keys(env).length === 0 ? {} : { env }),
})

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
      ...(notes?.(url, open) ?? []),
      ...(hidden
        ? ['In a container localhost is the container itself: name this machine by host.docker.internal.']
        : []),
      ...(!open && JSON.stringify(entry).includes(PLACEHOLDER) ? [`Put your key in the place of ${PLACEHOLDER}.`] : []),
    ],
  }
}
