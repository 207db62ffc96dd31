import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ADMIN_TOKEN } from '../../support/access'
import { runHere } from '../../support/command-here'
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
