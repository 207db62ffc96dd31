import { describe, expect, it } from 'vitest'
import { redact } from '../../src/domain/secrets/redact'
import { charactersRead } from '../support/characters-read'

/**
 * An expression that is linear from one place is not when it is tried at many: what follows each beginning may reach over all others.
 * No detector sees that, so characters are counted while texts are read that repeat beginnings, with what may follow them.
 *
 * @param size of each text; the longest is repeated forty times in 2,000 characters
 */
export function linearWalks(size: number): void {
  describe('walks that try expressions at many places', () => {
    const BEGINNINGS = [
      ...[
        'AKIA',
        'ASIA',
        'ghp_',
        'github_pat_',
        'glpat-',
        'npm_',
        'sk_live_',
        'AIza',
        'cp_',
        'sk-',
        'xoxb-',
        ...['ya29.', 'SG.', 'hvs.', 'glpat-', 'hooks.slack.com/services/', '8Q~', 'abc8Q~', 'whsec_', 'basic \t'],
        ...['token=', 'TOKEN=', 'password: "', 'a_key:', 'secret', '\\x1b[32m', 'token\\"', "password: '"],
        'eyJ',
        '.eyJ',
        ...[
          's.',
          'pat',
          're_',
          'EAAA',
          'sk-ant-',
          ':A',
          '.abcdef.',
          '.atlasv1.',
          '-us1',
          'NRAL',
          '_mmk',
          '+ASt',
          '_A1b',
        ],
        ...[
          'pass=',
          'Cookie: a=b; ',
          'cookie',
          'Authorization: a ',
          '--password ',
          '<password>',
          'ENV A_KEY b',
          'login a password b',
        ],
        ...[
          'curl -u a:b ',
          'curl ',
          'mysql -pa',
          'my password is ',
          'password: |\n ',
          '"name":"A_TOKEN","value":"b"',
          'sig=',
          'key',
          '?key=a&',
        ],
      ],
      ...['Bearer ', '://', '-----BEGIN ', '-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', 'PRIVATE KEY'],
    ]
    const FOLLOWERS = [
      ...BEGINNINGS,
      '',
      '-',
      '_',
      '.',
      ' ',
      ':',
      '@',
      '=',
      '\n',
      '"',
      'a',
      'A1',
      'aaaaaaaa',
      '----------',
    ]

    it('read each character a few times, whatever is repeated', () => {
      const most = { text: '', times: 0 }
      for (const beginning of BEGINNINGS)
        for (const follower of FOLLOWERS) {
          const text = `${beginning}${follower}`
          const whole = text.repeat(size / text.length)
          const times = charactersRead(() => redact(whole)) / whole.length
          if (times > most.times) Object.assign(most, { text, times })
        }
      // Four passes, and windows of at most eighty characters before a mark or a name.
      expect(most.times, `of ${most.text}`).toBeLessThan(40)
      const longer = most.text.repeat((4 * size) / most.text.length)
      expect(charactersRead(() => redact(longer)) / longer.length).toBeLessThan(1.1 * most.times)
    })

    it('are distinguished by the test itself', () => {
      const text = 'sk-'.repeat(1_000)
      const retried = () =>
        [...text.matchAll(/sk-/g)].map(({ index }) => /^[\w-]*/.exec(text.slice(index, index + 512)))
      expect(charactersRead(retried) / text.length).toBeGreaterThan(100)
    })
  })
}
