import { describe, expect, it } from 'vitest'
import { junitOf } from '../../src/cli/memory-test/command.mjs'
import { FileProblem, pinned, readTests } from '../../src/cli/memory-test/test-file'

const FILE = `# For the shop.
project: shop
tests:
  - name: refunds
    goal: make refunds safe to retry
    kind: decision
    within: 3
    must:
      - 12 # the ledger
      - { title: Retries, within: 1 }
    must_not: Old refunds
  - query: refund job
    must: { id: 7, contains: every hour }
`

describe('a file of memory tests', () => {
  it('[OPERATE-97] is YAML or JSON, with defaults for the project, the tool and the name', () => {
    const tests = readTests(FILE)
    expect(tests).toEqual([
      {
        ...{ name: 'refunds', tool: 'context', line: 4 },
        args: { project: 'shop', goal: 'make refunds safe to retry', kind: ['decision'] },
        must: [
          { id: 12, within: 3 },
          { title: 'Retries', within: 1 },
        ],
        mustNot: [{ title: 'Old refunds' }],
      },
      {
        ...{ name: 'refund job', tool: 'search', line: 12 },
        args: { project: 'shop', query: 'refund job' },
        must: [{ id: 7, contains: 'every hour' }],
        mustNot: [],
      },
    ])
    const json = JSON.stringify({ tests: [{ query: 'refund job', must: [{ id: 7, contains: 'every hour' }] }] })
    expect(readTests(json)).toMatchObject([{ name: 'refund job', must: [{ id: 7, contains: 'every hour' }] }])
  })

  it.each([
    ['tests: []', 'at least one test'],
    ['tests: [', 'Flow sequence'],
    ['- 1', 'must be a map'],
    ['test: 1', 'unknown member "test"'],
    ['tests: [{ goal: a }]', 'needs must or must_not'],
    ['tests: [{ must: [1] }]', 'either goal or query'],
    ['tests: [{ goal: a, query: b, must: [1] }]', 'either goal or query'],
    ['tests: [{ goal: a, tool: recall, must: [1] }]', 'context or search'],
    ['tests: [{ goal: a, mustnot: [1] }]', 'needs must or must_not|unknown member "mustnot"'],
    ['tests: [{ goal: a, mode: words, must: [1] }]', 'unknown member "mode"'],
    ['tests: [{ goal: a, must: [0] }]', 'must\\[0\\] must be an ID, a title'],
    ['tests: [{ goal: a, must: [{ within: 1 }] }]', 'either id or title'],
    ['tests: [{ goal: a, must: [1], within: 0 }]', 'within must be a positive'],
    ['tests: [{ goal: a, must: [{ id: 1, sha256: xyz }] }]', 'hexadecimal'],
    ['tests:\n  - goal: a\n    must: [1]\n  - goal: b\n', 'line 4: tests\\[1\\]'],
  ])('[OPERATE-97] is refused with the line and the member: %s', (text, message) => {
    expect(() => readTests(text)).toThrow(FileProblem)
    expect(() => readTests(text)).toThrow(new RegExp(message))
  })

  it('[OPERATE-97] is refused if its aliases expand to very many values', () => {
    const names = [...'bcdefghij']
    const lists = names.map((name, i) => `  - &${name} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(', ')}]`)
    expect(() => readTests(`tests:\n  - &a [x, x, x]\n${lists.join('\n')}\n`)).toThrow(FileProblem)
    expect(() => readTests('tests:\n  - &a [*a]\n')).toThrow(FileProblem)
  })

  it('[OPERATE-99] has pins written into it, next to its comments', () => {
    const sha256 = 'ab'.repeat(32)
    const text = pinned(FILE, [
      { test: 0, memory: 0, place: 2, sha256 },
      { test: 1, memory: 0, place: 1, sha256 },
    ])
    expect(text).toContain('# For the shop.')
    expect(text).toContain('# the ledger')
    const [first, second] = readTests(text)
    expect(first?.must).toEqual([
      { id: 12, within: 2, sha256: 'abababababababab' },
      { title: 'Retries', within: 1 },
    ])
    expect(second?.must).toEqual([{ id: 7, contains: 'every hour', within: 1, sha256: 'abababababababab' }])
    const json = JSON.stringify({ tests: [{ query: 'a', must: 'Title' }] })
    expect(JSON.parse(pinned(json, [{ test: 0, memory: 0, place: 1, sha256 }])).tests[0].must).toEqual([
      { title: 'Title', sha256: 'abababababababab', within: 1 },
    ])
  })
})

describe('the JUnit file', () => {
  it('[OPERATE-98] counts failures and errors, and escapes what stored texts hold', () => {
    const outcome = { name: 'a & "b"', line: 4, ms: 1_500, failures: [], error: null, pins: [] }
    const xml = junitOf('team/memory.test.yaml', [
      outcome,
      { ...outcome, failures: ['"<x>" was not returned\u0007', 'second'] },
      { ...outcome, error: 'no answer' },
    ])
    expect(xml).toContain('<testsuites tests="3" failures="1" errors="1" time="4.500">')
    expect(xml).toContain('name="a &amp; &quot;b&quot;" classname="memory.test.yaml"')
    expect(xml).toContain('<failure message="&quot;&lt;x&gt;&quot; was not returned">')
    expect(xml).toContain('<error message="no answer"/>')
    expect(xml).not.toContain('\u0007')
  })
})
