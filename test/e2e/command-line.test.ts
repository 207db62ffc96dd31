import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../support/build'
import { CLIENTS, type Connect } from '../support/clients'
import { runCommand } from '../support/command'
import { runHere } from '../support/command-here'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'

/** The command line, run as a person runs it. */
const commonplace = (...args: string[]) => runCommand(args)

describe('commonplace reembed', () => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startPlace()
  })
  afterAll(() => server.stop())

  it('shows how far it is and ends when every entry has vectors', async () => {
    const client = await (CLIENTS['SDK v2, revision 2026-07-28'] as Connect)(server.url)
    await client.call('store_context', { thread_id: 't', source: 'user', text: 'words' })
    await client.close()
    const { code, out } = await runCommand(['reembed', '--url', server.url.origin])
    expect([code, out]).toEqual([0, expect.stringContaining('1/1 entries')])
    const asked = await commonplace('reembed', '--url', server.url.origin, '--json')
    expect(JSON.parse(asked.out)).toEqual({ made: 0, entries: 1, embedded: 1 })
  })

  it('shows every command in its help, which its page names too', async () => {
    const [{ out, code }, other] = [await commonplace('--help'), await commonplace('help')]
    expect([code, other]).toEqual([0, { code: 0, out, err: '' }])
    const named = [...out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)(?= |$)/gm)].map(([, name]) => name as string)
    expect(named.length).toBeGreaterThan(12)
    const page = readFileSync(join(ROOT, 'docs/command-line.md'), 'utf8')
    const row = (name: string): string => `\`${name.split(' ')[0]}`
    expect(named.filter((name) => !page.includes(row(name)))).toEqual([])
  })

  it('says what is wrong: 2 for wrong usage, 1 for a server that does not answer', async () => {
    expect(await runCommand([])).toMatchObject({ code: 2, err: expect.stringContaining('usage:') })
    expect(await commonplace('dance')).toMatchObject({
      code: 2,
      err: expect.stringContaining('unknown command: dance'),
    })
    expect(await commonplace('reembed', '--speed')).toMatchObject({ code: 2 })
    expect(await commonplace('reembed', '--url', 'http://127.0.0.1:9')).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not answer'),
    })
  })

  it('shows of wrong usage and of a command with --help only how that command is called, so that the problem stays in sight', async () => {
    const wrong = await commonplace('--url', server.url.origin, 'keys', 'create')
    expect([wrong.code, wrong.out]).toEqual([2, ''])
    expect(wrong.err).toMatch(/^keys create needs one more word.*\n\nusage: commonplace\n {2}keys create NAME/)
    expect(wrong.err).not.toMatch(/keys list|export --out/)
    expect(wrong.err).toContain('commonplace --help tells all commands')
    expect((await commonplace('keys')).err).toMatch(/keys list\n {2}keys create [\s\S]*keys revoke/)
    expect((await commonplace('verify', '/nowhere')).err.split('\n').length).toBeLessThan(10)
    expect((await commonplace('dance')).err).toMatch(/one of start, orgs, .*verify\n/)
    const { code, out } = await commonplace('export', '--help')
    expect([code, out]).toEqual([0, expect.stringMatching(/^usage: commonplace\n {2}export --out F/)])
    expect(out).not.toContain('import F')
  })

  it('says which words may follow one that is half a command', async () => {
    for (const [word, further] of [
      ['keys', 'list, create, revoke'],
      ['orgs', 'list, create'],
      ['audit', 'list'],
    ] as const) {
      const { code, err } = await runHere([word, '--url', server.url.origin])
      expect([code, err.split('\n')[0]]).toEqual([2, `${word} needs one more word: ${further}`])
    }
  })

  it('says of a server that does not answer who knows what to do, and how another is named', async () => {
    const { code, err } = await runHere(['orgs', 'list', '--url', 'http://127.0.0.1:9'])
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /does not answer: .* \("commonplace doctor" says what to do; --url or COMMONPLACE_URL names/,
      ),
    ])
  })

  it('says of a URL without http that it is none, and takes an empty variable for one that is not set', async () => {
    for (const command of [
      ['orgs', 'list'],
      ['watch'],
      ['reembed'],
      ['export', '--out', 'x'],
      ['setup', 'cursor', '--print'],
    ])
      for (const [option, environment] of [
        [['--url', 'localhost:9'], {}],
        [[], { COMMONPLACE_URL: 'localhost:9' }],
      ] as const) {
        const { code, err } = await runCommand([...command, ...option], environment)
        expect([command, code]).toEqual([command, 2])
        expect(err).toMatch(/^(--url|COMMONPLACE_URL) is "localhost:9": a URL begins with http/)
      }
    const empty = await runCommand(['reembed', '--url', server.url.origin], { COMMONPLACE_URL: '' })
    expect(empty).toMatchObject({ code: 0 })
  })

  it('repeats the words of the server when it refuses', async () => {
    const closed = await startPlace({ AUTH_MODE: 'required' })
    const { code, err } = await commonplace('reembed', '--url', closed.url.origin)
    expect([code, err]).toEqual([1, expect.stringContaining('AUTH_MODE=open')])
  })
})
