import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAM, surroundings } from '../support/command'
import { runHere } from '../support/command-here'
import { startPlace } from '../support/places'
import { runProgram } from '../support/program'
import type { RunningServer } from '../support/server'

/** The memory from a terminal, without a client. */
describe('commonplace remember, search, context, undo and open', () => {
  let server: RunningServer
  const home = mkdtempSync(join(tmpdir(), 'commonplace-home-'))
  beforeAll(async () => {
    server = await startPlace()
  })
  afterAll(async () => {
    await server.stop()
    rmSync(home, { recursive: true })
  })
  const run = (args: string[], environment: Record<string, string> = {}) =>
    runHere([...args, '--url', server.url.origin], { HOME: home, ...environment })
  const results = async (query: string) => JSON.parse((await run(['search', query, '--json'])).out).results

  it('store a memory, find it, and show it to an agent with a goal', async () => {
    const text = 'The flaky login test waits for the wrong selector. Use data-testid.'
    const stored = await run(['remember', text, '--project', 'shop', '--kind', 'gotcha', '--tags', 'tests, login'])
    expect(stored).toEqual({
      code: 0,
      out: '✓ Remembered as 1 (gotcha in shop). Undo: npm run -s commonplace -- undo\n',
      err: '',
    })
    const found = await run(['search', 'login', 'selector'])
    expect(found.out).toMatch(
      /^ {3}1 {2}The flaky login test waits for the wrong selector\n {6}gotcha · shop · #login · #tests/,
    )
    const pack = await run(['context', 'fix the login test', '--project', 'shop'])
    expect(pack.out).toMatch(/\nGotchas\n {3}1 {2}The flaky login test[\s\S]*why: /)
    expect(await results('login')).toMatchObject([{ id: 1, tags: ['login', 'tests'], content: text }])
    expect((await run(['remember', text, '--project', 'shop', '--kind', 'gotcha'])).out).toMatch(/^= 1 already holds/)
  })

  it('undo the last change, and undo the undo', async () => {
    const { id } = JSON.parse((await run(['remember', 'Zebras are striped.', '--json'])).out)
    expect((await run(['undo'])).out).toMatch(`✓ Deleted ${id}. To redo it: npm run -s commonplace -- undo`)
    expect(await results('zebras')).not.toContainEqual(expect.objectContaining({ id }))
    expect((await run(['undo'])).out).toBe(`✓ Restored ${id}.\n`)
    expect(await results('zebras')).toContainEqual(expect.objectContaining({ id, title: 'Zebras are striped' }))
    expect(await run(['undo'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('No change was made from this machine'),
    })
    await run(['remember', 'Lions are not.'])
    const elsewhere = await runHere(['undo', '--url', 'http://127.0.0.1:9'], { HOME: home })
    expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining(`undo --url ${server.url.origin}`) })
  })

  it('lists pairs of which the earlier memory may be outdated, and settles one', async () => {
    expect((await run(['stale'])).out).toMatch(
      /^No pair waits for a judgement\. The server looks for pairs every few minutes/,
    )
    const [earlier, later] = [
      JSON.parse((await run(['remember', 'Gates open at nine in the harbour.', '--kind', 'rule', '--json'])).out).id,
      JSON.parse((await run(['remember', 'Gates open at ten in the harbour.', '--kind', 'rule', '--json'])).out).id,
    ]
    expect((await run(['stale', 'both-hold', `${later}`])).code).toBe(2)
    const settled = await run(['stale', 'replaces', `${later}`, `${earlier}`])
    expect(settled.out).toContain(`✓ ${later} replaces ${earlier}. Undo:`)
    expect((await results('gates')).find(({ id }: { id: number }) => id === earlier).replaced_by).toBe(later)
    expect((await run(['undo'])).out).toContain(`Restored ${later} as it was before`)
    expect((await run(['stale', 'merge', `${later}`, `${earlier}`])).out).toContain(`holds ${later} and ${earlier}`)
  })

  it('[OPERATE-90] explain why a call did not return a memory', async () => {
    const elsewhere = JSON.parse((await run(['remember', 'Owls hunt at night.', '--project', 'zoo', '--json'])).out).id
    const asked = ['why', 'when do owls hunt', `${elsewhere}`]
    expect((await run(asked)).out).toMatch(/^✓ returned\. The call returned it, as number \d+\.\n$/)
    expect((await run([...asked, '--project', 'farm', '--tool', 'search'])).out).toMatch(
      /^✗ project\. It belongs to project zoo, and the call names project farm\./,
    )
    const { causes } = JSON.parse((await run(['why', 'owls', '987654', '--json'])).out)
    expect(causes).toMatchObject([{ cause: 'not_found' }])
    expect((await run(['why', 'owls'])).code).toBe(2)
    expect(await run([...asked, '--tags', 'a'])).toMatchObject({ code: 1, err: expect.stringContaining('tags') })
  })

  it('color what a terminal shows and nothing else', async () => {
    expect((await run(['search', 'striped'])).out).not.toContain('\u001b')
    expect((await run(['search', 'striped'], { FORCE_COLOR: '1' })).out).toContain('\u001b[1mZebras')
    expect((await run(['search', 'striped'], { FORCE_COLOR: '1', NO_COLOR: '1' })).out).not.toContain('\u001b')
  })

  it('never let a stored text control the terminal', async () => {
    await run(['remember', 'Escape \u001b[2J hidden', '--title', 'Bell \u0007'])
    const { out } = await run(['search', 'escape'])
    expect(out).toContain('Bell \\u0007')
    expect(out).toContain('Escape \\u001b[2J hidden')
  })

  it('read the text from standard input, and report missing arguments', async () => {
    const args = ['remember', '-', '--url', server.url.origin, '--json']
    const piped = await runProgram(PROGRAM, args, surroundings({ HOME: home }), {
      input: 'From a pipe.\nSecond line.\n',
    })
    expect(JSON.parse(piped.out)).toMatchObject({ kind: 'note' })
    expect(await results('pipe')).toContainEqual(
      expect.objectContaining({ title: 'From a pipe', content: 'From a pipe.\nSecond line.' }),
    )
    expect(await run(['remember', ' '])).toMatchObject({ code: 2, err: expect.stringContaining('needs a text') })
    expect(await run(['search', 'quasar', '--mode', 'words'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Nothing found/),
    })
  })

  it('print the address of the dashboard where no desktop can open it', async () => {
    const nowhere = { DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '' }
    expect((await run(['open'], nowhere)).out).toBe(`Open this address in a browser: ${server.url.origin}/\n`)
    expect(JSON.parse((await run(['open', '--json'], nowhere)).out)).toEqual({
      url: `${server.url.origin}/`,
      opened: false,
    })
    expect((await run(['open'], { BROWSER: 'true' })).out).toBe(`Opened ${server.url.origin}/\n`)
  })

  it('explain how to sign in when the server requires a key', async () => {
    const closed = await startPlace({ AUTH_MODE: 'required' })
    const { code, err } = await runHere(['search', 'x', '--url', closed.url.origin])
    expect([code, err]).toEqual([1, expect.stringContaining('COMMONPLACE_KEY')])
    await closed.stop()
  })
})
