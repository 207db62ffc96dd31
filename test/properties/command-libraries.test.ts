import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../support/build'
import { runProgram } from '../support/program'

/** TypeScript that the command line loads in plain Node (`src/cli/bundle.mjs`). */
describe('a library of the command line', () => {
  const PROGRAM = `import { bundled } from '${new URL('../../src/cli/bundle.mjs', import.meta.url).href}'
const { said } = await bundled(process.argv[2])
console.log(said)
`
  let folder: string
  let bundle: string
  beforeAll(() => {
    mkdirSync(join(ROOT, '.tmp'), { recursive: true })
    folder = mkdtempSync(join(ROOT, '.tmp', 'library-'))
    bundle = join(ROOT, '.tmp', 'cli', `${basename(folder)}.mjs`)
    writeFileSync(join(folder, 'program.mjs'), PROGRAM)
    writeFileSync(join(folder, 'library.ts'), `export { said } from './words'\n`)
  })
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
    rmSync(bundle, { force: true })
  })
  const write = (word: string) => writeFileSync(join(folder, 'words.ts'), `export const said: string = '${word}'\n`)
  const load = () =>
    runProgram(join('.tmp', basename(folder), 'program.mjs'), [join(folder, 'library.ts')], process.env)
  const said = (word: string) => ({ code: 0, out: `${word}\n`, err: '' })

  it('is bundled once, and again when a source has changed or the bundle is broken', async () => {
    write('first')
    expect(await load()).toEqual(said('first'))
    const made = statSync(bundle).ino
    expect(await load()).toEqual(said('first'))
    expect(statSync(bundle).ino).toBe(made)
    write('second')
    expect(await load()).toEqual(said('second'))
    const whole = readFileSync(bundle, 'utf8')
    writeFileSync(bundle, whole.slice(0, whole.length / 2))
    expect(await load()).toEqual(said('second'))
    expect(readFileSync(bundle, 'utf8')).toBe(whole)
  })

  it('is complete for each of several commands that load it at once', async () => {
    write('third')
    const all = await Promise.all([load(), load(), load()])
    expect(all).toEqual([said('third'), said('third'), said('third')])
  })
})
