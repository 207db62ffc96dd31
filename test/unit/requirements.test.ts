import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { citationsIn, problemsOf, promisesIn, readAll, tableOf, testedIn } from '../../scripts/requirements.mjs'
import { FAMILIES } from '../../src/tools/catalogue'
import { ROOT } from '../support/build'
import { ALL_TOOLS } from '../support/tool-examples'

const { promises, citations, written } = readAll()

it('has a unique id for each promise, cites only existing ids, and keeps a test for each promise that had one', () => {
  expect(problemsOf(promises, citations, testedIn(written))).toEqual([])
})

it('lists the tests of each promise in a table that is up to date (node scripts/requirements.mjs)', () => {
  expect(tableOf(promises, citations)).toBe(written)
})

it('reads ids at the start of lines and list items only', () => {
  const text = ['**PACK-1.** A.', '* **PACK-2.** B, unlike PACK-9.', '3. **PACK-3.** C.', '  PACK-8 continues.'].join(
    '\n',
  )
  expect(promisesIn('packs', text).map(({ id }) => id)).toEqual(['PACK-1', 'PACK-2', 'PACK-3'])
})

it('reports a duplicate id, a citation of an unknown id, and a promise that lost its last test', () => {
  const stated = promisesIn('packs', '* **PACK-1.** A.\n* **PACK-1.** B.\n* **PACK-2.** C.')
  const cited = citationsIn('packs.ts', "it('[PACK-1, PACK-7] does it', () => {})")
  expect(problemsOf(stated, cited, ['PACK-1', 'PACK-2', 'PACK-3'])).toEqual([
    'docs/contracts: PACK-1 is the id of two promises',
    'packs.ts: "does it" cites PACK-7, which no contract page has',
    "PACK-2 had a test, and no test cites it now. Cite it in the title of a test: it('[PACK-2] …')",
  ])
})

it('has a test for the promise that each tool declares', () => {
  const tested = new Set(citations.map(({ id }) => id))
  expect(ALL_TOOLS.filter(({ promise }) => !tested.has(promise)).map(({ name }) => name)).toEqual([])
})

it('has a contract page with promises for each tool family', () => {
  const pages = new Set(promises.map(({ page }) => page))
  expect(Object.keys(FAMILIES).filter((family) => !pages.has(family))).toEqual([])
})

const testFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? testFiles(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  )

it('has no test that is skipped whatever the surroundings, or that silences the others', () => {
  const silenced = testFiles(join(ROOT, 'test')).flatMap(
    (file) => readFileSync(file, 'utf8').match(/\b(?:it|test|describe)\.(?:skip|todo|only|fails)\b.*/g) ?? [],
  )
  expect(silenced).toEqual([])
})
