import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../../scripts/ports.mjs'
import { ROOT } from '../../support/build'
import { type LocalRegistry, startLocalRegistry } from '../../support/local-registry'
import { INHERITED, serveProcess } from '../../support/serve-process'

/**
 * `npx commonplace-mcp` as a person types it: published to a registry on loopback by the commands of docs/releasing.md, fetched with an
 * empty cache, upgraded and taken back by docs/upgrading.md. It fails where npm cannot reach a registry for what the package depends on.
 */
const PATIENCE = 900_000
const NAME = 'commonplace-mcp'
const OLDER = '1.0.0'
const NEWER = '1.0.1'

describe('the package in a registry', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-registry-'))
  const [place, home, data] = ['user', 'home', 'data'].map((name) => join(folder, name)) as [string, string, string]
  let registry: LocalRegistry
  let env: Record<string, string>
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...INHERITED, ...env },
    })
  const npx = (...args: string[]) =>
    execFileSync('npx', ['--yes', ...args], {
      ...{ cwd: place, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
      env: { ...INHERITED, ...env },
    })
  const serve = async (spec: string, ...args: string[]) => {
    const port = await freePort()
    return serveProcess(['npx', '--yes', spec, '--port', String(port), ...args], port, { cwd: place, env })
  }
  /** Packs a version of this checkout that was built once. */
  const pack = (source: string, version: string) => {
    const file = join(source, 'package.json')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), version }))
    npm(source, 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder)
    return join(folder, `${NAME}-${version}.tgz`)
  }

  beforeAll(async () => {
    for (const path of [place, home]) mkdirSync(path)
    registry = await startLocalRegistry(folder, NAME)
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
    env = { ...registry.env, PATH, HOME: home, COMMONPLACE_DATA: data, EMBEDDING_PROVIDER: 'local' }
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, stdio: 'pipe' })
    const built = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    execFileSync('tar', ['xzf', join(folder, built), '-C', folder])
    const source = join(folder, 'package')
    npm(folder, 'publish', pack(source, OLDER))
    pack(source, NEWER)
  }, PATIENCE)
  afterAll(() => {
    registry?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it(
    'serves by one command, is upgraded with its data, and goes back from a backup',
    async () => {
      expect(npx(NAME, '--version')).toBe(`${OLDER}\n`)
      const first = await serve(NAME)
      expect(npx(NAME, 'remember', 'The crane needs new brakes.')).toContain(`Undo: npx ${NAME} undo`)
      const backups = join(folder, 'backups')
      npx(NAME, 'backup', '--to', backups)
      await first.stop()

      npm(folder, 'publish', join(folder, `${NAME}-${NEWER}.tgz`))
      expect(npx(`${NAME}@latest`, '--version')).toBe(`${NEWER}\n`)
      const second = await serve(`${NAME}@latest`)
      expect(npx(NAME, 'search', 'brakes of the crane')).toContain('The crane needs new brakes')
      npx(NAME, 'remember', 'Written by the newer release.')
      await second.stop()

      const third = await serve(`${NAME}@${OLDER}`, '--persist-to', join(folder, 'empty'))
      const days = readdirSync(join(backups, 'local'))
      npx(`${NAME}@${OLDER}`, 'restore', days[0] ?? '', '--org', 'local', '--from', backups, '--url', third.origin)
      const found = npx(NAME, 'search', 'brakes of the crane', '--url', third.origin)
      expect(found).toContain('The crane needs new brakes')
      expect(npx(NAME, 'search', 'the newer release', '--url', third.origin)).not.toContain('Written by')
      await third.stop()
    },
    PATIENCE,
  )
})
