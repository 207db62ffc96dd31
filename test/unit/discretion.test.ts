import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatKey, isWellFormedKey, KEY_BYTES, sameHash } from '../../src/domain/identity/key'
import { withoutEchoes } from '../../src/domain/identity/remove-echoes'
import { logLine } from '../../src/http/log'
import { ANY } from '../support/any-text'

/** Redaction of logs: keys, texts and metadata values. */
describe('a log line', () => {
  it('is one line of printable characters, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY, maxLength: 200 }), (message) => {
        const line = logLine('ERROR', 'event', { message, nested: { list: [message] } })
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
        expect(JSON.parse(line).level).toBe('ERROR')
      }),
    )
  })

  it('holds no key and no bearer token', () => {
    const key = formatKey(new Uint8Array(KEY_BYTES).fill(7))
    const line = logLine('ERROR', 'event', { message: `bad key ${key} at Bearer abc.def`, cause: [key] })
    expect(line).not.toContain(key.slice(3))
    expect(line).not.toContain('abc.def')
  })
})

describe('an error message for the log', () => {
  it('repeats nothing of the text of the caller', () => {
    const args = { text: 'The salary of Ada is 4,200 a month.', metadata: { name: 'Grace', deep: [{ pin: '9382' }] } }
    const message = `near "salary of Ada is 4,200": 'Grace' 9382 is not a number (status 400)`
    expect(withoutEchoes(message, args)).toBe(`near "…": '…' … is not a number (status 400)`)
  })

  it('keeps its own words', () => {
    expect(withoutEchoes('no such table: entries', { text: 'entirely different' })).toBe('no such table: entries')
  })

  it('holds no stretch of twelve characters of any argument', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12, maxLength: 80 }), fc.string({ maxLength: 20 }), (secret, around) => {
        const clean = withoutEchoes(`${around}${secret}${around}`, { secret })
        for (let at = 0; at + 12 <= secret.length; at++) expect(clean).not.toContain(secret.slice(at, at + 12))
      }),
    )
  })
})

describe('a key', () => {
  it('is well formed as it is made, and not with any one letter changed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: KEY_BYTES, maxLength: KEY_BYTES }), fc.nat(51), (random, at) => {
        const key = formatKey(random)
        expect(key).toMatch(/^cp_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/)
        expect(isWellFormedKey(key)).toBe(true)
        const other = key[at] === 'x' ? 'y' : 'x'
        expect(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
      }),
    )
  })

  it('is compared completely, whatever differs', () => {
    expect([sameHash('ab', 'ab'), sameHash('ab', 'ac'), sameHash('ab', 'abc'), sameHash('', '')]).toEqual([
      true,
      false,
      false,
      true,
    ])
  })
})
