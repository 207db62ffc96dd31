import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentOf, cutCode, embeddedText, matchLines } from '../../src/domain/code/chunks'
import { createGlob } from '../../src/domain/code/indexed-files'
import { languageOf, normalizeLanguage } from '../../src/domain/code/languages'
import { type CodeSymbol, commentStyle, toSymbols } from '../../src/domain/code/symbols'

const symbolAt = (lineStart: number, name = 'f'): CodeSymbol => ({
  ...{
    name,
    kind: 'function',
    signature: `function ${name}()`,
    lineStart,
    lineEnd: lineStart,
    docComment: `says ${name}`,
  },
})
const lines = (count: number, length = 5): string =>
  Array.from({ length: count }, (_, i) => String(i + 1).padStart(length, '.')).join('\n')

/** Chunks of code, and supported files and languages (fabric contract §9). */
describe('parts of code', () => {
  it('are matched by each line over which a text goes', () => {
    const chunk = { overlap: 'x\n', text: 'def a():\n    return 1\n\ndef a():\n    return 2\ndef a():', lineEnd: 12 }
    const matched = (...texts: string[]) => matchLines(chunk, texts, 'own')
    expect(matched('def a():\n    return 1')).toEqual([7, 8])
    expect(matched('a():\n    return')).toEqual([7, 8, 10, 11])
    expect(matched('a():\n')).toEqual([7, 10])
    expect(matched('1\n\ndef')).toEqual([8, 10])
    expect(matched('def a', 'return')).toEqual([7, 8, 10, 11, 12])
    expect(matched('():\n    return 3')).toEqual([])
    expect(matchLines({ ...chunk, text: lines(50), lineEnd: 50 }, ['.'], 'all')).toHaveLength(20)
  })

  it('finds the symbols of a chunk without a scan of all symbols of the file', () => {
    let read = 0
    const symbols = Array.from({ length: 5_000 }, (_, i) => ({
      ...{ name: `n${i}`, lineEnd: 1, docComment: '' },
      get lineStart() {
        read++
        return 1
      },
    }))
    const [first, ...more] = cutCode('x'.repeat(1_000_000), [])
    for (const chunk of [first, ...more]) if (chunk !== undefined) embeddedText('src/a.ts', chunk, symbols)
    expect(read / (more.length + 1)).toBeLessThan(80)
  })

  it('reads the comment above a line once, however many declarations the line holds', () => {
    let read = 0
    const style = { ...commentStyle('typescript'), line: /^\/\/ / }
    const counted = {
      ...style,
      get line() {
        read++
        return style.line
      },
    }
    const comment = '// about all of them\n'.repeat(200)
    const text = `${comment}${'let a;'.repeat(3_000)}`
    const declarations = Array.from({ length: 3_000 }, (_, i) => {
      const from = comment.length + 6 * i
      return { name: `a${i}`, kind: 'const' as const, from, to: from + 6, opens: null, above: from }
    })
    const symbols = toSymbols(text, declarations, counted)
    expect(new Set(symbols.map(({ docComment }) => docComment.slice(0, 17)))).toEqual(new Set(['about all of them']))
    expect(read).toBeLessThan(1_000)
  })

  it('[FABRIC-126] cuts code into at most 100 lines and 4,000 characters, at close symbols, with ten lines of overlap', () => {
    const text = lines(250)
    const plain = cutCode(text, [])
    expect(plain.map(({ lineStart, lineEnd }) => [lineStart, lineEnd])).toEqual([
      ...[
        [1, 100],
        [91, 190],
        [181, 250],
      ],
    ])
    for (const chunk of plain)
      expect(contentOf(chunk)).toBe(
        text
          .split('\n')
          .slice(chunk.lineStart - 1, chunk.lineEnd)
          .join('\n'),
      )
    // A symbol within twenty lines of the cut begins the next chunk's own lines; one farther away does not.
    expect(cutCode(text, [symbolAt(85)]).map(({ lineEnd }) => lineEnd)[0]).toBe(84)
    expect(cutCode(text, [symbolAt(79)]).map(({ lineEnd }) => lineEnd)[0]).toBe(100)
    expect(embeddedText('src/a.ts', plain[0] as never, [symbolAt(3, 'alpha'), symbolAt(150, 'beta')])).toMatch(
      /^src\/a\.ts\nalpha\nsays alpha\n/,
    )
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 400 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 20 }),
        (lengths, starts) => {
          const whole = lengths.map((length, i) => `${i}`.padEnd(length, 'x')).join('\n')
          const chunks = cutCode(
            whole,
            starts.map((start) => symbolAt(start)),
          )
          expect(chunks.map(({ text: own }) => own).join('\n')).toBe(whole.replace(/\n$/, ''))
          for (const chunk of chunks) {
            expect(chunk.lineEnd - chunk.lineStart + 1).toBeLessThanOrEqual(100)
            expect(contentOf(chunk).length).toBeLessThanOrEqual(4_000)
            // A chunk always has lines of its own.
            expect(
              chunk.lineStart + chunk.overlap.split('\n').length - (chunk.overlap === '' ? 1 : 0),
            ).toBeLessThanOrEqual(chunk.lineEnd)
          }
        },
      ),
      { numRuns: 100 },
    )
    expect(cutCode(' \n\n', [])).toEqual([])
    expect(cutCode('a'.repeat(1_000_000), []).every(({ text: piece }) => piece.length <= 4_000)).toBe(true)
  })

  it('[FABRIC-127, FABRIC-166] matches globs: within a folder, across folders and none, one character, classes, alternatives, base names', () => {
    const matching: [string, string][] = [
      ...([
        ['src/**/*.ts', 'src/a.ts'],
        ['src/**/*.ts', 'src/deep/er/a.ts'],
        ['**/a.ts', 'a.ts'],
        ['src/**', 'src/x/y.py'],
        ['*.ts', 'deep/er/a.ts'],
        ['a?.ts', 'x/ab.ts'],
        ['[ab].ts', 'b.ts'],
        ['[!ab].ts', 'c.ts'],
        ['src/*.{ts,tsx}', 'src/a.tsx'],
        ['*.test.ts', 'a.test.ts'],
      ] as [string, string][]),
    ]
    for (const [glob, path] of matching) expect([glob, path, createGlob(glob)(path)]).toEqual([glob, path, true])
    const others: [string, string][] = [
      ...([
        ['src/*.ts', 'src/deep/a.ts'],
        ['src/**/*.ts', 'lib/a.ts'],
        ['*.TS', 'a.ts'],
        ['a?.ts', 'a.ts'],
        ['[ab].ts', 'c.ts'],
        ['a.ts', 'aXts'],
        ['src/?.ts', 'src//.ts'],
      ] as [string, string][]),
    ]
    for (const [glob, path] of others) expect([glob, path, createGlob(glob)(path)]).toEqual([glob, path, false])
  })

  it('[FABRIC-128] recognizes a language by its extension and by the usual short names', () => {
    const aliases = {
      TS: 'typescript',
      js: 'javascript',
      py: 'python',
      rs: 'rust',
      golang: 'go',
      'C++': 'cpp',
      'c#': 'csharp',
    }
    for (const [alias, language] of Object.entries(aliases)) expect(normalizeLanguage(` ${alias} `)).toBe(language)
    for (const name of ['constructor', '__proto__']) expect(normalizeLanguage(name)).toBe(name)
    const files = {
      'a.tsx': 'typescript',
      'b.mjs': 'javascript',
      'c.py': 'python',
      'd.rs': 'rust',
      'e.go': 'go',
      'F.JAVA': 'java',
    }
    for (const [path, language] of Object.entries(files)) expect(languageOf(`x.y/${path}`)).toBe(language)
    for (const path of ['Makefile', 'a.unknown', '.ts/file', '']) expect(languageOf(path)).toBe('text')
  })
})
