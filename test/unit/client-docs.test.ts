import { expect, it } from 'vitest'
import type { SetupClient } from '../../src/domain/setup/client-files'
import { setupOf } from '../../src/domain/setup/clients'
import { snippetOf } from '../../src/domain/setup/snippet'

/** The pages of docs/clients, made from what `commonplace setup` writes: `npm test -- test/unit/client-docs.test.ts -u` makes them anew. */
interface ClientPage {
  readonly file: string
  readonly title: string
  /** As `commonplace setup` names it; null for one that it does not know. */
  readonly setup: SetupClient | null
  /** The quickest way, and with a key. */
  readonly quick: readonly string[]
  readonly notes?: readonly string[]
}

const LOCAL = 'http://localhost:8787/mcp/core'
const DEPLOYED = 'https://memory.example.com/mcp/core'

const PAGES: readonly ClientPage[] = [
  {
    ...{ file: 'claude-code', title: 'Claude Code', setup: 'claude-code' },
    quick: [
      `claude mcp add --transport http commonplace ${LOCAL}`,
      `claude mcp add --transport http commonplace ${DEPLOYED} --header "Authorization: Bearer $KEY"`,
    ],
    notes: [
      'Sessions are captured, and what stands is told at their start, by a plugin: [capture](../capture-clients.md).',
      'Prompts show as `/mcp__commonplace__start_session`; their arguments part at every space.',
    ],
  },
  {
    ...{ file: 'codex', title: 'Codex', setup: 'codex' },
    quick: [
      `codex mcp add commonplace --url ${LOCAL}`,
      `codex mcp add commonplace --url ${DEPLOYED} --bearer-token-env-var COMMONPLACE_KEY`,
    ],
    notes: ['Sessions are captured by the same plugin folder as Claude Code’s: [capture](../capture-clients.md).'],
  },
  { file: 'cursor', title: 'Cursor', setup: 'cursor', quick: [] },
  {
    ...{ file: 'vs-code', title: 'VS Code', setup: null },
    quick: [
      `code --add-mcp '{"name":"commonplace","type":"http","url":"${LOCAL}"}'`,
      `code --add-mcp '{"name":"commonplace","type":"http","url":"${DEPLOYED}","headers":{"Authorization":"Bearer '$KEY'"}}'`,
    ],
    notes: ['A deployment that has OAuth needs no header: VS Code opens the page that asks for the key.'],
  },
  {
    ...{ file: 'gemini', title: 'Gemini CLI', setup: 'gemini' },
    quick: [
      `gemini mcp add --transport http commonplace ${LOCAL}`,
      `gemini mcp add --transport http commonplace ${DEPLOYED} --header "Authorization: Bearer $KEY"`,
    ],
  },
  { file: 'opencode', title: 'OpenCode', setup: 'opencode', quick: [] },
  { file: 'kimi', title: 'Kimi CLI', setup: 'kimi', quick: [] },
  {
    ...{ file: 'claude-desktop', title: 'Claude Desktop', setup: 'claude' },
    quick: [],
    notes: ['A deployment: Settings → Connectors → Add custom connector, the address alone; OAuth asks for the key.'],
  },
  {
    ...{ file: 'chatgpt', title: 'ChatGPT', setup: null },
    quick: [],
    notes: [
      'ChatGPT reaches deployments only, not this machine: Settings → Connectors → Create, with the address',
      '`https://memory.example.com/mcp/connector`. OAuth opens a page that asks for the key.',
      'That address has the two tools that connectors and deep research ask for, `search` and `fetch`; both only read.',
    ],
  },
]

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``

function fileOf(client: SetupClient, open: boolean): string {
  const setup = setupOf(client, { url: open ? LOCAL : DEPLOYED, useDocker: false, open })
  const notes = setup.notes.map((note) => note.replace(/^Or: (.*)$/, 'Or: `$1`').replaceAll(/<[A-Z_]+>/g, '`$&`'))
  return [fence(setup.format, snippetOf(setup)), ...notes].join('\n\n')
}

function pageOf({ title, setup, quick, notes = [] }: ClientPage): string {
  const [local, deployed] = quick
  const written =
    setup === null
      ? []
      : [
          `## In its file`,
          `\`npm run -s commonplace -- setup ${setup}\` writes this into ${setupOf(setup, { url: LOCAL, useDocker: false, open: true }).configFile}, and keeps what stands there; \`--print\` only shows it. On this machine:`,
          fileOf(setup, true),
          'A deployment, with a key:',
          fileOf(setup, false),
        ]
  return [
    `# ${title}`,
    ...(local === undefined ? [] : ['The server on this machine needs no key:', fence('sh', local)]),
    ...(deployed === undefined ? [] : ['A deployment, with a key in `$KEY`:', fence('sh', deployed)]),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
    ...written,
    `[All clients](README.md) · what it can do then: [tools](../tools.md) · a key: [sharing it](../teams.md)`,
    '',
  ].join('\n\n')
}

for (const page of PAGES)
  it(`tells ${page.title} of the server as the command line does`, async () => {
    await expect(pageOf(page).trimEnd().concat('\n')).toMatchFileSnapshot(`../../docs/clients/${page.file}.md`)
  })
