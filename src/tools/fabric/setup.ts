import * as z from 'zod'
import { SETUP_CLIENTS } from '../../integrations/setup/client-files'
import { defineTool } from '../define-tool'
import { flag } from '../fields'
import { fabric } from './family'
import { fabricOutput } from './memory-serializer'

/** Accepts only URLs without characters that a shell interprets, because the answer shows a command. */
const isWebAddress = (text: string): boolean =>
  /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[\p{L}\p{N}_.~:/?#@%+,=[\]-]+$/u.test(text) && URL.canParse(text)

export const setup = defineTool({
  family: fabric,
  name: 'context_setup',
  title: 'Set up a client',
  description:
    'Show how to add this server to a coding client: snippet, file, and the command that writes it. Changes nothing.',
  example: { cli: 'codex' },
  promise: 'FABRIC-134',
  budget: { tokens: 170, trips: 1, reads: [5, 5], writes: 0 },
  input: z.strictObject({
    cli: z.enum([...SETUP_CLIENTS, 'vscode']).meta({ description: 'The client', enum: [...SETUP_CLIENTS] }),
    serverPath: z.string().optional().meta({ description: 'URL of another server' }),
    useDocker: flag(false, 'Through a bridge in a container'),
    preview: flag(false, 'Snippet only'),
  }),
  output: fabricOutput({
    success: z.boolean(),
    written: z.boolean(),
    preview: z.boolean(),
    cli: z.string(),
    useDocker: z.boolean(),
    configFile: z.string(),
    snippet: z.string(),
    command: z.string(),
    restartRequired: z.boolean(),
    message: z.string(),
    warnings: z.array(z.string().meta({ description: 'Warning' })).meta({ description: 'Warnings' }),
  }),
  async handler({ origin, config }, { cli: name, serverPath, useDocker, preview }) {
    const { setupOf, snippetOf } = await import('../../integrations/setup/client-setup')
    const cli = name === 'vscode' ? 'vs-code' : name
    const named = serverPath?.trim() ?? ''
    const other = isWebAddress(named) ? named : null
    const url = other ?? `${origin}/mcp/fabric`
    const made = setupOf(cli, { url, useDocker, open: config.authMode === 'open' && other === null })
    const { configFile } = made
    const snippet = snippetOf(made)
    // The URL includes its path: the command adds the core endpoint to a bare origin.
    const command = `npm run commonplace -- setup ${cli} --url ${url}${useDocker ? ' --docker' : ''}`
    const how =
      configFile === '(manual)'
        ? `Add this to your client's own file; \`${command}\` prints it in a checkout of Commonplace. Then restart the client.`
        : `Add this to ${configFile}, or let \`${command}\` do it in a checkout of Commonplace; then restart the client.`
    const message = [
      how,
      ...made.notes,
      ...(other === null ? [`${origin}/mcp has the tools of all families.`] : []),
    ].join(' ')
    const warnings =
      named === '' || other !== null ? {} : { warnings: ['serverPath is not an http(s) URL and was ignored'] }
    if (preview) return { preview: true, cli, useDocker, configFile, snippet, message, ...warnings }
    return {
      ...{ success: true, written: false, cli, configFile, snippet, command, restartRequired: true, message },
      ...warnings,
    }
  },
})
