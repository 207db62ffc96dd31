import { execFile, spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedTeam } from '../../contracts/endpoint/session'
import type { Team } from '../../support/access'
import { ROOT } from '../../support/build'

/**
 * The programs of docs/clients/frameworks.md, each in an environment of its own with the newest releases of PyPI. A package that cannot be
 * installed is reported after the run; it fails nothing, since PyPI is not ours.
 */
interface Program {
  readonly title: string
  readonly packages: readonly string[]
  readonly source: string
}

const page = readFileSync(join(ROOT, 'docs/clients/frameworks.md'), 'utf8')
const PROGRAMS: readonly Program[] = [
  ...page.matchAll(/^## (.+)\n\n`pip install ([^`]+)`[^\n]*\n\n```python\n([\s\S]*?)```/gm),
].map(([, title = '', packages = '', source = '']) => ({
  title,
  packages: packages.split(' ').map((name) => name.replaceAll('"', '')),
  source,
}))

const note = (text: string): void => {
  const { COMMONPLACE_TEST_NOTES: notes } = process.env
  if (notes === undefined) console.error(text)
  else appendFileSync(notes, `${text}\n`)
}

/** An environment of Python with these packages, or why there is none. */
function install(folder: string, packages: readonly string[]): string | null {
  const made = spawnSync('python3', ['-m', 'venv', folder], { encoding: 'utf8' })
  if (made.status !== 0) return `python3 -m venv: ${made.stderr || made.error?.message}`
  const args = ['install', '-q', '--retries', '0', '--timeout', '15', '--disable-pip-version-check', ...packages]
  const { status, stderr } = spawnSync(join(folder, 'bin/pip'), args, { encoding: 'utf8', timeout: 300_000 })
  return status === 0 ? null : (stderr.trim().split('\n').at(-1) ?? 'pip failed')
}

/** Runs a program of Python to its end. */
const runPython = (python: string, file: string, env: Record<string, string>) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(python, [file], { env: { ...process.env, ...env }, timeout: 120_000 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : 1, out, err })
    })
  })

let folder: string
let team: Team
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frameworks-'))
  team = await sharedTeam()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('finds five programs on the page', () => {
  expect(PROGRAMS.map(({ packages }) => packages[0])).toEqual([
    ...['mcp', 'fastmcp', 'langchain-mcp-adapters', 'openai-agents', 'pydantic-ai-slim[mcp]'],
  ])
})

describe.each(PROGRAMS)('$title', ({ title, packages, source }) => {
  it('lists the core tools, remembers and finds again, and shows our sentence for a key that does not count', async (context) => {
    const own = join(folder, title.replaceAll(/\W/g, ''))
    const problem = install(own, packages)
    if (problem !== null) {
      note(
        `Not tested: ${title} of docs/clients/frameworks.md, since pip could not install ${packages.join(' ')}: ${problem}`,
      )
      context.skip()
    }
    const file = join(own, 'program.py')
    writeFileSync(file, source)
    const { key } = await team.key('frameworks')
    const run = (COMMONPLACE_KEY: string) =>
      runPython(join(own, 'bin/python'), file, {
        COMMONPLACE_URL: new URL('/mcp/core', team.server.url).href,
        COMMONPLACE_KEY,
      })
    const { code, out, err } = await run(key)
    expect([code, err]).toEqual([0, expect.not.stringContaining('Traceback')])
    expect(out).toMatch(/^10 /)
    expect(out).toContain('The ferry leaves at nine')
    const refused = await run(`${key.slice(0, -1)}x`)
    expect(refused.code).not.toBe(0)
    expect(refused.err).not.toContain(key)
    expect(refused.err).toMatch(/The credential is not valid|401|unauthorized/i)
  }, 600_000)
})
