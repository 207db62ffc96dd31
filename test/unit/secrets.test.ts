import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { redact } from '../../src/domain/secrets/redact'
import { FORMS } from '../../src/domain/secrets/token-forms'
import { ROOT } from '../support/build'
import { isLeftIn, PROVIDER_SETS, providerSecrets } from '../support/provider-forms'
import { fillToken, NAMED_FORMS, PASSPHRASES, randomNumbers, randomText, TOKEN_FORMS } from '../support/secret-forms'
import { LOOK_ALIKES, POSITIVES, TOKENS } from '../support/secret-samples'

const body = (count: number): string => 'aB3dE6gH9kL2nP5rT8vX'.repeat(10).slice(0, count)

/** Values in the form of generators, with and without digits. */
const VALUES = [
  ['alphanumeric', 12],
  ['alphanumeric', 24],
  ['letters', 20],
  ['hex', 32],
] as const

describe('secrets', () => {
  it('[FABRIC-101, FABRIC-167] removes secrets of every kind from settings, JSON, YAML, URLs, escaped and colored logs', () => {
    expect(POSITIVES.length).toBeGreaterThanOrEqual(150)
    for (const [text, secret, kind] of POSITIVES) {
      const clean = redact(text)
      expect([text, clean.includes(secret), clean.includes(`[redacted:${kind}]`)]).toEqual([text, false, true])
      expect([text, redact(clean)]).toEqual([text, clean])
    }
    for (const [kind, token] of TOKENS) {
      expect(redact(token)).toBe(`[redacted:${kind}]`)
      // Inside a word it is not one of these, but may match an unlisted provider.
      expect(redact(`ab${token}`)).not.toContain(`[redacted:${kind}]`)
    }
    const kinds = new Set<string>()
    for (const text of ['x', 'redis://:hunter2@cache', POSITIVES[0]?.[0] as string]) redact(text, kinds)
    expect([...kinds]).toEqual(['password', 'aws'])
  })

  it('[FABRIC-104, FABRIC-167] leaves no random value of a listed form', () => {
    const random = randomNumbers(59)
    const left = new Set<string>()
    for (const form of TOKEN_FORMS)
      for (let i = 0; i < 200; i++) {
        const clean = redact(`use ${fillToken(form, random)} here`)
        if (!/^use \[redacted:[\w-]+\] here$/.test(clean)) left.add(`${form}: ${clean}`)
      }
    for (const form of NAMED_FORMS)
      for (let i = 0; i < 200; i++)
        for (const [alphabet, length] of VALUES) {
          const value = randomText(random, alphabet, length)
          const clean = redact(form.replace('§', value))
          // Only the value is removed; color codes remain.
          const isClean = !clean.includes(value) && clean.split('\u001b').length === form.split('\u001b').length
          if (!isClean) left.add(`${form}: ${clean}`)
        }
    for (const text of PASSPHRASES) if (!redact(text).includes('[redacted:')) left.add(text)
    expect([...left]).toEqual([])
  })

  it('are found by the hook program, in which the rules are minified, as by the server', () => {
    const program = readFileSync(join(ROOT, 'plugins/commonplace/hook.mjs'), 'utf8')
    const rules = program.slice(0, program.indexOf('})();') + 5)
    const minified = new Function(`${rules}\nreturn secretRules.redact`)() as typeof redact
    const random = randomNumbers(62)
    const texts = [
      ...Object.values(PROVIDER_SETS).flatMap((set) => providerSecrets(set, random).map(({ text }) => text)),
      ...TOKEN_FORMS.map((form) => fillToken(form, random)),
      ...NAMED_FORMS.map((form) => form.replace('§', randomText(random, 'alphanumeric', 20))),
      ...POSITIVES.map(([text]) => text),
      ...LOOK_ALIKES,
      ...PASSPHRASES,
    ]
    for (const text of texts) expect(minified(text)).toBe(redact(text))
  })

  it('are removed behind each listed prefix, in the fewest characters and in more', () => {
    const random = randomNumbers(60)
    const left = new Set<string>()
    for (const [prefix, forms] of FORMS)
      for (const { body, least, most, holds } of forms)
        for (let i = 0; i < 200; i++) {
          const length = Math.min(most, Math.max(least, 24) + (i % 2) * 8)
          const value = randomText(random, body === 'hex' || body === 'capitals' ? body : 'alphanumeric', length)
          const token = prefix + (holds === 'dot' ? `${value.slice(0, 14)}.${value.slice(15)}` : value)
          const clean = redact(`use ${token} here`)
          if (clean.includes(value.slice(-8))) left.add(`${prefix} ${body} ${length}: ${clean}`)
        }
    expect([...left]).toEqual([])
  })

  it('are removed as the documentation of at least 95 % of providers shows them, from a set of 269', () => {
    const random = randomNumbers(61)
    for (const set of Object.values(PROVIDER_SETS)) {
      const left = new Map<string, number>()
      let count = 0
      for (let i = 0; i < 20; i++) {
        const secrets = providerSecrets(set, random)
        count = secrets.length
        for (const one of secrets)
          if (isLeftIn(redact(one.text), one)) left.set(one.provider, (left.get(one.provider) ?? 0) + 1)
      }
      expect(count).toBeGreaterThanOrEqual(60)
      expect([[...left], left.size <= count * 0.05]).toEqual([expect.anything(), true])
    }
  })

  it('[FABRIC-103, FABRIC-167] leaves values that only look like a secret unchanged', () => {
    expect(new Set(LOOK_ALIKES).size).toBeGreaterThanOrEqual(150)
    expect(LOOK_ALIKES.filter((text) => redact(text) !== text)).toEqual([])
  })

  it('are found in time proportional to the length, also where many tokens end in one long row of punctuation', () => {
    const reads = (times: number): number => {
      const includes = vi.spyOn(String.prototype, 'includes')
      redact('pat:'.repeat(times) + ':'.repeat(4 * times))
      const { length } = includes.mock.calls
      includes.mockRestore()
      return length
    }
    expect(reads(400) / reads(200)).toBeLessThan(2.5)
  })

  it('leave the numbers of lines as they are, and a key without its end goes to the end of the text', () => {
    const key = ['-----BEGIN OPENSSH PRIVATE KEY-----', body(64), body(64), '-----END OPENSSH PRIVATE KEY-----']
    expect(redact(`a\n${key.join('\n')}\nb`)).toBe('a\n[redacted:private-key]\n\n\n\nb')
    expect(redact(`a\n${key.slice(0, 3).join('\n')}\nb`)).toBe('a\n[redacted:private-key]\n\n\n')
    expect(redact(`"${key.slice(0, 2).join('\\n')}`)).toBe('"[redacted:private-key]')
  })
})
