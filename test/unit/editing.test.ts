import { describe, expect, it } from 'vitest'
import { differingWords } from '../../src/domain/history/word-diff'
import { jsonFlaw } from '../../src/domain/json/error-line'

describe('the first error of a JSON text', () => {
  it.each([
    ['{\n  "kind": note\n}', 2],
    ['{\n "a": 1\n "b": 2}', 3],
    ['{\n "a": "x\ny"}', 2],
    ['{"a": 1,\n}', 2],
    ['[1,\n\n]', 3],
    ['{"a":\n', 2],
    ['{"a": 1}\n\n{', 3],
    ['{a: 1}', 1],
    ['', 1],
    ['01', 1],
    ["{'a': 1}", 1],
  ])('[OPERATE-163] is named with its line: %j', (text, line) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(jsonFlaw(text)?.line).toBe(line)
  })

  it.each(['{}', '[]', ' {"a": [1, -2.5e+3, {"b": null}], "c": "\\u00e4\\n", "d": true} ', '"x"', '0', '[[[]]]'])(
    'does not exist in valid JSON: %s',
    (text) => {
      expect(() => JSON.parse(text)).not.toThrow()
      expect(jsonFlaw(text)).toBeNull()
    },
  )
})

describe('two lines compared by words', () => {
  const marked = (before: string, after: string) => {
    const found = differingWords(before, after)
    const text = (parts: readonly { text: string; differs: boolean }[]) =>
      parts.map((part) => (part.differs ? `[${part.text}]` : part.text)).join('')
    return found === null ? null : [text(found.before), text(found.after)]
  }

  it('[OPERATE-153] mark complete words, also several in one line', () => {
    expect(marked('We sell tickets at the quay.', 'We sell passes at the new quay.')).toEqual([
      'We sell [tickets] at the quay.',
      'We sell [passes] at the [new ]quay.',
    ])
    expect(marked('größer als', 'größte als')).toEqual(['[größer] als', '[größte] als'])
  })

  it('are not marked if they share no word, or differ in hundreds of words', () => {
    expect(marked('one two', 'three four')).toBeNull()
    const long = (word: string) => Array.from({ length: 400 }, (_, i) => `${word}${i}`).join(' ')
    expect(marked(long('a'), long('b'))).toBeNull()
  })
})
