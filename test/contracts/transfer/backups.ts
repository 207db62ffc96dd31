import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ADMIN_TOKEN } from '../../support/access'
import { runHere } from '../../support/command-here'
import { houseOf, locationOf } from '../../support/dashboard'
import { base64, pngBytes } from '../../support/scope'
import { fillRandomly } from '../../support/transfer'
import type { Place } from './place'

const DAY_MS = 86_400_000

/**
 * Backups and the drill of docs/operating.md.
 *
 * @param from a server with a bucket
 * @param empty a deployment that nothing has come into, with a bucket too
 */
export function backupContract(from: () => Place, empty: () => Place): void {
  const run = async (...words: string[]) => {
    const { code, out, err } = await runHere(words, { ADMIN_TOKEN })
    return { code, said: `${out}${err}` }
  }
  const urlOf = ({ team }: Place) => team.server.url.origin
  const today = () => new Date().toISOString().slice(0, 10)

  it('follows the restore drill: a folder, an empty deployment, and the same content in it', async () => {
    const [there, here] = [from(), empty()]
    await fillRandomly(there.team, 'acme', 11, 15)
    const folder = mkdtempSync(join(tmpdir(), 'backups-'))
    const made = await run('backup', '--to', folder, '--org', 'acme', '--url', urlOf(there))
    expect(made).toEqual({
      code: 0,
      said: expect.stringMatching(/The backup of acme of .* is complete: \d+ entries in 1 volume\./),
    })
    const day = readdirSync(join(folder, 'acme'))[0] as string
    expect(readdirSync(join(folder, 'acme', day)).sort()).toEqual(['1.ndjson.gz', 'complete.json'])
    const back = ['restore', day, '--org', 'acme', '--from', folder, '--url', urlOf(here)]
    const volume = join(folder, 'acme', day, '1.ndjson.gz')
    const bytes = readFileSync(volume)
    writeFileSync(volume, bytes.subarray(0, -1))
    expect(await run(...back)).toEqual({
      code: 1,
      said: expect.stringContaining('does not match complete.json; nothing of it was sent'),
    })
    writeFileSync(volume, bytes)
    expect(await run('restore', '2020-01-01', ...back.slice(2))).toEqual({
      code: 1,
      said: expect.stringContaining(`available days: ${day}`),
    })
    const restored = await run(...back)
    expect([restored.code, restored.said]).toEqual([0, expect.stringMatching(/Of 1 volume: entries \d+ stored;/)])
    const [then, now] = [await there.all('acme', 'history=true'), await here.all('acme', 'history=true')]
    expect(now.lines).toEqual(then.lines)
    expect(now.ends.map(({ content }) => content)).toEqual(then.ends.map(({ content }) => content))
    expect((await run(...back)).said).toMatch(/Of 1 volume: entries \d+ unchanged;/)
    const again = join(folder, 'again.ndjson')
    const exported = await run('export', '--out', again, '--org', 'acme', '--history', '--url', urlOf(here))
    expect(exported).toEqual({ code: 0, said: expect.stringContaining('1 volume is complete and equal') })
    expect(execFileSync('tail', ['-1', again], { encoding: 'utf8' })).toContain(then.ends[0]?.content)
  })

  it('keeps the earlier backup of a day in a folder where the next one breaks off', async () => {
    const there = from()
    const org = await there.newOrg()
    const folder = mkdtempSync(join(tmpdir(), 'backups-'))
    const words = ['backup', '--to', folder, '--org', org, '--url', urlOf(there)]
    expect((await run(...words)).code).toBe(0)
    const files = () => readdirSync(join(folder, org), { recursive: true }).sort()
    const whole = files()
    expect(whole).toContainEqual(expect.stringMatching(/complete\.json$/))
    expect((await runHere(words, { COMMONPLACE_KEY: 'cp_wrong' })).code).toBe(1)
    expect(files()).toEqual(whole)
    expect((await run(...words)).code).toBe(0)
    expect(files()).toEqual(whole)
  })

  it('explains how to import a backup into another organization, that of open mode too, and it is imported that way', async () => {
    const [there, here] = [from(), empty()]
    const [org, into] = [await there.newOrg(), await here.newOrg()]
    const ada = await there.join(org, await there.team.key(org, { name: 'ada' }))
    await ada.call('store_context', { thread_id: 't', source: 'user', text: 'moves' })
    const folder = mkdtempSync(join(tmpdir(), 'backups-'))
    expect((await run('backup', '--to', folder, '--org', org, '--url', urlOf(there))).code).toBe(0)
    const day = readdirSync(join(folder, org))[0] as string
    const restore = (name: string) => run('restore', day, '--org', name, '--from', folder, '--url', urlOf(here))
    const file = join(folder, org, day, '1.ndjson.gz')
    expect(await restore(into)).toEqual({
      code: 1,
      said: `${folder} has no backup of ${into}, only of ${org}. To import a volume into another organization: import ${file} --org ${into}\n`,
    })
    expect((await run('import', file, '--org', into, '--url', urlOf(here))).code).toBe(0)
    const contents = [await there.all(org, ''), await here.all(into, '')].map(({ ends }) =>
      ends.map(({ content }) => content),
    )
    expect(contents[1]).toEqual(contents[0])
    renameSync(join(folder, org), join(folder, 'local'))
    expect(await restore('local')).toEqual({
      code: 1,
      said: expect.stringMatching(
        /No such organization .*To import a volume into another organization: import .*local.* --org ORG\n$/,
      ),
    })
  })

  it('is made by the schedule each day, is read by ADMIN_TOKEN, and is restored with the images next to it', async () => {
    const [there, here] = [from(), empty()]
    const org = await there.newOrg()
    const ada = await there.join(org, await there.team.key(org, { name: 'ada' }))
    const images = ['a', 'b'].map((note) => ({ data: base64(pngBytes(`${org} ${note}`)) }))
    await ada.call('store_context', { thread_id: 't', source: 'user', text: 'with images', images })
    const ready = async (): Promise<{ ok: boolean; age_hours?: number; problem?: string }> =>
      (await there.team.ask('/ready', ADMIN_TOKEN)).body.checks.backups
    expect(await ready()).toMatchObject({ ok: false, problem: 'No complete daily backup exists yet' })
    for (let i = 0; i < 20 && !(await ready()).ok; i++) await there.schedule()
    expect(await ready()).toMatchObject({ ok: true, age_hours: 0 })
    const { body } = await there.team.api(`/orgs/${org}/backups`, ADMIN_TOKEN)
    expect(body.backups).toMatchObject([{ org, day: today(), volumes: [{ volume: 1, entries: 1 }] }])
    const keys = async () =>
      (await (await there.backups()).list({ prefix: `${org}/` })).objects.map(({ key }) => key.slice(org.length + 1))
    const before = await keys()
    expect(before).toEqual([
      `${today()}/1.ndjson.gz`,
      `${today()}/complete.json`,
      expect.stringMatching(/^images\//),
      expect.stringMatching(/^images\//),
    ])
    const packed = await there.team.ask(`/api/v1/orgs/${org}/backups/${today()}/1`, ADMIN_TOKEN)
    expect([packed.status, packed.headers.get('content-type')]).toEqual([200, 'application/gzip'])
    for (const path of [`${today()}/2`, '2020-01-01/1', '..%2F..%2Fx/1'])
      expect([path, (await there.team.api(`/orgs/${org}/backups/${path}`, ADMIN_TOKEN)).status]).toEqual([path, 404])
    // The bucket is bound to a new deployment.
    const [old, other] = [await there.backups(), await here.backups()]
    for (const key of before) {
      const object = await old.get(`${org}/${key}`)
      await other.put(`${org}/${key}`, await (object as unknown as Response).arrayBuffer(), {
        customMetadata: (object as unknown as { customMetadata: Record<string, string> }).customMetadata,
      })
    }
    const restored = await run('restore', today(), '--org', org, '--url', urlOf(here))
    expect([restored.code, restored.said]).toEqual([0, expect.stringContaining('entries 1 stored; images 2 stored')])
    const [then, now] = [await there.all(org, 'history=true'), await here.all(org, 'history=true')]
    expect(now.lines).toEqual(then.lines)
  })

  it('[OPERATE-194] records a passed and a failed restore drill at the server that made the backup, and lists them with the backups', async () => {
    const [there, here] = [from(), empty()]
    const org = await there.newOrg()
    const ada = await there.join(org, await there.team.key(org, { name: 'ada' }))
    await ada.call('store_context', { thread_id: 't', source: 'user', text: 'rehearsed' })
    const folder = mkdtempSync(join(tmpdir(), 'backups-'))
    expect((await run('backup', '--to', folder, '--org', org, '--url', urlOf(there))).code).toBe(0)
    const drill = async () => (await there.team.api(`/orgs/${org}/backups`, ADMIN_TOKEN)).body.drill
    expect(await drill()).toBeNull()
    const words = ['restore', today(), '--org', org, '--from', folder, '--url', urlOf(here), '--report', urlOf(there)]
    const volume = join(folder, org, today(), '1.ndjson.gz')
    const bytes = readFileSync(volume)
    writeFileSync(volume, bytes.subarray(0, -1))
    expect(await run(...words)).toEqual({ code: 1, said: expect.stringContaining('the restore drill failed') })
    expect(await drill()).toMatchObject({
      ...{ day: today(), passed: false, at: expect.stringContaining(today()) },
      problem: expect.stringContaining('does not match complete.json'),
    })
    writeFileSync(volume, bytes)
    expect(await run(...words)).toEqual({ code: 0, said: expect.stringContaining('the restore drill passed') })
    expect(await drill()).toMatchObject({ day: today(), passed: true, problem: null })
    for (const body of [
      { day: 'today', passed: true },
      { day: today(), passed: 'yes' },
      { day: today(), passed: true, at: 1 },
    ])
      expect((await there.team.api(`/orgs/${org}/backups/drill`, ADMIN_TOKEN, 'POST', body)).status).toBe(400)
    const admin = await there.team.key(org, { role: 'admin' })
    expect((await there.team.api(`/orgs/${org}/backups/drill`, admin.key, 'POST', {})).status).toBe(403)
  })

  it('[OPERATE-195] are listed on a page with size, number, next run and drill, where administrators of all projects make one now', async () => {
    const there = from()
    const org = await there.newOrg()
    const house = houseOf(there.team.server)
    const admin = await there.team.key(org, { role: 'admin' })
    const ada = await there.join(org, admin)
    await ada.call('store_context', { thread_id: 't', source: 'user', text: 'on a page' })
    const person = (await house.signIn(admin.key)).person
    const page = async () => (await person.get('/backups')).text
    expect(await page()).toMatch(/Last backup.*none.*never rehearsed.*Back up now.*Next.*Kept for.*14 days/s)
    const made = await person.send('/backups', {})
    expect([made.status, locationOf(made)]).toEqual([303, '/backups?done=made'])
    const drill = { day: today(), passed: false, problem: 'the content of 1 volume differs' }
    expect((await there.team.api(`/orgs/${org}/backups/drill`, ADMIN_TOKEN, 'POST', drill)).status).toBe(201)
    const shown = await page()
    expect(shown).toMatch(/just now.*\d B|just now.*KB/s)
    expect(shown).toContain('the content of 1 volume differs')
    const { body } = await there.team.api(`/orgs/${org}/backups`, ADMIN_TOKEN)
    expect(body.backups).toMatchObject([{ day: today(), volumes: [{ entries: 1 }] }])
    // Another organization is neither shown nor written.
    const other = await there.newOrg()
    expect((await page()).includes(other)).toBe(false)
    await person.send('/backups', { org: other })
    expect((await there.team.api(`/orgs/${other}/backups`, ADMIN_TOKEN)).body.backups).toEqual([])
    const operator = (await house.signIn(ADMIN_TOKEN)).person
    expect((await operator.get('/backups')).text).toContain(other)
    expect(locationOf(await operator.send('/backups', { org: other }))).toBe('/backups?done=made')
    const narrow = await there.team.key(org, { role: 'admin', projects: ['p'] })
    const narrowed = (await house.signIn(narrow.key)).person
    for (const one of [await narrowed.get('/backups'), await narrowed.send('/backups', {})])
      expect(one.status).toBe(403)
    expect((await narrowed.get('/keys')).text).not.toContain('href="/backups"')
    expect(
      (await there.team.api(`/orgs/${org}/audit`, ADMIN_TOKEN)).body.events.map(
        ({ action }: { action: string }) => action,
      ),
    ).toEqual(expect.arrayContaining(['backups.make', 'backups.drill']))
  })

  it('[OPERATE-195] go on with another submit where one is not enough', async () => {
    const there = from()
    const org = await there.newOrg()
    const admin = await there.team.key(org, { role: 'admin' })
    const ada = await there.join(org, admin)
    // A step stores 60 images, and a submit makes four steps.
    for (let i = 0; i < 25; i++) {
      const images = Array.from({ length: 10 }, (_, j) => ({ data: base64(pngBytes(`${org} ${i} ${j}`)) }))
      await ada.call('store_context', { thread_id: 't', source: 'user', text: `album ${i}`, images })
    }
    const { person } = await houseOf(there.team.server).signIn(admin.key)
    const part = locationOf(await person.send('/backups', {}))
    const rest = new URL(part, there.team.server.url).searchParams
    expect([rest.get('done'), rest.get('for')]).toEqual(['part', org])
    expect((await there.team.api(`/orgs/${org}/backups`, ADMIN_TOKEN)).body.backups).toEqual([])
    expect((await person.get(part)).text).toMatch(/is not complete yet.*Continue/s)
    expect((await person.send('/backups', { from: 'altered' })).status).toBe(400)
    expect(locationOf(await person.send('/backups', { from: rest.get('from') ?? '' }))).toBe('/backups?done=made')
    expect((await there.team.api(`/orgs/${org}/backups`, ADMIN_TOKEN)).body.backups).toHaveLength(1)
  })

  it('[OPERATE-190] that are older than two days are named first on the overview of administrators', async () => {
    const there = from()
    const org = await there.newOrg()
    const house = houseOf(there.team.server)
    const [admin, writer] = [await there.team.key(org, { role: 'admin' }), await there.team.key(org, {})]
    const ada = await there.join(org, admin)
    await ada.call('store_context', { thread_id: 't', source: 'user', text: 'not backed up' })
    const overview = async (key: string) => (await (await house.signIn(key)).person.get('/')).text
    const finished = (days: number) =>
      there.sql(
        `INSERT INTO schedule (step, finished_at, failures) VALUES ('backup', ${Date.now() - days * DAY_MS}, 0)
          ON CONFLICT (step) DO UPDATE SET finished_at = excluded.finished_at`,
      )
    await finished(1)
    expect(await overview(admin.key)).not.toContain('since the last backup')
    await finished(3)
    expect(await overview(admin.key)).toMatch(/<a href="\/backups"><strong>3<\/strong> days since the last backup/)
    expect(await overview(writer.key)).not.toContain('since the last backup')
    await there.sql("DELETE FROM schedule WHERE step = 'backup'")
  })

  it('[OPERATE-192] counts each run of the schedule in the cost of the deployment', async () => {
    const there = from()
    const used = async () => (await there.team.api('/cost', ADMIN_TOKEN)).body.used
    const before = await used()
    await there.schedule()
    const after = await used()
    expect(after.requests - before.requests).toBe(1)
    if (there.database === 'd1') expect(after.rows_read).toBeGreaterThan(before.rows_read)
  })

  it('is made by command into the bucket, and keeps days and images for BACKUP_KEEP days', async () => {
    const there = from()
    const org = await there.newOrg()
    const ada = await there.join(org, await there.team.key(org, { name: 'ada' }))
    const image = { data: base64(pngBytes(`${org} x`)) }
    const { context_id: id } = await ada.call('store_context', {
      thread_id: 't',
      source: 'user',
      text: 'one',
      images: [image],
    })
    const bucket = await there.backups()
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
    const put = (key: string, since?: number) =>
      bucket.put(
        `${org}/${key}`,
        JSON.stringify({ org, day: key.slice(0, 10), volumes: [] }),
        since === undefined ? {} : { customMetadata: { since: String(Date.now() - since * DAY_MS) } },
      )
    for (const day of [daysAgo(15), daysAgo(14), daysAgo(13)])
      for (const file of ['1.ndjson.gz', 'complete.json']) await put(`${day}/${file}`)
    for (const [hash, since] of [
      ['long', 15],
      ['short', 13],
      ['never', null],
    ] as const) {
      await put(`images/${hash}`)
      if (since !== null) await put(`unused/${hash}`, since)
    }
    const made = await run('backup', '--to', 'r2', '--org', org, '--url', urlOf(there))
    expect(made).toEqual({
      code: 0,
      said: expect.stringContaining(`The backup of ${org} of ${today()} is complete: 1 entry in 1 volume.`),
    })
    const keys = async () =>
      (await bucket.list({ prefix: `${org}/` })).objects.map(({ key }) => key.slice(org.length + 1))
    const hash = (await there.all(org, '')).records.find((record) => record.record === 'image')?.sha256
    expect(await keys()).toEqual([
      ...[daysAgo(13), today()].flatMap((day) => [`${day}/1.ndjson.gz`, `${day}/complete.json`]),
      ...[`images/${hash}`, 'images/never', 'images/short'].sort(),
      ...['unused/never', 'unused/short'],
    ])
    // An object in use again is not counted from its earlier unused day.
    await put(`unused/${hash}`, 15)
    expect((await run('backup', '--to', 'r2', '--org', org, '--url', urlOf(there))).code).toBe(0)
    expect(await keys()).toContain(`images/${hash}`)
    expect(await keys()).not.toContain(`unused/${hash}`)
    await ada
      .call('delete_context', { context_ids: [id], permanently: true })
      .catch(() => ada.call('delete_context', { context_ids: [id] }))
  })
}
