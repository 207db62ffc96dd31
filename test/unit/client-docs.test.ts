import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OTHER_CLIENTS, SETUP_CLIENTS, type SetupClient, SHAPES } from '../../src/integrations/setup/client-files'
import { setupOf, snippetOf } from '../../src/integrations/setup/client-setup'

/** The pages of docs/clients, generated from what `commonplace setup` writes. `npm test -- test/unit/client-docs.test.ts -u` updates them. */
interface ClientPage {
  readonly file: string
  readonly title: string
  /** Its name in `commonplace setup`; null for a client that it does not support. */
  readonly setup: SetupClient | null
  /** The fastest way, and one with a key. */
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
      `claude mcp add --transport http commonplace ${DEPLOYED} --header "Authorization: Bearer $COMMONPLACE_KEY"`,
    ],
    notes: [
      'A plugin captures sessions and adds memories to them: [capture](../capture-clients.md).',
      'Prompts are commands such as `/mcp__commonplace__start_session`. Claude Code ends an argument at a space, so join words with hyphens.',
    ],
  },
  {
    ...{ file: 'codex', title: 'Codex', setup: 'codex' },
    quick: [
      `codex mcp add commonplace --url ${LOCAL}`,
      `codex mcp add commonplace --url ${DEPLOYED} --bearer-token-env-var COMMONPLACE_KEY`,
    ],
    notes: ['The plugin of Claude Code also captures sessions of Codex: [capture](../capture-clients.md).'],
  },
  { file: 'cursor', title: 'Cursor', setup: 'cursor', quick: [] },
  {
    ...{ file: 'vs-code', title: 'VS Code', setup: 'vs-code' },
    quick: [
      `code --add-mcp '{"name":"commonplace","type":"http","url":"${LOCAL}"}'`,
      `code --add-mcp '{"name":"commonplace","type":"http","url":"${DEPLOYED}","headers":{"Authorization":"Bearer '$COMMONPLACE_KEY'"}}'`,
    ],
    notes: ['A deployment with OAuth needs no header: VS Code opens a page that asks for the key.'],
  },
  {
    ...{ file: 'gemini', title: 'Gemini CLI', setup: 'gemini' },
    quick: [
      `gemini mcp add --transport http commonplace ${LOCAL}`,
      `gemini mcp add --transport http commonplace ${DEPLOYED} --header "Authorization: Bearer $COMMONPLACE_KEY"`,
    ],
  },
  { file: 'windsurf', title: 'Windsurf', setup: 'windsurf', quick: [] },
  { file: 'zed', title: 'Zed', setup: 'zed', quick: [] },
  { file: 'jetbrains', title: 'JetBrains AI Assistant', setup: 'jetbrains', quick: [] },
  { file: 'cline', title: 'Cline', setup: 'cline', quick: [] },
  { file: 'opencode', title: 'OpenCode', setup: 'opencode', quick: [] },
  { file: 'kimi', title: 'Kimi CLI', setup: 'kimi', quick: [] },
  {
    ...{ file: 'claude-desktop', title: 'Claude Desktop', setup: 'claude' },
    quick: [],
    notes: [
      'For a deployment: Settings → Connectors → Add custom connector, only the address. OAuth asks for the key.',
    ],
  },
  {
    ...{ file: 'chatgpt', title: 'ChatGPT', setup: null },
    quick: [],
    notes: [
      'ChatGPT can use deployments only, not a server on your machine. Open Settings → Connectors → Create, and enter',
      '`https://memory.example.com/mcp/connector`. OAuth opens a page that asks for the key.',
      'This endpoint has the two tools that connectors and deep research require, `search` and `fetch`. Both only read.',
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
  const { install, configFile } = setup === null ? { install: undefined, configFile: '' } : SHAPES[setup]
  const written =
    setup === null
      ? []
      : [
          ...(install === undefined
            ? []
            : [
                '## One click',
                'These addresses open the client and add the server, on this machine or in a deployment. They contain no key: OAuth asks for it.',
                fence('text', `${install(LOCAL)}\n${install(DEPLOYED)}`),
              ]),
          `## Configuration file`,
          configFile === '(manual)'
            ? `\`npm run -s commonplace -- setup ${setup}\` prints this. For a server on this machine:`
            : `\`npm run -s commonplace -- setup ${setup}\` writes this into ${configFile} and changes nothing else in the file; \`--print\` only shows it. For a server on this machine:`,
          fileOf(setup, true),
          'For a deployment, with a key:',
          fileOf(setup, false),
        ]
  return [
    `# ${title}`,
    ...(local === undefined ? [] : ['A server on this machine needs no key:', fence('sh', local)]),
    ...(deployed === undefined ? [] : ['For a deployment, with a key in `$COMMONPLACE_KEY`:', fence('sh', deployed)]),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
    ...written,
    `[All clients](README.md) · [tools](../tools.md) · [keys](../teams.md)`,
    '',
  ].join('\n\n')
}

for (const page of PAGES)
  it(`describes ${page.title} as the command line sets it up`, async () => {
    await expect(pageOf(page).trimEnd().concat('\n')).toMatchFileSnapshot(`../../docs/clients/${page.file}.md`)
  })

it('has a page for every client of the list that has a file, and a line for every other', () => {
  const withPage = PAGES.flatMap(({ setup }) => setup ?? [])
  const needed = SETUP_CLIENTS.filter((client) => !['docker', 'generic'].includes(client))
  expect(withPage.toSorted()).toEqual(needed.toSorted())
  const readme = readFileSync('docs/clients/README.md', 'utf8')
  for (const { label } of [...OTHER_CLIENTS, ...needed.map((client) => SHAPES[client])]) expect(readme).toContain(label)
  for (const { file } of PAGES) {
    expect(readme).toContain(`(${file}.md)`)
    expect(existsSync(`docs/clients/${file}.md`)).toBe(true)
  }
})

it('names the same clients as capture and as the files of this machine', async () => {
  const captured = Object.values(SHAPES).flatMap(({ capture }) => capture ?? [])
  const { CAPTURE_CLIENTS } = await import('../../src/cli/capture/clients.mjs')
  // Copilot CLI captures by the file of VS Code's agent plugin and has no file of its own here.
  expect(captured.toSorted()).toEqual(
    Object.keys(CAPTURE_CLIENTS)
      .filter((name) => name !== 'copilot')
      .toSorted(),
  )
  const { PLACED_CLIENTS } = await import('../../src/cli/setup/places.mjs')
  const placed = SETUP_CLIENTS.filter((client) => SHAPES[client].configFile !== '(manual)')
  expect([...PLACED_CLIENTS].sort()).toEqual(placed.toSorted())
})

it('installs with one click, by the addresses that Cursor and VS Code document, without a key', () => {
  // cursor.com/docs/mcp/install-links: name, and the configuration as base64 of JSON.
  const cursor = new URL(SHAPES.cursor.install?.(DEPLOYED) ?? '')
  expect([cursor.protocol, cursor.host, cursor.pathname]).toEqual([
    'cursor:',
    'anysphere.cursor-deeplink',
    '/mcp/install',
  ])
  expect(cursor.searchParams.get('name')).toBe('commonplace')
  expect(JSON.parse(atob(cursor.searchParams.get('config') ?? ''))).toEqual({ url: DEPLOYED })
  // code.visualstudio.com/api/extension-guides/ai/mcp: the configuration as encoded JSON.
  const [scheme, config] = (SHAPES['vs-code'].install?.(DEPLOYED) ?? '').split('?')
  expect([scheme, JSON.parse(decodeURIComponent(config ?? ''))]).toEqual([
    'vscode:mcp/install',
    { name: 'commonplace', type: 'http', url: DEPLOYED },
  ])
})
