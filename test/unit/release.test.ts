import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isNewer, Refused, releaseOf } from '../../scripts/release/files.mjs'
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
const sources = () => ({
  ...{ package: text('package.json'), lock: text('package-lock.json'), about: text('src/domain/about.ts') },
  ...{ changelog: text('CHANGELOG.md'), migrations },
})

describe('a release', () => {
  it('sets the version wherever it stands, and nowhere else', () => {
    const before = sources()
    const made = releaseOf(before, '1.0.0-rc.1', '2026-11-24')
    expect(JSON.parse(made['package.json'] ?? '').version).toBe('1.0.0-rc.1')
    const lock = JSON.parse(made['package-lock.json'] ?? '')
    expect([lock.version, lock.packages[''].version]).toEqual(['1.0.0-rc.1', '1.0.0-rc.1'])
    expect(made['src/domain/about.ts']).toContain("version: '1.0.0-rc.1'")
    const lines = (one: string, other: string) => {
      const others = other.split('\n')
      return one.split('\n').filter((line, i) => line !== others[i])
    }
    expect(lines(made['package-lock.json'] ?? '', before.lock)).toHaveLength(2)
    expect(lines(made['package.json'] ?? '', before.package)).toHaveLength(1)
  })

  it('closes the changelog under its version and day, with room for what comes', () => {
    const made = releaseOf(sources(), '1.0.0-rc.1', '2026-11-24')
    expect(made['CHANGELOG.md']).toMatch(/^# Changelog\n\n## Unreleased\n\n## 1\.0\.0-rc\.1 \(2026-11-24\)\n\n\* /)
  })

  it('refuses a version that is none or not newer, and a changelog that tells nothing', () => {
    expect(() => releaseOf(sources(), '1.0', '2026-11-24')).toThrow(Refused)
    expect(() => releaseOf(sources(), '0.1.0', '2026-11-24')).toThrow('not newer than')
    expect(() =>
      releaseOf({ ...sources(), changelog: '# Changelog\n\n## Unreleased\n\n## 0.1.0\n' }, '1.0.0', '2026-11-24'),
    ).toThrow('tells nothing')
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
    const said = execFileSync(process.execPath, [join(ROOT, 'scripts', 'release.mjs'), '1.0.0-rc.1', '--dry-run'], {
      encoding: 'utf8',
    })
    expect(said).toContain('migrations/released.json')
    expect(said).toContain('v1.0.0-rc.1')
    expect(JSON.parse(text('package.json')).version).toBe('0.1.0')
  })
})

it('keeps every migration of the last release as it was, so that its databases are brought on', () => {
  const file = join(ROOT, 'migrations', 'released.json')
  if (!existsSync(file)) return
  const released: { version: string; migrations: Record<string, string> } = JSON.parse(readFileSync(file, 'utf8'))
  const now = JSON.parse(releaseOf(sources(), '999.0.0', '2026-11-24')['migrations/released.json'] ?? '').migrations
  for (const [name, hash] of Object.entries(released.migrations)) expect([name, now[name]]).toEqual([name, hash])
})
