import { describe, expect, it } from 'vitest'
import { digestOf, type Original, sentencesOf } from '../../src/domain/recall/digest'
import type { MemoryType } from '../../src/domain/recall/memory'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { promise } from '../requirements/fabric'

const analyzer = createAnalyzer('english')
const start = Date.UTC(2026, 0, 2)

let nextId = 0
const original = (type: MemoryType, text: string, given: Partial<Original> = {}): Original => {
  nextId++
  return {
    ...{ id: nextId, type, text, title: null, weight: 3, confidence: 0.8, createdAt: start + nextId * 1_000 },
    ...given,
  }
}

describe('a summary', () => {
  it(promise('f8-text'), () => {
    nextId = 0
    const memories = [
      original('decision', 'Use D1. It is near.'),
      original('decision', 'Ship on Tuesdays! Never on a Friday afternoon before holidays.', { weight: 5 }),
      original('decision', 'x', { title: 'Keep ids' }),
      original('bug_fix', 'The lock was held.\nNobody had released the advisory lock after a lost connection.'),
      original('bug_fix', 'A typo', { confidence: 0.9, createdAt: Date.UTC(2026, 0, 30) }),
    ]
    const text = digestOf(memories, 1_000, analyzer)
    const lines = text.split('\n')
    expect(lines.slice(0, 6)).toEqual([
      'Summary of 5 memories, 2026-01-02 to 2026-01-30: 3 decision, 2 bug_fix.',
      '- decision: Ship on Tuesdays! [#2]',
      '- bug_fix: A typo [#5]',
      '- decision: Keep ids [#3]',
      '- bug_fix: The lock was held. [#4]',
      '- decision: Use D1. [#1]',
    ])
    expect(lines.slice(6).sort()).toEqual([
      '  Never on a Friday afternoon before holidays. [#2]',
      '  Nobody had released the advisory lock after a lost connection. [#4]',
    ])
    expect(digestOf(memories.slice(0, 1), 50, analyzer)).toBe(
      'Summary of 1 memory, 2026-01-02 to 2026-01-02: 1 decision.\n- decision: Use D1. [#1]',
    )
  })

  it('cuts at whole lines and says how many are left out, whatever its length', () => {
    nextId = 0
    const memories = Array.from({ length: 1_000 }, (_, i) =>
      original((['decision', 'bug_fix', 'scratchpad'] as const)[i % 3] as MemoryType, `${'é'.repeat(300)} number ${i}`),
    )
    for (const tokens of [50, 51, 77, 1_000, 32_000]) {
      const text = digestOf(memories, tokens, analyzer)
      expect([...text].length).toBeLessThanOrEqual(tokens * 4)
      const lines = text.split('\n')
      const told = lines.filter((line) => line.startsWith('- ')).length
      expect(lines.at(-1)).toBe(`… and ${1_000 - told} more`)
      for (const line of lines.slice(1, -1)) expect(line).toMatch(/^- [a-z_]+: é{159}… \[#\d+\]$/)
    }
  })

  it('finds sentences in any text, also in one of a single letter', () => {
    expect(sentencesOf('One. Two? v1.2 is out!\n\nThree 。')).toEqual(['One.', 'Two?', 'v1.2 is out!', 'Three 。'])
    expect(sentencesOf('a'.repeat(1_000_000))).toHaveLength(1)
    expect(sentencesOf('. '.repeat(500_000))).toHaveLength(500_000)
  })
})
