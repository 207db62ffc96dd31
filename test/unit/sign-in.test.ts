import { expect, it } from 'vitest'
import { parseConfig } from '../../src/config'
import { readEmail } from '../../src/domain/identity/sign-in'

it('[PLATFORM-120] compares addresses in lower case, and accepts ASCII alone, whose letters have one lower case', () => {
  expect(['Ada@Example.COM', ' a+b.c@x-y.example '].map(readEmail)).toEqual(['ada@example.com', 'a+b.c@x-y.example'])
  const refused = [
    '',
    'ada',
    'ada@',
    '@example.com',
    'a b@example.com',
    'a@b@c.example',
    '<a@example.com>',
    'a@example.com, b@c.d',
  ]
  for (const text of [
    ...refused,
    'ad\u212a@example.com',
    'ada@ex\u0430mple.com',
    `${'a'.repeat(250)}@b.cd`,
    5,
    null,
    ['a@b.cd'],
  ])
    expect([text, readEmail(text)]).toEqual([text, null])
})

it('[PLATFORM-124] needs both settings of a provider, by https', () => {
  const given = (env: Record<string, string>) => () => parseConfig({ AUTH_MODE: 'required', ...env })
  expect(given({ OIDC_ISSUER: 'https://id.example' })).toThrow('Set OIDC_ISSUER and OIDC_CLIENT_ID together')
  expect(given({ ACCESS_AUD: 'tag' })).toThrow('Set ACCESS_TEAM_DOMAIN and ACCESS_AUD together')
  for (const url of ['http://id.example', 'ftp://id.example', 'https://a@id.example', 'https://id.example?x=1'])
    expect(given({ OIDC_ISSUER: url, OIDC_CLIENT_ID: 'c' })).toThrow('OIDC_ISSUER is not an https URL')
  const { signIn } = given({ ACCESS_TEAM_DOMAIN: 'acme.cloudflareaccess.com/', ACCESS_AUD: 'tag' })()
  expect(signIn).toEqual({ access: { team: 'https://acme.cloudflareaccess.com', audience: 'tag' }, openId: null })
  expect(
    parseConfig({ AUTH_MODE: 'open', OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'c' }).signIn.openId,
  ).toBeNull()
})
