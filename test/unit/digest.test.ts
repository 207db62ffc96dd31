import { describe, expect, it } from 'vitest'
import type { MemoryType } from '../../src/domain/recall/memory'
import { digestOf, type Original, shortened } from '../../src/domain/recall/summary-text'

const start = Date.UTC(2026, 0, 2)

let nextId = 0
const original = (type: MemoryType, text: string, given: Partial<Original> = {}): Original => {
  nextId++
  return {
    ...{ id: nextId, type, text, title: null, tags: [], origin: 'ai_inferred', weight: 3, links: 0, accesses: 0 },
    ...{ createdAt: start + nextId * 1_000, ...given },
  }
}

describe('a summary', () => {
  it('[FABRIC-108] begins a summary with counts and dates, then a line a memory, the most valuable first and equal ones in one line, within its length', () => {
    nextId = 0
    const captured = { origin: 'system_auto', tags: ['auto_capture', 'command_failed', 'error'] } as const
    const memories = [
      original('decision', 'Use D1.\nIt is near.', { accesses: 2 }),
      original('decision', 'Ship on Tuesdays! Never on a Friday.', { weight: 5 }),
      original('decision', 'x', { title: 'Keep ids', links: 1 }),
      original('bug_fix', 'npm test\nall is well\nTypeError: no crane\n at a.ts', { ...captured, weight: 5 }),
      original('bug_fix', 'A typo', { createdAt: Date.UTC(2026, 0, 30) }),
      original('bug_fix', 'A typo'),
      original('relationship', 'She likes short answers.', { origin: 'user_explicit', weight: 1 }),
    ]
    const { text, included: told } = digestOf(memories, 1_000)
    expect(text.split('\n')).toEqual([
      'Summary of 7 memories, 2026-01-02 to 2026-01-30: 3 bug_fix, 3 decision, 1 relationship.',
      '- relationship: She likes short answers. [#7]',
      '- decision: Ship on Tuesdays! Never on a Friday. [#2]',
      '- decision: Keep ids [#3]',
      '- decision: Use D1. It is near. [#1]',
      '- bug_fix: A typo ×2 [#5]',
      '- bug_fix: TypeError: no crane [#4]',
    ])
    expect(told.map(({ id }) => id)).toEqual([1, 2, 3, 4, 6, 7, 5])
    expect(digestOf(memories.slice(0, 1), 50).text).toBe(
      'Summary of 1 memory, 2026-01-02 to 2026-01-02: 1 decision.\n- decision: Use D1. It is near. [#1]',
    )
  })

  it('includes only memories that fit into its length, the most valuable ones, and at least one', () => {
    nextId = 0
    const memories = Array.from({ length: 1_000 }, (_, i) =>
      original(
        (['decision', 'bug_fix', 'scratchpad'] as const)[i % 3] as MemoryType,
        `${i} ${`A sentence of é. `.repeat(40)}`,
        { weight: 1 + (i % 5) },
      ),
    )
    for (const tokens of [50, 51, 77, 1_000, 32_000]) {
      const { text, included: told } = digestOf(memories, tokens)
      expect([...text].length).toBeLessThanOrEqual(tokens * 4)
      const lines = text.split('\n')
      expect(lines[0]).toContain(`Summary of ${told.length === 1 ? '1 memory' : `${told.length} memories`}, `)
      expect(lines.length - 1).toBe(told.length)
      for (const line of lines.slice(1)) expect(line).toMatch(/^- [a-z_]+: \d+ .*(\.|…) \[#\d+\]$/)
      expect(told.length).toBeGreaterThan(0)
      if (told.length < 200) expect(new Set(told.map(({ weight }) => weight))).toEqual(new Set([5]))
    }
    expect(digestOf(memories, 32_000).included).toHaveLength(1_000)
    // Few memories get as much space as they need.
    const [one] = memories.slice(0, 1) as [Original]
    expect(digestOf([one], 1_000).text).toContain(one.text.trim())
  })

  it('cuts at the end of a sentence, else of a word, also texts of a single letter', () => {
    expect(shortened('One. Two v1.2 is out', 18)).toBe('One.')
    expect(shortened('One two three four', 12)).toBe('One two…')
    expect(shortened('a'.repeat(1_000_000), 10)).toBe(`${'a'.repeat(9)}…`)
    expect(shortened('. '.repeat(500_000), 10)).toBe('. . . . .')
  })
})
