import { describe, expect, it } from 'vitest'
import { redact } from '../../src/domain/recall/secrets'
import { promise } from '../requirements/fabric'
import { LOOK_ALIKES, POSITIVES, TOKENS } from '../support/secret-samples'

const body = (count: number): string => 'aB3dE6gH9kL2nP5rT8vX'.repeat(10).slice(0, count)

describe('secrets', () => {
  it(promise('f7-kinds'), () => {
    expect(POSITIVES.length).toBeGreaterThanOrEqual(150)
    for (const [text, secret, kind] of POSITIVES) {
      const clean = redact(text)
      expect([text, clean.includes(secret), clean.includes(`[redacted:${kind}]`)]).toEqual([text, false, true])
      expect([text, redact(clean)]).toEqual([text, clean])
    }
    for (const [kind, token] of TOKENS) {
      expect(redact(token)).toBe(`[redacted:${kind}]`)
      expect([token, redact(`ab${token}`)]).toEqual([token, `ab${token}`])
    }
    const kinds = new Set<string>()
    for (const text of ['x', 'redis://:hunter2@cache', POSITIVES[0]?.[0] as string]) redact(text, kinds)
    expect([...kinds]).toEqual(['password', 'aws'])
  })

  it(promise('f7-look-alikes'), () => {
    expect(new Set(LOOK_ALIKES).size).toBeGreaterThanOrEqual(150)
    expect(LOOK_ALIKES.filter((text) => redact(text) !== text)).toEqual([])
  })

  it('leave the numbers of lines as they are, and a key without its end goes to the end of the text', () => {
    const key = ['-----BEGIN OPENSSH PRIVATE KEY-----', body(64), body(64), '-----END OPENSSH PRIVATE KEY-----']
    expect(redact(`a\n${key.join('\n')}\nb`)).toBe('a\n[redacted:private-key]\n\n\n\nb')
    expect(redact(`a\n${key.slice(0, 3).join('\n')}\nb`)).toBe('a\n[redacted:private-key]\n\n\n')
    expect(redact(`"${key.slice(0, 2).join('\\n')}`)).toBe('"[redacted:private-key]')
  })
})
