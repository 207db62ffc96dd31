import { describe, expect, it } from 'vitest'
import { createSessionSeal, SESSION_MS, type Session } from '../../src/domain/identity/session'
import { ago, bytes, count, percent, safePath, samePage, threadAt } from '../../src/http/dashboard/parts/words'

const NOW = Date.UTC(2026, 10, 23)
const session: Session = { keyId: 'key_0123', expiresAt: NOW + SESSION_MS, nonce: 'a'.repeat(32) }

describe('a session of the dashboard', () => {
  it('opens as it was sealed, until it ends, and names a key without holding it', async () => {
    const seal = await createSessionSeal('a secret', 'a token')
    const text = await seal.seal(session)
    expect(await seal.open(text, NOW)).toEqual(session)
    expect(await seal.open(text, session.expiresAt - 1)).toEqual(session)
    expect(await seal.open(text, session.expiresAt)).toBeNull()
    expect(text).toMatch(/^[A-Za-z0-9_~-]+$/)
  })

  it('counts nowhere but where it was signed, and not when any part of it was changed', async () => {
    const seal = await createSessionSeal('a secret', 'a token')
    const text = await seal.seal(session)
    for (const [secret, token] of [
      ['another secret', 'a token'],
      ['a secret', 'another token'],
      ['a secret', null],
    ] as const)
      expect(await (await createSessionSeal(secret, token)).open(text, NOW)).toBeNull()
    const [id, end, nonce, signature] = text.split('~') as [string, string, string, string]
    for (const forged of [
      `key_4567~${end}~${nonce}~${signature}`,
      `${id}~${Number(end) + 1}~${nonce}~${signature}`,
      `${id}~${end}~${'b'.repeat(32)}~${signature}`,
      `${id}~${end}~${nonce}~${'A'.repeat(43)}`,
      `${id}~${end}~${nonce}`,
      `${id}~${end}~${nonce}~${await seal.formToken(session)}`,
      '',
    ])
      expect([forged, await seal.open(forged, NOW)]).toEqual([forged, null])
  })

  it('has a token for forms that is its own', async () => {
    const seal = await createSessionSeal('a secret', null)
    const token = await seal.formToken(session)
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(await seal.formToken({ ...session, nonce: 'b'.repeat(32) })).not.toBe(token)
    expect(await seal.seal(session)).not.toContain(token)
  })
})

describe('addresses of pages', () => {
  it('lead on to this server alone', () => {
    for (const path of ['/', '/threads/a%2Fb', '/search?q=a&b=c']) expect(safePath(path)).toBe(path)
    for (const path of [null, '', 'x', '//evil', '/\\evil', 'https://evil', '/\u0000', '/a b', '/ä'])
      expect([path, safePath(path)]).toEqual([path, '/'])
  })

  it('lead to no other host once a browser has resolved them', () => {
    const steps = [
      '/..',
      '/.',
      '/%2e%2e',
      '/%2E%2e',
      '/.%2e',
      '/%2e',
      '/a/..',
      '/a/b/../..',
      '/a/%2e%2e',
      '/./..',
      '/x/../.',
    ]
    const hosts = [
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '\\/evil.example',
      '///evil.example',
      '//e@evil:80/x?y#z',
    ]
    for (const step of steps)
      for (const host of hosts) {
        const path = safePath(`${step}${host}`)
        expect([step, host, new URL(path, 'https://own.example').origin]).toEqual([step, host, 'https://own.example'])
        expect([step, host, path.startsWith('//'), path.includes('\\')]).toEqual([step, host, false, false])
      }
    for (const path of ['/a/../b', '/%2f%2fevil', '/a//b', '/search?q=//x', '/search?q=/..//x'])
      expect(new URL(safePath(path), 'https://own.example').pathname).toBe(
        new URL(path, 'https://own.example').pathname,
      )
    for (const path of ['//[', '//a:b:c', '/..//[']) expect(safePath(path)).toBe('/')
  })

  it('name threads of any name', () => {
    expect(threadAt('a/b?c#d%')).toBe('/threads/a%2Fb%3Fc%23d%25')
    expect([threadAt('.'), threadAt('..')]).toEqual(['/threads?id=.', '/threads?id=..'])
  })

  it('keep what they ask for when a part of it changes', () => {
    const url = new URL('http://h/search?q=a&tag=b&offset=20')
    expect(samePage(url, { offset: 40 })).toBe('/search?q=a&tag=b&offset=40')
    expect(samePage(url, { offset: null, tag: null })).toBe('/search?q=a')
  })
})

it('formats numbers, sizes and times for people', () => {
  expect([count(0), count(999), count(1234567)]).toEqual(['0', '999', '1,234,567'])
  expect([bytes(12), bytes(1234), bytes(12_345_678), bytes(9_876_543_210)]).toEqual([
    '12 B',
    '1.2 KB',
    '12.3 MB',
    '9.88 GB',
  ])
  expect([percent(1, 3), percent(0, 0), percent(999, 1000)]).toEqual(['33.3%', '–', '99.9%'])
  const hour = 3_600_000
  expect(
    [0, 59_000, 5 * 60_000, 3 * hour, 50 * hour, 9 * 24 * hour, 400 * 24 * hour].map((past) => ago(NOW - past, NOW)),
  ).toEqual([...['just now', 'just now', '5 min ago', '3 h ago', '2 d ago', 'Nov 14', 'Oct 19, 2025']])
})
