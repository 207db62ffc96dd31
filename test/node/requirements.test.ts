import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { THREADS } from '../requirements/threads'
import { ROOT } from '../support/build'

const testFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? testFiles(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  )

it('has a test for every promise of the threads contract', () => {
  const sources = testFiles(join(ROOT, 'test')).map((file) => readFileSync(file, 'utf8'))
  const proved = new Set(sources.flatMap((source) => [...source.matchAll(/promise\('([^']+)'\)/g)].map(([, id]) => id)))
  const unproved = Object.keys(THREADS).filter((id) => !proved.has(id))
  expect(unproved).toEqual([])
})
