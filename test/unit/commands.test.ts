import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/build'

/** Every command in a document is run by a test, or the document states the requirement that prevents that. */
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const pagesBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return path.endsWith('contracts') ? [] : pagesBelow(path)
    return entry.name.endsWith('.md') ? [relative('.', path)] : []
  })
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pagesBelow('docs')]

interface Typed {
  readonly page: string
  readonly command: string
  /** The text before its block, back to a heading. */
  readonly before: string
}

interface Block {
  readonly page: string
  readonly before: string
  readonly language: string
  readonly lines: readonly string[]
}

const blocks: readonly Block[] = PAGES.flatMap((page) => {
  const text = read(page)
  return [...text.matchAll(/^ *```([^\n]*)\n([\s\S]*?)^ *```/gm)].map(({ index, 1: language = '', 2: body = '' }) => ({
    ...{ page, language, before: text.slice(0, index).split(/^#+ /m).at(-1) ?? '' },
    lines: body.split('\n').map((line) => line.trimStart()),
  }))
})

const typed: readonly Typed[] = blocks.flatMap(({ page, before, language, lines }) =>
  lines
    .filter((line) => (language === 'sh' ? line !== '' : language === 'console' && line.startsWith('$ ')))
    .map((line) => line.replace(/^\$ /, '').replace(/\s+# .*$/, ''))
    // The same program, as docs/command-line.md defines it for other folders.
    .map((line) => ({ page, before, command: line.replace(/^commonplace /, 'npm run -s commonplace -- ') })),
)

/** Languages of blocks without commands for a terminal. */
const OTHER_LANGUAGES = ['js', 'json', 'markdown', 'python', 'text', 'toml']

/** Commands within sentences and tables, whose placeholders are words. */
const inline: readonly Typed[] = PAGES.flatMap((page) =>
  [...read(page).matchAll(/`((?:npm run|npm start|npm test|npx commonplace-mcp|commonplace) ?[^`\n]*)`/g)].map(
    ([, command = '']) => ({ page, command, before: '' }),
  ),
)

/** The tests that run commands of each form, with test arguments. */
const PLAYED: readonly (readonly [command: RegExp, test: string])[] = [
  [/^npm run test:unit$/, 'test/unit/commands.test.ts'],
  [/^npm start( --( --(port|var) \S+)+)?$/, 'test/e2e/start.test.ts'],
  [/^curl -s http:\/\/localhost:8787\/mcp /, 'test/node/http.test.ts'],
  [/^curl -s .*COMMONPLACE_URL\/api\/v1\/(orgs\/-|openapi)/, 'test/node/rest.test.ts'],
  [/^npm run deploy( -- (--dry-run|--postgres '\S+'))?$/, 'test/unit/deploy.test.ts'],
  [/^npm run dev:postgres$/, 'test/e2e/dev-postgres.test.ts'],
  [/^export DATABASE_URL=\$\(node scripts\/postgres\.mjs start\)$/, 'test/e2e/copy-postgres.test.ts'],
  [/^npm run -s migrate:postgres$/, 'test/node/migrate-postgres.test.ts'],
  [/^export COMMONPLACE_URL=/, 'test/e2e/administration.test.ts'],
  [/commonplace(?: --|-mcp) (orgs|keys|people|usage|audit) /, 'test/e2e/administration.test.ts'],
  [/commonplace -- projects( |$)/, 'test/e2e/administration.test.ts'],
  [/commonplace -- (remember|search|context|why) "|commonplace -- (undo|open)$/, 'test/e2e/memory-command.test.ts'],
  [/commonplace -- test /, 'test/e2e/test-command.test.ts'],
  [/commonplace -- check( --dry-run)?$/, 'test/e2e/check-command.test.ts'],
  [/commonplace -- learn$/, 'test/e2e/learn-command.test.ts'],
  [/commonplace -- completion \w+\)?/, 'test/e2e/command-line.test.ts'],
  [/^node scripts\/release\.mjs 1\.0\.0$/, 'test/unit/release.test.ts'],
  [/commonplace -- reembed$/, 'test/e2e/command-line.test.ts'],
  [/commonplace -- model (list|pull)/, 'test/node/model-command.test.ts'],
  [/commonplace -- copy /, 'test/e2e/copy-postgres.test.ts'],
  [/commonplace -- watch$/, 'test/e2e/watch-command.test.ts'],
  [/commonplace -- index /, 'test/e2e/index-command.test.ts'],
  [/commonplace -- setup \w+$/, 'test/e2e/setup-command.test.ts'],
  [/commonplace -- setup \w+ --capture/, 'test/e2e/capture-command.test.ts'],
  [/commonplace -- (export --format markdown|import memories)/, 'test/node/transfer.test.ts'],
  [/commonplace -- (export|backup|restore) /, 'test/node/backups.test.ts'],
  [/commonplace -- (verify|import) /, 'test/node/import-command.test.ts'],
  [/^node bench\/models\/judge\.mjs /, 'test/node/judge-command.test.ts'],
  [/^npx commonplace-mcp/, 'test/nightly/node/package-postgres.test.ts'],
  [/^ADMIN_TOKEN=… npx commonplace-mcp /, 'test/nightly/node/package-postgres.test.ts'],
]
/** Other programs, whose requirements are stated or obvious. */
const FOREIGN =
  /^(alias |export \S*=?\$\((?:openssl|grep) |git clone|claude mcp|codex mcp|gemini mcp|code --add-mcp|npx wrangler|docker|printf|ollama) ?/

/** A test with the contracts that it imports. */
function textsOf(test: string): string {
  const text = read(test)
  const imports = [...text.matchAll(/from '([./]+\/contracts\/[^']+)'/g)].map(([, path = '']) => join(test, '..', path))
  return [text, ...imports.map((path) => read(`${path}.ts`))].join('\n')
}

describe('commands in documents', () => {
  it('are played by a test that is there, or are those of other programs', () => {
    expect(typed.length).toBeGreaterThan(40)
    const unplayed = typed.filter(
      ({ command }) =>
        !FOREIGN.test(command) && !PLAYED.some(([form, test]) => form.test(command) && existsSync(join(ROOT, test))),
    )
    expect(unplayed.map(({ page, command }) => `${page}: ${command}`)).toEqual([])
  })

  it('are in blocks that this test reads: `sh` for commands only, `console` for commands with what they print', () => {
    const unread = blocks.filter(({ language }) => !['sh', 'console', ...OTHER_LANGUAGES].includes(language))
    const silent = blocks.filter(
      ({ language, lines }) => language === 'console' && !lines.some((l) => l.startsWith('$ ')),
    )
    // A command in a block of another language would not be found.
    const hidden = blocks.filter(
      ({ language, lines }) =>
        OTHER_LANGUAGES.includes(language) && lines.some((line) => /^(\$ |npm |npx |commonplace )/.test(line)),
    )
    const indented = PAGES.filter((page) => /^ {4}(\$ |npm |npx |commonplace )/m.test(read(page)))
    expect([...unread, ...silent, ...hidden].map(({ page, language }) => `${page}: ${language}`)).toEqual([])
    expect(indented).toEqual([])
  })

  it('include a change of CONTRIBUTING.md that fails the test which it names', () => {
    const page = read('CONTRIBUTING.md')
    const [, file = '', from = ''] = /in `([^`]+)`, replace `([^`]+)` with/.exec(page) ?? []
    const [, test = '', title = ''] = /FAILED unit: (\S+) > (.*)/.exec(page) ?? []
    const [, expected = ''] = /Expected: "(.*)"/.exec(page) ?? []
    expect([read(file).includes(from), expected.includes(from)]).toEqual([true, true])
    // The title of the test follows that of its group.
    expect(read(test)).toContain(`'${expected}'`)
    const titles = [...read(test).matchAll(/(?:describe|it|test)\('([^']+)'/g)].map(([, own = '']) => own)
    expect(titles.some((own) => title === own || title.endsWith(own))).toBe(true)
  })

  it('are played by a test that names the command', () => {
    const silent = typed.flatMap(({ page, command }) => {
      const [, word] = /(?:commonplace(?: --|-mcp)) ([a-z]+)/.exec(command) ?? []
      const test = PLAYED.find(([form]) => form.test(command))?.[1]
      return word === undefined || test === undefined || textsOf(test).includes(`'${word}'`)
        ? []
        : [`${page}: ${command} (${test})`]
    })
    expect(silent).toEqual([])
  })

  it('state that they need an account, docker or a model, which tests do not have', () => {
    const needs = typed.filter(({ command }) =>
      /^(npx wrangler|npm run deploy( -- --postgres .*)?$|docker|ollama)/.test(command),
    )
    const silent = needs.filter(({ before }) => !/\*?needs?\b[^.]*(account|docker|Ollama)/i.test(before))
    expect(silent.map(({ page, command }) => `${page}: ${command}`)).toEqual([])
  })

  it('name scripts of package.json, and commands and options that the command line knows', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const usage = execFileSync(process.execPath, [join(ROOT, 'src', 'cli', 'commonplace.mjs'), '--help'], {
      encoding: 'utf8',
    })
    const unknown = [...typed, ...inline].flatMap(({ page, command }) => {
      const script = /npm (?:run )?(?:-s )?([\w:-]+)/.exec(command)?.[1]
      const isOurs = script !== undefined && command.includes('npm ') && !command.startsWith('git')
      const [, name = '', rest = ''] = /(?:commonplace(?: --|-mcp)|^commonplace) (\w+)(.*)$/.exec(command) ?? []
      const words = name === '' ? [] : [name, ...[...rest.matchAll(/(?<=\s)--[\w-]+/g)].map(([option]) => option)]
      return [
        ...(isOurs && scripts[script] === undefined ? [`${page}: npm run ${script}`] : []),
        ...words.filter((word) => !usage.includes(word)).map((word) => `${page}: ${name} ${word}`),
      ]
    })
    expect(unknown).toEqual([])
  })
})
