import { describe, expect, it } from 'vitest'
import { redact } from '../../src/domain/recall/secrets'

const letters = (count: number): string => 'aB3dE6gH9'.repeat(60).slice(0, count)
/** Put together here, so that no scanner takes this file for a leak. */
const SECRETS: readonly (readonly [kind: string, secret: string])[] = [
  ['aws-key', `AKIA${'Q2W3E4R5T6Y7U8I9'}`],
  ['aws-key', `ASIA${'Q2W3E4R5T6Y7U8I9'}`],
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((head) => ['github-token', `${head}_${letters(36)}`] as const),
  ['github-token', `github_pat_${letters(22)}_${letters(40)}`],
  ['gitlab-token', `glpat-${letters(20)}`],
  ['npm-token', `npm_${letters(36)}`],
  ['api-key', `sk-${letters(48)}`],
  ['api-key', `sk-ant-api03-${letters(60)}-${letters(10)}`],
  ['slack-token', `xoxb-${'123456789012'}-${letters(24)}`],
  ['google-key', `AIza${letters(35)}`],
  ['stripe-key', `sk_live_${letters(24)}`],
  ['stripe-key', `rk_live_${letters(24)}`],
  ['commonplace-key', `cp_${letters(49)}`],
  ['jwt', `eyJ${letters(20)}.eyJ${letters(40)}.${letters(43)}`],
]

describe('secrets of known forms', () => {
  for (const [kind, secret] of SECRETS)
    it(`of the kind ${kind} are taken out wherever they stand (${secret.slice(0, 12)}…)`, () => {
      expect(redact(`a = "${secret}";`)).toBe(`a = "[redacted:${kind}]";`)
      expect(redact(secret)).toBe(`[redacted:${kind}]`)
    })

  it('are taken out behind Bearer and in URLs, and what stands around them stays', () => {
    expect(redact(`curl -H "Authorization: Bearer ${letters(30)}" x`)).toBe(
      'curl -H "Authorization: Bearer [redacted:bearer-token]" x',
    )
    expect(redact('postgres://ada:pa55word@db:5432/x')).toBe('postgres://ada:[redacted:password]@db:5432/x')
    expect(redact('redis://:hunter2@cache')).toBe('redis://:[redacted:password]@cache')
  })

  it('leave the numbers of lines as they are', () => {
    const key = ['-----BEGIN OPENSSH PRIVATE KEY-----', letters(64), letters(64), '-----END OPENSSH PRIVATE KEY-----']
    expect(redact(`a\n${key.join('\n')}\nb`)).toBe('a\n[redacted:private-key]\n\n\n\nb')
  })

  it('are not seen in what only looks like one', () => {
    for (const text of [
      'https://example.com:8080/a@b and http://localhost:8787/mcp',
      'class="sk-folding-cube-animation-wrapper"',
      'Bearer authentication is described below',
      'const cp_count = npm_config; AKIA; eyJ.eyJ.x; ghp_short',
      'postgres://user:$' + '{PASSWORD}@host',
      '-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----',
      'TASKASIAN123456789012345',
    ])
      expect(redact(text)).toBe(text)
  })
})
