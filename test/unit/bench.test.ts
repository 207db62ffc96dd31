import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/build'

const PROGRAM = join(ROOT, 'bench', 'run.mjs')
const listed = [...execFileSync(process.execPath, [PROGRAM], { encoding: 'utf8' }).matchAll(/^ {2}(\S+) +(\S+)$/gm)]

it('lists benches whose files exist', () => {
  expect(listed.length).toBeGreaterThan(30)
  expect(listed.map(([, , file]) => file as string).filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

it('names only source files that exist in the benches', () => {
  const programs = readdirSync(join(ROOT, 'bench')).filter((name) => name.endsWith('.mjs'))
  const named = programs.flatMap((name) =>
    [
      ...readFileSync(join(ROOT, 'bench', name), 'utf8').matchAll(/'(src\/(?:domain|services|adapters)\/[^']+\.ts)'/g),
    ].map(([, file]) => file as string),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

it('knows each bench that the documents name', () => {
  const known = new Set(listed.map(([, name]) => name))
  const pages = ['CONTRIBUTING.md', 'bench/README.md', 'bench/RESULTS.md', 'bench/suites/README.md', 'docs/proof.md']
  const named = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/npm run bench -- ([a-z-]+)/g)].map(([, name]) => name),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})

it('suggests the closest name of an unknown bench', () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'pakcs'], { encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).toBe('Unknown bench "pakcs". Did you mean "packs"? List them with: npm run bench\n')
})
