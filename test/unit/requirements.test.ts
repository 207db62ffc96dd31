import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { REQUIREMENTS } from '../requirements'
import { GUARANTEES } from '../requirements/fabric'
import { ROOT } from '../support/build'
import { ALL_TOOLS } from '../support/tool-examples'

const testFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? testFiles(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  )

const sources = testFiles(join(ROOT, 'test')).map((file) => readFileSync(file, 'utf8'))

// The title of a test that is skipped, left to do, or a mere mention proves nothing.
const proved = new Set(
  sources.flatMap((source) => [...source.matchAll(/\bit\((?:promise|toolPromise)\('([^']+)'\)/g)].map(([, id]) => id)),
)

for (const [family, promises] of Object.entries(REQUIREMENTS))
  it(`has a test that runs for every promise of the ${family} contract`, () => {
    expect(Object.keys(promises).filter((id) => !proved.has(id))).toEqual([])
  })

it('has a test for the promise that each tool declares', () => {
  expect(ALL_TOOLS.filter(({ promise }) => !proved.has(promise)).map(({ name }) => name)).toEqual([])
})

it('has promises for each of the guarantees of the fabric contract', () => {
  // Similarity and the time of getCurrent (17 and 19) are shown by benches: bench/records/recall.md and bench/records/memories.md.
  const tested = Array.from({ length: 20 }, (_, i) => i + 1).filter((n) => n !== 17 && n !== 19)
  expect(Object.keys(GUARANTEES).map(Number)).toEqual(tested)
})

it('has no test that is skipped whatever the surroundings, or that silences the others', () => {
  const silenced = sources.flatMap(
    (source) => source.match(/\b(?:it|test|describe)\.(?:skip|todo|only|fails)\b.*/g) ?? [],
  )
  expect(silenced).toEqual([])
})
