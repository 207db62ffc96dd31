import { applyPatch } from 'diff'
import { describe, expect, it } from 'vitest'
import { differingLines, textDiff } from '../../src/domain/history/diff'

const diff = (old: string, now: string): string => textDiff({ version: 1, text: old }, { version: 2, text: now })

/** Numbers from 0 to below a bound, the same in every run. */
function random(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

const line = (i: number) => `line ${i}\n`
const lines = (count: number, of: (i: number) => string = line) =>
  Array.from({ length: count }, (_, i) => of(i)).join('')

describe('a diff of two texts', () => {
  it('leads from one to the other, whatever they are', () => {
    const next = random(7)
    for (let round = 0; round < 400; round++) {
      const kinds = 1 + next(40)
      const text = () =>
        Array.from({ length: next(40) }, () => String(next(kinds))).join('\n') + (next(2) === 0 ? '\n' : '')
      const old = text()
      // Half of the time, a text that has much in common with the first.
      const now = next(2) === 0 ? text() : old.replace(String(next(kinds)), 'other\nlines').replace(/\n/, '\n\n')
      expect(applyPatch(old, diff(old, now)), JSON.stringify([old, now])).toBe(now)
    }
  })

  it('is shown of more than a hundred changed lines, and of thousands', () => {
    for (const every of [2, 10, 25]) {
      const [old, now] = [lines(800), lines(800, (i) => (i % every === 0 ? `other ${i}\n` : line(i)))]
      expect(applyPatch(old, diff(old, now))).toBe(now)
    }
    const rewritten = diff(
      lines(900),
      lines(900, (i) => `new ${i}\n`),
    )
    expect(rewritten).toContain('@@ -1,900 +1,900 @@\n-line 0\n-line 1\n')
    expect(applyPatch(lines(900), rewritten)).toBe(lines(900, (i) => `new ${i}\n`))
  })

  it('names the places of lines in a long text', () => {
    const old = lines(50_000)
    const now = old.replace('line 40000\n', 'here\n')
    expect(diff(old, now)).toBe(
      '--- version 1\n+++ version 2\n@@ -39998,7 +39998,7 @@\n line 39997\n line 39998\n line 39999\n-line 40000\n+here\n' +
        ' line 40001\n line 40002\n line 40003\n',
    )
  })

  it('is cut at 20,000 characters, and at the limit of compared lines, and reports that', () => {
    const [old, now] = [lines(4_000), lines(4_000, (i) => `new ${i}\n`)]
    expect(diff(old, now)).toMatch(/\n\(cut; read both versions for the rest\)$/)
    expect(diff(old, now).length).toBeLessThan(20_100)
    const far = `first\n${lines(60_000)}last\n`
    expect(diff(far.slice(6, -5), far)).toBe(
      '--- version 1\n+++ version 2\n@@ -1,3 +1,4 @@\n+first\n line 0\n line 1\n line 2\n' +
        '\n(cut; read both versions for the rest)',
    )
  })

  it('takes as few lines as there can be where few differ, and a bounded number of steps where many do', () => {
    const texts = (of: (i: number) => number, count = 20_000) => Array.from({ length: count }, (_, i) => `${of(i)}`)
    const hostile: [string[], string[]][] = [
      [texts((i) => i), texts((i) => -1 - i)],
      [texts((i) => i % 2), texts((i) => (i * i) % 3)],
      [texts((i) => i), texts((i) => (i % 7 === 0 ? -i - 1 : i))],
      [texts((i) => i), texts((i) => 20_000 - i)],
      [texts((i) => (i % 101 === 0 ? i : i % 5)), texts((i) => (i % 101 === 0 ? i : i % 3))],
    ]
    for (const [old, now] of hostile) {
      const runs = differingLines(old, now)
      const of = (...kinds: string[]) =>
        runs.reduce((sum, { kind, count }) => sum + (kinds.includes(kind) ? count : 0), 0)
      expect([of('same', 'removed'), of('same', 'added')]).toEqual([old.length, now.length])
    }
    expect(differingLines(['a', 'b', 'c', 'd'], ['b', 'x', 'c', 'd'])).toEqual([
      ...[
        { kind: 'removed', count: 1 },
        { kind: 'same', count: 1 },
      ],
      ...[
        { kind: 'added', count: 1 },
        { kind: 'same', count: 2 },
      ],
    ])
  })
})
