import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FILES, isNewer, Refused, releaseOf } from '../../scripts/release/files.mjs'
import { ROOT } from '../support/build'

const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const migrations = Object.fromEntries(
  ['d1', 'postgres'].flatMap((engine) =>
    readdirSync(join(ROOT, 'migrations', engine)).map((name) => [
      `${engine}/${name}`,
      text(`migrations/${engine}/${name}`),
    ]),
  ),
)
/** The files of this checkout, with unreleased changes. */
const sources = (changelog = text('CHANGELOG.md').replace('## Unreleased\n', '## Unreleased\n\n* A change.\n')) => ({
  files: Object.fromEntries(FILES.map((path) => [path, path === 'CHANGELOG.md' ? changelog : text(path)])),
  ...{ migrations, commit: 'c0ffee' },
})
const { version: CURRENT }: { version: string } = JSON.parse(text('package.json'))
const NEXT = '999.0.0-rc.1'

describe('the changelog', () => {
  it('has one line of at most 160 characters for each change, under the headings of Keep a Changelog, and of subjects in the first release', () => {
    const lines = text('CHANGELOG.md').split('\n')
    const isKnown = (line: string): boolean =>
      line === '' ||
      /^(# Changelog|## Unreleased|## \S+ - \d{4}-\d\d-\d\d|The first release(?: candidate\.|: .+))$/.test(line) ||
      /^### (Added|Changed|Deprecated|Removed|Fixed|Security)$/.test(line) ||
      /^### (What agents can do|Capture and review|People and operators|Upgrading from \S+)$/.test(line) ||
      (line.startsWith('* ') && line.length <= 160)
    expect(lines.filter((line) => !isKnown(line))).toEqual([])
  })
})

describe('a release', () => {
  it('sets every occurrence of the version, and changes nothing else', () => {
    const before = sources()
    const made = releaseOf(before, NEXT, '2026-11-24')
    const changed = (path: string) => {
      const others = (before.files[path] ?? '').split('\n')
      return (made[path] ?? '').split('\n').filter((line, i) => line !== others[i])
    }
    for (const path of FILES.filter((name) => name !== 'CHANGELOG.md')) expect(changed(path).join('\n')).toContain(NEXT)
    expect(FILES.filter((name) => name !== 'CHANGELOG.md').flatMap(changed)).toHaveLength(FILES.length + 2)
    const lock = JSON.parse(made['package-lock.json'] ?? '')
    expect([lock.version, lock.packages[''].version]).toEqual([NEXT, NEXT])
    expect(JSON.parse(made['migrations/released.json'] ?? '')).toMatchObject({ version: NEXT, commit: 'c0ffee' })
    // Files that a release does not edit do not contain our version.
    const others = execFileSync('git', ['grep', '-lF', `'${CURRENT}'`, '--', 'src', 'scripts', 'plugins'], {
      ...{ cwd: ROOT, encoding: 'utf8' },
    }).split('\n')
    expect(others.filter((path) => path !== '' && !FILES.includes(path))).toEqual([])
  })

  it('closes the changelog under its version and day, with an empty Unreleased section', () => {
    const made = releaseOf(sources(), NEXT, '2026-11-24')
    expect(made['CHANGELOG.md']).toMatch(/^# Changelog\n\n## Unreleased\n\n## 999\.0\.0-rc\.1 - 2026-11-24\n\n\* /)
  })

  it('refuses an invalid or older version, an empty changelog, and a file without its version', () => {
    expect(() => releaseOf(sources(), '1.0', '2026-11-24')).toThrow(Refused)
    expect(() => releaseOf(sources(), CURRENT, '2026-11-24')).toThrow('not newer than')
    expect(() => releaseOf(sources('# Changelog\n\n## Unreleased\n\n## 0.1.0\n'), NEXT, '2026-11-24')).toThrow(
      'has no entries',
    )
    const { files, ...rest } = sources()
    expect(() => releaseOf({ ...rest, files: { ...files, 'server.json': '{}' } }, NEXT, '2026-11-24')).toThrow(
      'server.json contains the version',
    )
  })

  it('orders versions as Semantic Versioning does', () => {
    const order = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
    ]
    for (const [i, version] of order.entries())
      for (const [j, other] of order.entries())
        expect([version, other, isNewer(version, other)]).toEqual([version, other, i > j])
  })

  it('can be rehearsed without changing anything', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'scripts', 'release.mjs'), NEXT, '--dry-run'],
      { encoding: 'utf8' },
    )
    // Right after a release the changelog has no entries yet.
    if (/## Unreleased\s+## /.test(text('CHANGELOG.md')))
      expect([status, stderr]).toEqual([2, expect.stringContaining('has no entries')])
    else {
      expect(stdout).toContain('migrations/released.json')
      expect(stdout).toContain(`v${NEXT}`)
    }
    expect(JSON.parse(text('package.json')).version).toBe(CURRENT)
  })
})

const releasedFile = join(ROOT, 'migrations', 'released.json')
const released: { migrations: Record<string, string> } | null = existsSync(releasedFile)
  ? JSON.parse(readFileSync(releasedFile, 'utf8'))
  : null

it.runIf(released !== null)(
  'keeps every migration of the last release as it was, so that its databases can be migrated',
  () => {
    const now = JSON.parse(releaseOf(sources(), NEXT, '2026-11-24')['migrations/released.json'] ?? '').migrations
    const before = released?.migrations ?? {}
    expect(Object.keys(before)).not.toEqual([])
    for (const [name, hash] of Object.entries(before)) expect([name, now[name]]).toEqual([name, hash])
  },
)

/**
 * Statements that remove or change parts that the last release uses; triggers are replaced by `DROP TRIGGER`, which it
 * does not notice.
 */
const CONTRACTS = /\bDROP\s+(TABLE|COLUMN|VIEW|FUNCTION)\b|\bRENAME\b|\bALTER\s+COLUMN\b|\bSET\s+NOT\s+NULL\b/i
/** A column that the last release does not fill. */
const UNFILLED = /\bADD\s+COLUMN\b(?![^;,]*\b(DEFAULT|GENERATED)\b)[^;,]*\bNOT\s+NULL\b/i

it.runIf(released !== null)('only adds to the schema of the last release, whose Worker continues to run', () => {
  const fresh = Object.entries(migrations).filter(([name]) => released?.migrations[name] === undefined)
  // Parts that the last release no longer uses can be removed: a line of the file states that, and since which release.
  const broken = fresh.filter(
    ([, sql]) => (CONTRACTS.test(sql) || UNFILLED.test(sql)) && !/^-- contract: unused since \d+\.\d+/m.test(sql),
  )
  expect(broken.map(([name]) => name)).toEqual([])
})
