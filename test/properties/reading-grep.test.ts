import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Grepped, grepText } from '../../src/domain/reading/grep'
import { literalPattern, narrowingOf } from '../../src/domain/reading/literal'
import { Meter } from '../../src/domain/reading/meter'
import { expressionLibrary, expressionPattern } from '../../src/domain/reading/regular-expression'
import type { Pattern } from '../../src/domain/reading/search-pattern'
import { literals, plainScan, regexes, texts } from '../support/grep-model'

await expressionLibrary.load()

/** Greps a complete text, and returns the work between two possible pauses. */
function grep(text: string, pattern: Pattern, context: number | null = 0): Grepped & { stretches: number[] } {
  const work = grepText(text, pattern, new Meter(pattern), context)
  const stretches: number[] = []
  for (;;) {
    const { done, value } = work.next()
    if (done) return { ...value, stretches }
    stretches.push(value)
  }
}

const shown = ({ lines }: Grepped) => lines.map(({ number, matchStart, matchEnd }) => [number, matchStart, matchEnd])
const word = (text: string, wanted: string, caseSensitive = false) =>
  shown(grep(text, literalPattern(wanted, caseSensitive)))
const refusal = (pattern: string): string => {
  try {
    expressionPattern(pattern, false)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error(`${pattern} should be refused`)
}

describe('searching a text line by line', () => {
  it('[THREADS-157] finds the same as a plain scan, for random texts and strings', () => {
    fc.assert(
      fc.property(texts, literals, fc.boolean(), (text, wanted, caseSensitive) => {
        const pattern = literalPattern(wanted, caseSensitive)
        expect(shown(grep(text, pattern))).toEqual(plainScan(text, { literal: wanted, caseSensitive }))
      }),
      { numRuns: 2000, seed: 20261121 },
    )
  })

  it('[THREADS-157] finds the same as a plain scan, for random texts and expressions', () => {
    fc.assert(
      fc.property(texts, regexes, fc.boolean(), (text, wanted, caseSensitive) => {
        const pattern = expressionPattern(wanted, caseSensitive)
        expect(shown(grep(text, pattern))).toEqual(plainScan(text, { regex: wanted, caseSensitive }))
      }),
      { numRuns: 2000, seed: 20261121 },
    )
  })

  it('leaves to the database only what every text with a match holds', () => {
    fc.assert(
      fc.property(texts, literals, fc.boolean(), (text, wanted, caseSensitive) => {
        const narrowing = narrowingOf(wanted, caseSensitive)
        const folded = narrowing?.fold ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text
        if (word(text, wanted, caseSensitive).length > 0) expect(folded).toContain(narrowing?.part ?? '')
      }),
      { numRuns: 2000, seed: 20261121 },
    )
    expect(narrowingOf('Fussball 2026', false)).toEqual({ part: 'ball 2026', fold: true })
    expect(narrowingOf('Kss', false)).toBeNull()
  })

  it('[THREADS-158] folds one character to one, so that ß is not ss', () => {
    expect(word('straße STRASSE', 'STRASSE')).toEqual([[1, 7, 14]])
    expect(word('STRAẞE', 'straße')).toEqual([[1, 0, 6]])
    expect(word('273 \u212a', 'k')).toEqual([[1, 4, 5]])
    expect(word('İstanbul', 'istanbul')).toEqual([])
    expect(word('ΟΔΟΣ', 'οδος')).toEqual([[1, 0, 4]])
    expect(word('Straße', 'straße', true)).toEqual([])
  })

  it('[THREADS-156] ends lines at \\n, \\r\\n and \\r, and counts code points', () => {
    expect(word('a\nx\r\nx\rx\n', 'x')).toEqual([
      [2, 0, 1],
      [3, 0, 1],
      [4, 0, 1],
    ])
    expect(word('🌍🌍needle🌍', 'needle')).toEqual([[1, 2, 8]])
    expect(word('a\nb', 'a\nb')).toEqual([])
    expect(shown(grep('a\n\nb\n', expressionPattern('^', false)))).toHaveLength(3)
    expect(shown(grep('one\r\ntwo', expressionPattern('e$', false)))).toEqual([[1, 2, 3]])
  })

  it('[THREADS-161] shows the part of a long line around its match, and the lines before and after', () => {
    const { lines } = grep(
      `${'b'.repeat(600)}\n${'🌍'.repeat(900)}needle${'c'.repeat(900)}\nafter`,
      literalPattern('needle', true),
      1,
    )
    const [line] = lines
    expect(line).toMatchObject({ number: 2, matchStart: 900, matchEnd: 906, after: ['after'] })
    expect([...(line?.line ?? '')]).toHaveLength(502)
    expect(line?.line).toMatch(/^…🌍+needlec+…$/u)
    expect(line?.before).toEqual([`${'b'.repeat(500)}…`])
    const [head] = grep(`needle${'c'.repeat(900)}`, literalPattern('needle', true)).lines
    expect(head?.line).toBe(`needle${'c'.repeat(494)}…`)
    const [whole] = grep('a'.repeat(500), literalPattern('a', true)).lines
    expect(whole?.line).toBe('a'.repeat(500))
  })

  it('[THREADS-163] lists the first 1,000 lines of an entry and counts the others', () => {
    const { lines, matches, cut } = grep('x\n'.repeat(1500), literalPattern('x', true))
    expect([lines.length, matches, cut]).toEqual([1000, 1500, true])
    expect(grep('x\n'.repeat(1000), literalPattern('x', true)).cut).toBe(false)
    expect(grep('x\n'.repeat(1500), literalPattern('x', true), null)).toMatchObject({ matches: 1500, cut: false })
  })

  it('reports what is wrong with an expression, and where', () => {
    expect(refusal('a(b')).toMatch(/^Invalid regular expression: missing closing \), position 2\. /)
    expect(refusal('🌍)')).toContain('unexpected ), position 2')
    expect(refusal('ab[z-a]')).toContain('invalid character class range, position 4')
    expect(refusal('a\\**+')).toContain('position 4')
    expect(refusal('x(?=y)')).toContain('position 2')
    expect(refusal('(a)\\1')).toContain('position 4')
    expect(refusal('a{1001}')).toContain('position 2')
    expect(refusal('a\\')).toContain('position 2')
  })

  it('[THREADS-167] refuses an expression whose program is too large, before it is compiled', () => {
    for (const large of [
      'a{999}'.repeat(100),
      '(?:abcdefgh){999}'.repeat(50),
      '(?:[a-z]\\d{100}){10}'.repeat(3),
      '((a{10}){10}){10}'.repeat(3),
    ])
      expect(refusal(large)).toContain('too large')
    for (const fine of ['.{500}[^a]', '(?:a?){500}b', `${'ab|'.repeat(250)}c`, '\\{999}'.repeat(20), '[{]{2}'])
      expect(() => expressionPattern(fine, false)).not.toThrow()
  })

  const MEGABYTE = 1_000_000
  /** In characters read; 48,000 take 10 to 30 ms. */
  const A_LOOK = 80_000
  it('[THREADS-167] can yield every few hundredths of a second on one line of a megabyte, for any pattern', () => {
    const alternatives = Array.from({ length: 250 }, (_, i) => `a${(i + 36).toString(36)}`).join('|')
    for (const hostile of ['(a+)+$', '.{500}[^a]', '(?:a?){500}b', '(?:a?){500}[^a]', alternatives]) {
      const pattern = expressionPattern(hostile, true)
      const allowance = Math.min(pattern.allowance, 5_000_000 / pattern.rate / 20)
      const { stretches, matches, cut } = grep('a'.repeat(MEGABYTE), { ...pattern, allowance })
      expect([hostile, matches > 0 || cut]).toEqual([hostile, true])
      expect([hostile, Math.max(...stretches) <= A_LOOK]).toEqual([hostile, true])
    }
    const { stretches } = grep('a'.repeat(MEGABYTE), literalPattern(`${'a'.repeat(500)}b${'a'.repeat(499)}`, false))
    expect(Math.max(...stretches)).toBeLessThanOrEqual(A_LOOK)
    expect(stretches.length).toBeGreaterThanOrEqual(9)
  })

  it('[THREADS-167] finds a match in a line that is too long for one window, with positions in the complete line', () => {
    const line = `${'lorem ipsum '.repeat(60_000)}"id": 4711, ${'dolor '.repeat(30_000)}`
    const { lines, cut } = grep(line, expressionPattern('"id":\\s*(\\d+),', false))
    expect(lines.map(({ matchStart, matchEnd }) => line.slice(matchStart, matchEnd))).toEqual(['"id": 4711,'])
    expect(cut).toBe(false)
    // The end of a window is not the end of the line, and its start is not the start.
    expect(grep(line, expressionPattern('(ipsum|lorem|sit)$', false))).toMatchObject({ matches: 0, cut: true })
    expect(grep(line, expressionPattern('^(dolor|ipsum)', false))).toMatchObject({ matches: 0 })
    expect(grep(line, expressionPattern('(dolor|amet) $', false))).toMatchObject({ matches: 1 })
  })

  it('[THREADS-167] names a line in which a match may be longer than the overlap of windows', () => {
    const line = `x${'y'.repeat(900_000)}z${'w'.repeat(90_000)}`
    expect(grep(line, expressionPattern('x(?:y|v|u|t|s|r|q|p)*z', false))).toMatchObject({ matches: 0, cut: true })
  })
})
