import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/build'

/** Every command in a document is run by a test, or states which missing requirement prevents that. */
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

const typed: readonly Typed[] = PAGES.flatMap((page) => {
  const text = read(page)
  return [...text.matchAll(/^```(console|sh)\n([\s\S]*?)^```/gm)].flatMap((block) => {
    const before = text.slice(0, block.index).split(/^#+ /m).at(-1) ?? ''
    const lines = (block[2] as string)
      .split('\n')
      .filter((line) => (block[1] === 'sh' ? line !== '' : line.startsWith('$ ')))
    return lines.map((line) => ({ page, before, command: line.replace(/^\$ /, '').replace(/\s+# .*$/, '') }))
  })
})

/** Which test plays a command of this form, with the arguments of a test. */
const PLAYED: readonly (readonly [command: RegExp, test: string])[] = [
  [/^npm start( --( --(port|var) \S+)+)?$/, 'test/e2e/start.test.ts'],
  [/^curl -s http:\/\/localhost:8787\/mcp /, 'test/node/http.test.ts'],
  [/^npm run deploy( -- (--dry-run|--postgres '\S+'))?$/, 'test/unit/deploy.test.ts'],
  [/^npm run dev:postgres$/, 'test/e2e/dev-postgres.test.ts'],
  [/^export DATABASE_URL=\$\(node scripts\/postgres\.mjs start\)$/, 'test/e2e/copy-postgres.test.ts'],
  [/^npm run -s migrate:postgres$/, 'test/node/migrate-postgres.test.ts'],
  [/^export COMMONPLACE_URL=/, 'test/e2e/administration.test.ts'],
  [/commonplace -- (orgs|keys|audit) /, 'test/e2e/administration.test.ts'],
  [/commonplace -- (remember|search|context) "|commonplace -- (undo|open)$/, 'test/e2e/memory-command.test.ts'],
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
  [/^npx commonplace-mcp/, 'test/nightly/node/package-postgres.test.ts'],
  [/^ADMIN_TOKEN=… npx commonplace-mcp /, 'test/nightly/node/package-postgres.test.ts'],
]
/** Programs of others: their requirements are stated, or obvious. */
const FOREIGN = /^(git clone|claude mcp|codex mcp|gemini mcp|code --add-mcp|npx wrangler|docker|printf|ollama) ?/

describe('commands in documents', () => {
  it('are played by a test that is there, or are those of other programs', () => {
    expect(typed.length).toBeGreaterThan(40)
    const unplayed = typed.filter(
      ({ command }) =>
        !FOREIGN.test(command) && !PLAYED.some(([form, test]) => form.test(command) && existsSync(join(ROOT, test))),
    )
    expect(unplayed.map(({ page, command }) => `${page}: ${command}`)).toEqual([])
  })

  it('state if they need an account, docker or a model, which tests do not have', () => {
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
    const unknown = typed.flatMap(({ page, command }) => {
      const script = /npm (?:run )?(?:-s )?([\w:]+)/.exec(command)?.[1]
      const isOurs = script !== undefined && command.includes('npm ') && !command.startsWith('git')
      const [, name = '', rest = ''] = /commonplace(?: --|-mcp) (\w+)(.*)$/.exec(command) ?? []
      const words = name === '' ? [] : [name, ...[...rest.matchAll(/(?<=\s)--[\w-]+/g)].map(([option]) => option)]
      return [
        ...(isOurs && scripts[script] === undefined ? [`${page}: npm run ${script}`] : []),
        ...words.filter((word) => !usage.includes(word)).map((word) => `${page}: ${name} ${word}`),
      ]
    })
    expect(unknown).toEqual([])
  })
})
