import { describe, expect, it } from 'vitest'
import { readProjectName, remoteOf } from '../../src/domain/identity/project-names'
import { seeded } from '../support/seeded'

/** The form in which names of projects are compared (docs/projects.md). */
describe('a name of a project', () => {
  it.each([
    ['git@github.com:acme/checkout.git', 'github.com/acme/checkout'],
    ['GIT@GitHub.com:Acme/Checkout', 'github.com/acme/checkout'],
    ['https://github.com/acme/checkout', 'github.com/acme/checkout'],
    ['https://user:tok@github.com:443/acme/checkout.git', 'github.com/acme/checkout'],
    ['https://github.com/acme/checkout.git/?x=token#y', 'github.com/acme/checkout'],
    ['ssh://git@github.com:22/acme/checkout.git', 'github.com/acme/checkout'],
    ['ssh://git@ssh.github.com:443/acme/checkout.git', 'github.com/acme/checkout'],
    ['git+ssh://git@gitlab.com/group/sub/checkout.git', 'gitlab.com/group/sub/checkout'],
    ['www.github.com/acme/checkout/', 'github.com/acme/checkout'],
    ['github.com:443/acme/checkout', 'github.com/acme/checkout'],
    ['gitlab.acme.internal/team/checkout.git', 'gitlab.acme.internal/team/checkout'],
  ])('that is a remote has one form: %s', (given, normal) => {
    expect(readProjectName(given)).toEqual({ kind: 'remote', normal, segment: 'checkout', key: normal })
  })

  it.each([
    ['/Users/Ben/src/Checkout/', '/users/ben/src/checkout'],
    ['/Users/Ben//src/./x/../Checkout', '/users/ben/src/checkout'],
    ['file:///Users/Ben/src/Checkout', '/users/ben/src/checkout'],
    ['C:\\src\\Checkout', 'c:/src/checkout'],
    ['c:/src/Checkout', 'c:/src/checkout'],
    ['file:///C:/src/Checkout', 'c:/src/checkout'],
    ['\\\\server\\share\\Checkout', '//server/share/checkout'],
    ['~/client-a/Checkout', '~/client-a/checkout'],
  ])('that is a folder is compared without case, by its parts: %s', (given, normal) => {
    expect(readProjectName(given)).toMatchObject({ kind: 'folder', normal, segment: 'checkout' })
  })

  it.each([
    ['Checkout', 'short', 'checkout'],
    [' my project ', 'short', 'my project'],
    ['v1.2', 'short', 'v1.2'],
    ['team: billing', 'short', 'team: billing'],
    ['12:30', 'short', '12:30'],
    ['acme/checkout', 'other', 'acme/checkout'],
    ['src\\Checkout', 'other', 'src/checkout'],
  ])('that is neither keeps its spelling as its key: %s', (given, kind, normal) => {
    expect(readProjectName(given)).toMatchObject({ kind, normal, key: given.trim() })
  })

  it.each(['', '  ', '\n'])('is none where it is blank: %j', (given) => {
    expect(readProjectName(given)).toBeNull()
  })

  it('never ends in home or the root', () => {
    for (const given of ['/', '~', '~/', 'C:\\', 'c:/']) expect(readProjectName(given)?.segment).toBe('')
  })

  it.each([
    'https://bob:hunter2Secret9@git.acme.internal/',
    'bob:hunter2Secret9@localhost/team/repo',
    '//bob:hunter2Secret9@git.acme.internal/team/repo',
    'https://bob:hunter2Secret9@bad host/team/repo',
    'https://bob:hunter2Secret9@[::x]/team/repo',
  ])('has no password where it is not read as a remote: %s', (given) => {
    expect(JSON.stringify(readProjectName(given))).not.toMatch(/hunter2/i)
  })

  it('has the same form again, and no password, whatever is sent', () => {
    const random = seeded(58)
    const parts = [
      '/',
      ':',
      '@',
      '\\',
      '.',
      '..',
      '~',
      'git',
      'github.com',
      'acme',
      'Ünïcode',
      '%2F',
      '%',
      ' ',
      'https://',
      'C:',
      '.git',
      '-',
      '?',
      '#',
    ]
    for (let n = 0; n < 5_000; n++) {
      const given = Array.from(
        { length: 1 + Math.floor(random() * 7) },
        () => parts[Math.floor(random() * parts.length)],
      ).join('')
      const read = readProjectName(given)
      if (read === null || read.kind === 'other') continue
      expect([given, readProjectName(read.normal)?.normal]).toEqual([given, read.normal])
    }
    expect(readProjectName('https://ben:s3cret@example.com/acme/api')?.key).toBe('example.com/acme/api')
  })

  it('that git has as a remote may be an alias of ssh, and is none where it is a path', () => {
    expect(remoteOf('github-work:acme/ferry.git')).toBe('github-work/acme/ferry')
    for (const given of ['/srv/git/ferry', '../ferry', 'file:///srv/ferry', 'C:/src/ferry', ''])
      expect(remoteOf(given)).toBeNull()
  })
})
