import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DEVELOPMENT_ONLY, progressLine, servingFiles } from '../../scripts/install.mjs'
import { servingUrl } from '../../src/cli/postgres/url.mjs'
import { ROOT } from '../support/build'
import { failToStart } from '../support/dev-server'
import { sourceFiles } from '../support/sources'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const manifest = JSON.parse(read('package.json'))

it('the first start installs what serving needs and no package of development', () => {
  const made = servingFiles(read('package.json'), read('package-lock.json'))
  const [own, lock] = [JSON.parse(made.manifest), JSON.parse(made.lock)]
  expect(own.dependencies).toEqual(manifest.dependencies)
  expect(own.devDependencies).toMatchObject({ wrangler: manifest.devDependencies.wrangler, hono: expect.any(String) })
  for (const name of ['vitest', '@biomejs/biome', 'typescript', 'playwright-core', 'onnxruntime-node'])
    expect(own.devDependencies).not.toHaveProperty([name])
  expect(lock.packages[''].devDependencies).toEqual(own.devDependencies)
  // Its scripts are those of a checkout.
  expect(own).not.toHaveProperty('scripts')
})

it('the Worker and the command line import no package of development', () => {
  const foreign = sourceFiles(join(ROOT, 'src')).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type)[^'"]*?from '(@?[a-z][^']*)'/gm)]
      .map(([, name]) => name as string)
      .filter((name) => DEVELOPMENT_ONLY.test(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(foreign).toEqual([])
})

it('the progress of an installation estimates the time that is left once a tenth has arrived', () => {
  expect(progressLine(0, 690, 3)).toBe('  fetching the list of packages, 3 s')
  expect(progressLine(30, 690, 5)).toBe('  30 of about 690 MB unpacked, 5 s')
  expect(progressLine(230, 690, 20)).toBe('  230 of about 690 MB unpacked, 20 s, about 40 s left')
  expect(progressLine(689, 690, 60)).toBe('  689 of about 690 MB unpacked, 60 s, almost done')
  expect(progressLine(750, 690, 60)).toBe('  750 of about 690 MB unpacked, 60 s, almost done')
})

it('the published package asks for the Node.js that its runtime needs, under which the launcher need not run', () => {
  expect(manifest.engines.node).toBe('>=22')
  expect(JSON.parse(read('package-lock.json')).packages['']).toMatchObject({
    engines: manifest.engines,
    bin: manifest.bin,
  })
})

it.runIf(process.platform === 'linux')(
  'a folder for data that cannot be made ends the start with one line',
  async () => {
    const { code, said } = await failToStart(['--persist-to', '/proc/x'], { PORT: '9919' })
    expect([code, said]).toEqual([
      2,
      'The data folder cannot be created (ENOENT: /proc/x). Use another one with --persist-to FOLDER.',
    ])
  },
)

it('a database URL without a password is trusted on this machine, and elsewhere the message names what is missing', () => {
  const url = (text: string, env = {}) => servingUrl(text, env, 'DATABASE_URL')
  expect(url('postgresql://ada@127.0.0.1:5432/d')).toBe('postgresql://ada:trusted@127.0.0.1:5432/d')
  expect(url('postgresql://localhost/d')).toBe('postgresql://postgres:trusted@localhost/d')
  expect(url('postgresql://ada@db.example.com/d', { PGPASSWORD: 's' })).toBe('postgresql://ada:s@db.example.com/d')
  expect(url('postgresql://ada:s@db.example.com/d')).toBe('postgresql://ada:s@db.example.com/d')
  expect(() => url('postgresql://ada@db.example.com/d')).toThrow(
    'DATABASE_URL has no password for user ada at db.example.com: add it to the URL, or set POSTGRESQL_PASSWORD.',
  )
})
