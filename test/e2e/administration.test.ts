import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ADMIN_TOKEN, startTeam, type Team } from '../support/access'
import { runCommand } from '../support/command'
import { runHere } from '../support/command-here'
import { importSamples } from '../support/import-samples'

/** Administration by command; the program itself: command-line.test.ts. */
const operator = { ADMIN_TOKEN }

function useTeam() {
  const own = {} as { team: Team }
  beforeAll(async () => {
    own.team = await startTeam()
  })
  afterAll(() => own.team.stop())
  const commonplace = (credential: Record<string, string>, ...args: string[]) =>
    // A command that runs until it is stopped is a separate program.
    (args[0] === 'watch' ? runCommand : runHere)([...args, '--url', own.team.server.url.origin], credential)
  return { own, commonplace }
}

describe('commonplace orgs, projects, keys and audit, with one organization', () => {
  const { own, commonplace } = useTeam()

  it('make a team, show it, and end a key', async () => {
    expect(await commonplace(operator, 'orgs', 'create', 'acme', '--name', 'Acme Ltd')).toMatchObject({
      code: 0,
      out: 'Created organization acme.\n',
    })
    expect((await commonplace(operator, 'projects', 'create', 'apollo')).out).toBe('Created project apollo.\n')
    const made = await commonplace(operator, 'keys', 'create', 'ci', '--project', 'apollo', '--agent', 'ci-bot')
    const key = made.out.split('\n')[0] as string
    expect(key).toMatch(/^cp_/)
    expect(made.out).toContain('claude mcp add --transport http commonplace')
    const { data } = await own.team.call(key, 'store_context', { thread_id: 't', source: 'agent', text: 'by the key' })
    expect(data.success).toBe(true)

    const listed = (await commonplace(operator, 'keys', 'list')).out
    expect(listed).toMatch(/^ID +NAME +ROLE +PROJECTS/)
    expect(listed).toMatch(/key_\w+ +ci +writer +apollo +ci-bot +ci +valid/)
    expect(listed).not.toContain(key)
    const id = listed.match(/key_\w+/)?.[0] as string
    expect((await commonplace(operator, 'audit', 'list')).out).toMatch(/ci-bot +store_context +\d+ +stored=1/)
    expect((await commonplace(operator, 'keys', 'revoke', id)).out).toContain('Revoked ci')
    expect((await commonplace(operator, 'keys', 'list', '--json')).out).toContain('"revoked_at": "20')
    await expect(own.team.call(key, 'list_threads')).rejects.toThrow()
  })

  it('[OPERATE-181] rotates a key: the new one works, and the old one is refused', async () => {
    const made = await commonplace(
      operator,
      'keys',
      'create',
      'deploy',
      '--expires',
      '2999-01-01',
      '--email',
      'D@b.example',
    )
    expect((await commonplace(operator, 'keys', 'list', '--json')).out).toContain('"email": "d@b.example"')
    expect((await commonplace(operator, 'keys', 'create', 'x', '--email', 'nonsense')).err).toContain(
      'email must be an address',
    )
    const id = /key_\w+/.exec(made.out)?.[0] as string
    const rotated = await commonplace(operator, 'keys', 'rotate', id, '--expires', '2999-02-01')
    expect(rotated.out).toContain(`replaces ${id}, which is refused from now on`)
    const key = rotated.out.split('\n')[0] as string
    expect((await own.team.call(key, 'list_threads')).isError).toBe(false)
    await expect(own.team.call(made.out.split('\n')[0] as string, 'list_threads')).rejects.toThrow()
    const soon = new Date(Date.now() + 5 * 86_400_000).toISOString()
    const short = /key_\w+/.exec((await commonplace(operator, 'keys', 'create', 'short', '--expires', soon)).out)?.[0]
    const listed = (await commonplace(operator, 'keys', 'list')).out
    expect(listed).toContain('(soon)')
    expect(listed).toContain(`keys rotate ${short}`)
    for (const grace of ['1d', '', '0.5'])
      expect((await commonplace(operator, 'keys', 'rotate', short as string, '--grace', grace)).err).toContain(
        `--grace must be a whole number of hours: ${grace}`,
      )
    expect((await commonplace(operator, 'keys', 'rotate', short as string, '--grace', '24')).out).toMatch(
      /is accepted until /,
    )
  })

  it('[OPERATE-200] limits a key when it is made and later, and [OPERATE-206] shows what it used', async () => {
    const made = await commonplace(operator, 'keys', 'create', 'meter', '--rate-limit', '300', '--max-entries', '5')
    const id = /key_\w+/.exec(made.out)?.[0] as string
    const key = made.out.split('\n')[0] as string
    for (let i = 0; i < 4; i++)
      await own.team.call(key, 'store_context', { thread_id: 'meter', source: 'agent', text: `limited ${i}` })
    const listed = (await commonplace(operator, 'keys', 'list')).out
    expect(listed).toMatch(/meter .* valid +20.* 300\/min, 4 of 5 today/)
    expect(listed).toContain(`meter has stored 4 of 5 today`)
    expect(listed).toContain(`keys limit ${id} --max-entries N`)
    const raised = await commonplace(operator, 'keys', 'limit', id, '--max-entries', '50', '--rate-limit', 'none')
    expect(raised.out).toBe(
      `meter (${id}) may send as many requests a minute as the server allows and store 50 new entries a day.\n`,
    )
    for (const [more, problem] of [
      [[], 'name a limit: --rate-limit N or --max-entries N'],
      [['--max-entries', 'many'], '--max-entries must be a whole number from 1, or none: many'],
      [['--max-entries=-1'], '--max-entries must be a whole number from 1, or none: -1'],
      [['--max-entries', '0'], 'max_entries must be a whole number from 1 to'],
    ] as const)
      expect((await commonplace(operator, 'keys', 'limit', id, ...more)).err).toContain(problem)
    const refused = await commonplace({ ...operator, COMMONPLACE_KEY: key }, 'keys', 'limit', id, '--max-entries', '60')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('needs the role admin')])
  })

  it('[OPERATE-175] lets a person leave after a dry run, and [OPERATE-180] writes all that is stored of them to files', async () => {
    const of = async (name: string) =>
      (await commonplace(operator, 'keys', 'create', name, '--owner', name)).out.split('\n')[0] as string
    const [eve, bob] = [await of('eve'), await of('bob')]
    const metadata = { audience: 'private' }
    await own.team.call(eve, 'store_context', { thread_id: 'eve', source: 'agent', text: 'only for eve', metadata })
    const folder = mkdtempSync(join(tmpdir(), 'people-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const out = join(folder, 'eve.ndjson')
    const exported = await commonplace(operator, 'people', 'export', 'eve', '--out', out)
    expect([exported.code, exported.err]).toEqual([0, ''])
    expect(readFileSync(out, 'utf8')).toContain('only for eve')
    expect(JSON.parse(readFileSync(`${out}.person.json`, 'utf8')).keys[0].owner).toBe('eve')

    const dry = await commonplace(operator, 'people', 'leave', 'eve', '--to', 'bob', '--dry-run')
    expect(dry.out).toContain('1 key of eve would be revoked. These would be handed over to bob:\n  1 private memory')
    expect((await own.team.call(eve, 'search_context', { thread_id: 'eve' })).data.total).toBe(1)
    const left = await commonplace(operator, 'people', 'leave', 'eve', '--to', 'bob')
    expect(left.out).toContain('1 key of eve is revoked. These were handed over to bob:\n  1 private memory')
    expect((await own.team.call(bob, 'search_context', { thread_id: 'eve' })).data.total).toBe(1)
    await expect(own.team.call(eve, 'list_threads')).rejects.toThrow()
    expect((await commonplace(operator, 'people', 'leave', 'eve', '--erase')).out).toContain(
      'Nothing private was stored of eve.',
    )
    expect((await commonplace(operator, 'people', 'leave', 'eve')).code).toBe(2)
  })

  it('show control characters in the name of a key, which the terminal would interpret, escaped', async () => {
    const made = await commonplace(operator, 'keys', 'create', 'red \u001b[31m', '--owner', 'of \u001b[2J')
    expect(made.out).toContain('This is the key of red \\u001b[31m (writer, key_')
    const id = /key_\w+/.exec(made.out)?.[0] as string
    const revoked = await commonplace(operator, 'keys', 'revoke', id)
    expect(revoked.out).toMatch(/^Revoked red \\u001b\[31m \(key_/)
    expect(`${made.out}${revoked.out}`).not.toContain('\u001b')
  })
})

describe('commonplace usage', () => {
  const { own, commonplace } = useTeam()

  it('[OPERATE-183] shows how much each key, owner and project was used', async () => {
    expect((await commonplace(operator, 'orgs', 'create', 'acme')).code).toBe(0)
    expect((await commonplace(operator, 'usage')).out).toBe('No key was used in the last 30 days.\n')
    const key = (await commonplace(operator, 'keys', 'create', 'eve')).out.split('\n')[0] as string
    await own.team.call(key, 'store_context', { thread_id: 't', source: 'agent', text: 'counted' })
    const { out } = await commonplace(operator, 'usage', '--days', '7')
    expect(out).toMatch(
      /^KEY +NAME +OWNER +CALLS +FAILED +STORED +TOKENS +ROWS READ +ROWS WRITTEN\nkey_\w+ +eve +eve +1 +0 +1 +\d+ /,
    )
    expect((await commonplace(operator, 'usage', '--by', 'owner')).out).toMatch(/^OWNER +CALLS.*\neve +1 /)
    expect((await commonplace(operator, 'usage', '--by', 'agent')).code).toBe(1)
  })

  it('[OPERATE-192] shows the expected cost of the month, of all organizations or of one', async () => {
    const all = await commonplace(operator, 'usage', '--cost')
    expect([all.code, all.out]).toEqual([
      0,
      expect.stringMatching(
        /^Use of all organizations and the schedule in \d{4}-\d\d \(UTC\):\n {2}requests: \d+ so far, \d+ expected.*\n {2}rows read: .*\n {2}rows written: .*\nPaid plan: \$5\.00 expected.*\nFree plan, of a day's limits: today requests 0\.\d %.*\n.*limit_exceeded\.\nNot counted: processor time, .*\nPrices: Cloudflare's lists of \w+ 20\d\d\./,
      ),
    ])
    const one = await commonplace(operator, 'usage', '--cost', '--org', 'acme', '--json')
    expect(JSON.parse(one.out)).toMatchObject({ org: 'acme', dollars: { plan: 5 } })
    expect((await commonplace(operator, 'usage', '--cost', '--org', 'nowhere')).code).toBe(1)
  })
})

describe('commonplace projects', () => {
  const { commonplace } = useTeam()

  it('lists, renames, merges and splits projects, shows the changes, and takes one back', async () => {
    await commonplace(operator, 'orgs', 'create', 'acme')
    const key = (await commonplace(operator, 'keys', 'create', 'ada', '--role', 'admin')).out.split('\n')[0] as string
    const run = async (...args: string[]) => {
      const { code, out, err } = await commonplace({ COMMONPLACE_KEY: key }, ...args)
      expect([args, code, err]).toEqual([args, 0, ''])
      return out
    }
    const [old, now] = ['github.com/acme/old-checkout', 'github.com/acme/checkout']
    await run('remember', 'Carts expire after an hour.', '--project', old)
    await run('remember', 'Carts hold ten items.', '--project', now)
    expect(await run('projects')).toMatch(/^github\.com\/acme\/checkout .*\n?/m)
    expect(await run('projects', '--forked')).toMatch(/No likely duplicates found|Nothing was merged/)
    expect(await run('projects', 'rename', now, '--name', 'Checkout')).toContain(`${now} is called Checkout.`)
    const merged = await run('projects', 'merge', old, '--into', now)
    expect(merged).toContain(`${old} is a name of ${now}; its memories are found under both names.`)
    expect(await run('search', 'carts', '--project', old)).toContain('ten items')
    expect(await run('projects', 'split', old)).toContain(`${old} is now a separate project from ${now}.`)
    expect(await run('projects', 'changes')).toMatch(/split[\s\S]*merge[\s\S]*rename/)
    const [, change = ''] = /projects undo (\d+)/.exec(await run('projects', 'merge', old, '--into', now)) ?? []
    expect(await run('projects', 'undo', change)).toBe(`Change ${change} is undone.\n`)
  })
})

describe('commonplace orgs, projects, keys and audit', () => {
  const { own, commonplace } = useTeam()

  it('work with an admin key for its own organization', async () => {
    const { key } = await own.team.key('own', { role: 'admin' })
    const mine = { COMMONPLACE_KEY: key }
    expect((await commonplace(mine, 'orgs', 'list')).out).toMatch(/^own +own/m)
    expect((await commonplace(mine, 'keys', 'create', 'second', '--role', 'reader')).code).toBe(0)
    expect(await commonplace(mine, 'orgs', 'create', 'another')).toMatchObject({
      code: 1,
      err: 'Only ADMIN_TOKEN creates organizations\n',
    })
  })

  it('explain how to make the first organization, and which role the command needs', async () => {
    const team = await startTeam()
    const ask = (credential: Record<string, string>, ...args: string[]) =>
      runHere([...args, '--url', team.server.url.origin], credential)
    try {
      expect(await ask(operator, 'keys', 'list')).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^no organization exists yet; create one: .*orgs create ID\n$/),
      })
      const { key } = await team.key('read', { role: 'reader' })
      for (const command of [
        ['keys', 'create', 'x'],
        ['export', '--out', join(tmpdir(), 'never-written')],
      ])
        expect(await ask({ COMMONPLACE_KEY: key }, ...command)).toMatchObject({
          code: 1,
          err: 'this command needs the role admin; this key is a reader\n',
        })
    } finally {
      await team.stop()
    }
  })

  it('export only into a file, and report an empty project', async () => {
    await own.team.key('out')
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-out-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const out of [folder, pipe])
      expect(await commonplace(operator, 'export', '--org', 'out', '--out', out)).toMatchObject({
        code: 1,
        err: `${out} is not a file; --out must name a new file or one to replace\n`,
      })
    expect(statSync(pipe).isFIFO()).toBe(true)
    const file = join(folder, 'f')
    const misspelt = await commonplace(operator, 'export', '--org', 'out', '--out', file, '--project', 'appolo')
    expect([misspelt.code, misspelt.err]).toEqual([0, 'This credential can read no memory of the project appolo.\n'])
  })

  it('preview an import, without the counts that only an import has', async () => {
    await own.team.key('looked')
    const source = join(importSamples('server-memory'), 'memory.jsonl')
    const words = ['import', source, '--from', 'server-memory', '--org', 'looked']
    const { out } = await commonplace(operator, ...words, '--dry-run')
    expect(out).toMatch(/^Preview of 1 volume: entries 25 stored; images none\nNothing was written; .*\n$/m)
    expect(out).not.toMatch(/^0 links/m)
    expect((await commonplace(operator, ...words)).out).toMatch(/^10 links, 0 versions, 0 vectors\.$/m)
  })

  it('report errors: 2 for wrong usage, 1 with the message of the server', async () => {
    expect(await commonplace(operator, 'keys', 'create')).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs an argument'),
    })
    expect(await commonplace(operator, 'keys', 'dance')).toMatchObject({ code: 2 })
    expect(await commonplace(operator, 'orgs', 'list', 'x')).toMatchObject({ code: 2 })
    expect(await commonplace({}, 'orgs', 'list')).toMatchObject({
      code: 1,
      err: expect.stringContaining('set ADMIN_TOKEN or COMMONPLACE_KEY'),
    })
    for (const command of ['reembed', 'watch'])
      expect([command, await commonplace(operator, command, '--org', 'acme')]).toMatchObject([
        command,
        {
          code: 1,
          err: 'Organization context required: ADMIN_TOKEN belongs to none; set COMMONPLACE_KEY to a key of the organization\n',
        },
      ])
    expect(await commonplace(operator, 'keys', 'create', 'x', '--org', 'nowhere')).toMatchObject({
      code: 1,
      err: 'No such organization for this credential\n',
    })
    await own.team.key('one')
    await own.team.key('two')
    expect((await commonplace(operator, 'keys', 'list')).err).toMatch(/name the organization with --org, one of: .*one/)
  })

  it('report the system error of a file that cannot be written or read, and import nothing if the map cannot be read', async () => {
    await own.team.key('files')
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-files-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'files.ndjson')
    const nowhere = join(folder, 'none', 'files.ndjson')
    expect(await commonplace(operator, 'export', '--org', 'files', '--out', nowhere)).toMatchObject({
      code: 1,
      err: `ENOENT: no such file or directory, open '${nowhere}.unfinished'\n`,
    })
    writeFileSync(join(folder, 'a file'), '')
    const backup = await commonplace(operator, 'backup', '--org', 'files', '--to', join(folder, 'a file', 'x'))
    expect([backup.code, backup.err]).toEqual([1, expect.stringMatching(/^ENOTDIR: [^\n]*\n$/)])
    expect((await commonplace(operator, 'export', '--org', 'files', '--out', file)).code).toBe(0)
    for (const map of ['{bad', 'null', '[1]', '{"projects": {"a": 1}}']) {
      writeFileSync(`${file}.map.json`, map)
      const { code, out, err } = await commonplace(operator, 'import', file, '--org', 'files')
      expect([map, code, out, err]).toEqual([map, 1, '', expect.stringContaining('must contain {"projects"')])
    }
  })

  it('send no credential to a server that is not encrypted', async () => {
    const { code, err } = await runHere(['orgs', 'list', '--url', 'http://memory.example'], operator)
    expect([code, err]).toEqual([
      1,
      'http://memory.example is not encrypted, so the credential is not sent; use https\n',
    ])
  })
})
