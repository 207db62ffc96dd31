import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCodeParser } from '../../src/adapters/code/parser'
import { languageOf } from '../../src/domain/code/languages'
import { ROOT } from '../support/build'
import { compareSymbols, type ReferenceSymbol, referenceSymbols } from '../support/reference-symbols'

const parser = createCodeParser()
const PACKAGES = ['hono/dist', 'zod/src', 'drizzle-orm/pg-core', '@modelcontextprotocol/sdk/dist/esm']
const LEAST = 0.98

const sources = (folder: string, name: RegExp): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? sources(path, name) : name.test(entry.name) ? [path] : []
  })

/** Picks a number of items of a list, evenly. */
const sample = <T>(list: readonly T[], count: number): T[] =>
  Array.from(
    { length: Math.min(count, list.length) },
    (_, i) => list[Math.floor((i * list.length) / Math.min(count, list.length))] as T,
  )

async function share(files: readonly { path: string; theirs: readonly ReferenceSymbol[] }[]) {
  const differ: string[] = []
  let [equal, all] = [0, 0]
  for (const { path, theirs } of files) {
    const text = readFileSync(path, 'utf8')
    const ours = await parser.symbols({ path, language: languageOf(path), text })
    const result = compareSymbols(ours, theirs)
    equal += result.equal
    all += result.equal + result.missing.length + result.extra.length
    differ.push(...[...result.missing, ...result.extra].map((symbol) => `${path}: ${symbol}`))
  }
  return { files: files.length, share: equal / all, symbols: all, differ }
}

/**
 * Symbols of real code, held against compilers that know nothing of ours.
 *
 * @param files number of files of JavaScript and TypeScript, nearly all of which the compiler parses without errors
 * @param python files of Python
 */
export function realSymbols({ files, python }: { readonly files: number; readonly python: number }): void {
  describe(`symbols of ${files + python} files of real code`, () => {
    it('[FABRIC-129, FABRIC-166] finds the symbols that the TypeScript compiler finds: names, kinds, first and last lines', async () => {
      const all = PACKAGES.flatMap((name) => sources(join(ROOT, 'node_modules', name), /\.(?:[cm]?js|d?\.?ts)$/))
      const read = referenceSymbols(sample(all, files))
      const result = await share(
        read.filter(({ flawed }) => !flawed).map(({ path, symbols }) => ({ path, theirs: symbols })),
      )
      expect(result.files).toBeGreaterThanOrEqual((files * 15) / 16)
      expect(result.symbols).toBeGreaterThan((files * 25) / 8)
      expect([result.share >= LEAST, result.differ.slice(0, 5)]).toEqual([true, expect.anything()])
    })

    const PYTHON = ['/usr/lib/python3', '/usr/lib/python3.11', '/usr/lib/python3.12', '/usr/lib/python3.13'].filter(
      existsSync,
    )
    it.skipIf(PYTHON.length === 0)('are those of CPython, where it is on the machine', async () => {
      const chosen = sample(
        PYTHON.flatMap((folder) => sources(folder, /\.py$/)),
        python,
      )
      const { stdout } = spawnSync('python3', [join(ROOT, 'test/support/reference_symbols.py')], {
        input: chosen.join('\n'),
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      })
      const read = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { path: string; symbols: ReferenceSymbol[] })
      const result = await share(read.map(({ path, symbols }) => ({ path, theirs: symbols })))
      expect(result.symbols).toBeGreaterThan((python * 25) / 6)
      expect([result.share >= LEAST, result.differ.slice(0, 5)]).toEqual([true, expect.anything()])
    })
  })
}
