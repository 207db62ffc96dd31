import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import type { EntryRecord } from '../../../src/domain/transfer/records'
import { ADMIN_TOKEN } from '../../support/access'
import { base64, pngBytes } from '../../support/scope'
import { exported, post, told, verified, volumeOf } from '../../support/transfer'
import { entriesOf, goneOf, type Place } from './place'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const PRIVATE = { metadata: { audience: 'private' } }

/** Rights to export and import (docs/contracts/operate.md §2). @param at the server, once it runs */
export function transferRights(at: () => Place): void {
  /** An organization with an entry in each access scope, of two admins and a narrowed one. */
  async function crowd() {
    const { team, newOrg, join } = at()
    const org = await newOrg()
    const [ada, bo, cy, di] = [
      await team.key(org, { name: 'ada', role: 'admin' }),
      await team.key(org, { name: 'bo', role: 'admin' }),
      await team.key(org, { name: 'cy', role: 'admin', projects: ['apollo'] }),
      await team.key(org, { name: 'di', role: 'writer' }),
    ]
    const [asAda, asBo, asDi] = [await join(org, ada), await join(org, bo), await join(org, di)]
    const store = async (who: typeof asAda, text: string, metadata: object = {}, more: object = {}): Promise<number> =>
      (await who.call('store_context', { thread_id: 't', source: 'agent', text, metadata, ...more })).context_id
    const open = await store(asAda, 'open')
    const image = [{ data: base64(pngBytes(`${org} private`)) }]
    const adas = await store(asAda, 'of ada', { ...PRIVATE.metadata, supersedes: open }, { images: image })
    const bos = await store(asBo, 'of bo', { ...PRIVATE.metadata, depends_on: [adas, open] })
    const gemini = await store(asDi, 'gemini', { project: 'gemini', supersedes: open })
    const apollo = await store(asDi, 'apollo', { project: 'apollo', references: { context_ids: [gemini, open] } })
    const { id: diary } = await asDi.call('remember', {
      title: 'page',
      content: 'page of di',
      diary: true,
      agent_id: 'di',
    })
    return {
      org,
      keys: { ada, bo, cy, di },
      asAda,
      asBo,
      asDi,
      ids: { open, adas, bos, gemini, apollo, diary: Number(diary) },
    }
  }

  const idsOf = async (org: string, key: string, query = 'history=true&vectors=true') =>
    entriesOf((await exported(at().team, org, query, key)).records).map(({ id }) => id)

  it('is refused to readers, writers and other orgs, and audited', async () => {
    const { team } = at()
    const { org, keys } = await crowd()
    const reader = await team.key(org, { role: 'reader' })
    const elsewhere = await team.key(await at().newOrg(), { role: 'admin' })
    const bytes = await volumeOf([told(1)])
    for (const [key, status] of [
      [reader.key, 403],
      [keys.di.key, 403],
      [elsewhere.key, 404],
      ['cp_nobody', 401],
    ] as const) {
      expect([key, (await team.api(`/orgs/${org}/export`, key)).status]).toEqual([key, status])
      expect([key, (await post(team, org, bytes, '', key)).status]).toEqual([key, status])
      expect([key, (await team.api(`/orgs/${org}/backups`, key)).status]).toEqual([key, status])
    }
    expect((await team.api('/orgs/no-such-org/export', ADMIN_TOKEN)).status).toBe(404)
    for (const path of ['backups', 'backups/2026-11-24/1'])
      expect((await team.api(`/orgs/${org}/${path}`, keys.ada.key)).status).toBe(403)
    expect((await team.api(`/orgs/${org}/backups`, keys.ada.key, 'POST')).status).toBe(403)
    await idsOf(org, keys.ada.key)
    await post(team, org, bytes, '', keys.ada.key)
    const { body } = await team.api(`/orgs/${org}/audit?limit=100`, keys.ada.key)
    const told_of = (action: string) =>
      body.events
        .filter((event: { action: string }) => event.action === action)
        .map(({ key_id: key, allowed }: { key_id: string; allowed: boolean }) => [key, allowed])
    expect(told_of('export')).toEqual(
      expect.arrayContaining([
        [reader.id, false],
        [keys.di.id, false],
        [keys.ada.id, true],
      ]),
    )
    expect(told_of('import')).toEqual(
      expect.arrayContaining([
        [reader.id, false],
        [keys.di.id, false],
        [keys.ada.id, true],
      ]),
    )
  })

  it('gives an admin the entries it can read by id, and ADMIN_TOKEN the complete org', async () => {
    const { org, keys, ids } = await crowd()
    const { open, adas, bos, gemini, apollo, diary } = ids
    expect(await idsOf(org, ADMIN_TOKEN)).toEqual([open, adas, bos, gemini, apollo, diary])
    expect(await idsOf(org, keys.ada.key)).toEqual([open, adas, gemini, apollo])
    expect(await idsOf(org, keys.bo.key)).toEqual([open, bos, gemini, apollo])
    expect(await idsOf(org, keys.cy.key)).toEqual([open, apollo])
    const { body } = await at().team.api(`/orgs/${org}/export?project=gemini`, keys.cy.key)
    expect(body.error).toMatchObject({ code: 'forbidden' })
  })

  it('reveals nothing private of others to an admin: neither by links, counts, images, states nor deletions', async () => {
    const { org, keys, ids, asAda } = await crowd()
    const before = await exported(at().team, org, 'history=true&vectors=true', keys.bo.key)
    const cursor = before.manifests[0]?.cursor
    const whole = new TextDecoder().decode(before.bytes)
    expect(whole).not.toContain('of ada')
    const bos = entriesOf(before.records).find(({ id }) => id === ids.bos)
    expect(bos?.links).toEqual([{ relation: 'depends_on', to: ids.open, origin: 'metadata' }])
    expect(before.records.some(({ record }) => record === 'image')).toBe(false)
    // The other's private entry is changed, deleted and restored: nothing of it is returned, and nothing else differs.
    await asAda.call('update_context', { context_id: ids.adas, text: 'of ada, changed' })
    await asAda.call('delete_context', { context_ids: [ids.adas] })
    const after = await exported(at().team, org, 'history=true&vectors=true', keys.bo.key)
    expect(after.lines).toEqual(before.lines)
    expect(after.ends.map(({ counts, content }) => [counts, content])).toEqual(
      before.ends.map(({ counts, content }) => [counts, content]),
    )
    const since = await exported(at().team, org, `after=${cursor}&history=true`, keys.bo.key)
    expect(since.lines).toEqual([])
    expect(goneOf((await exported(at().team, org, `after=${cursor}`, keys.ada.key)).records)).toEqual([ids.adas])
  })

  it('imports for an admin what it may write, under ids of its own, and learns nothing of the rest', async () => {
    const { team } = at()
    const { org, keys, ids, asBo } = await crowd()
    const whole = await at().all(org, '')
    // The org's own file in the hand of a key: what it cannot see is another's, and stays so.
    const { body } = await post(team, org, whole.bytes, 'on_conflict=replace', keys.bo.key)
    expect(body.entries).toEqual({ stored: 0, unchanged: 4, replaced: 0, skipped: 0, refused: 2, deleted: 0 })
    expect(body.problems.map(({ id, code }: { id: number; code: string }) => [id, code])).toEqual([
      [ids.adas, 'forbidden'],
      [ids.diary, 'forbidden'],
    ])
    expect(JSON.stringify(body.map)).not.toContain(String(ids.adas))
    // A private entry of another, sent as one's own, becomes one's own under a new id.
    const store = whole.manifests[0]?.store as string
    const forged = await volumeOf([told(ids.adas, PRIVATE)], { store, at: '2030-01-01T00:00:00.000Z' })
    const taken = (await post(team, org, forged, 'on_conflict=replace', keys.bo.key)).body
    expect(taken.entries).toMatchObject({ stored: 1, replaced: 0 })
    expect(taken.map[0][1]).not.toBe(ids.adas)
    const gone = await volumeOf([{ record: 'gone', id: ids.adas }], { store, at: '2030-01-01T00:00:00.000Z' })
    const nothing = (await post(team, org, gone, 'on_conflict=replace', keys.cy.key)).body
    expect(nothing.entries.deleted).toBe(0)
    expect((await asBo.call('get_context_by_ids', { context_ids: [taken.map[0][1]] })).result).toMatchObject([
      { text_content: `told ${ids.adas}` },
    ])
    expect(await idsOf(org, ADMIN_TOKEN, '')).toContain(ids.adas)
    // A key's ids are new ones, although those of the file are free.
    const free = 2 ** 40 + Math.floor(Math.random() * 1e9)
    const { map } = (await post(team, org, await volumeOf([told(free)]), '', keys.bo.key)).body
    expect(map[0][1]).toBeLessThan(2 ** 40)
    // A narrowed key imports into its projects, as it stores, and into none of the others.
    const narrow = await post(
      team,
      org,
      await volumeOf(
        [
          told('p', { project: 'apollo', metadata: { project: 'apollo' } }),
          told('q', { metadata: { project: 'gemini' } }),
          told('r'),
        ],
        { store: 'test:narrow' },
      ),
      '',
      keys.cy.key,
    )
    expect(narrow.body.problems).toMatchObject([{ id: 'q', code: 'forbidden' }])
    expect(narrow.body.entries).toMatchObject({ stored: 2, refused: 1 })
    const projects = entriesOf((await exported(team, org, '', keys.cy.key)).records).map(({ text, project }) => [
      text,
      project,
    ])
    expect(projects).toEqual(expect.arrayContaining(['p', 'r'].map((id) => [`told ${id}`, 'apollo'])))
  })

  it('believes no key about who made what, and imports captured sessions for their owner and for ADMIN_TOKEN alone', async () => {
    const { team } = at()
    const { org, keys } = await crowd()
    const captured = { captured: true, kind: 'session', title: 'Where we left off', project: 'apollo' }
    const session = told(1, { owner: 'ada', captured: true, metadata: { ...captured, audience: 'project' } })
    const anyones = told(2, { created_by: keys.ada.id, changed_by: keys.ada.id, owner: 'ada', metadata: captured })
    const entry = told(3, { created_by: keys.ada.id, changed_by: keys.ada.id, version: 2 })
    const { body } = await post(team, org, await volumeOf([session, anyones, entry]), '', keys.bo.key)
    expect(body.entries).toMatchObject({ stored: 1, refused: 2 })
    expect(body.problems.map(({ code }: { code: string }) => code)).toEqual(['forbidden', 'forbidden'])
    const records = async (key: string) => entriesOf((await exported(team, org, '', key)).records)
    const [imported] = (await records(keys.bo.key)).filter(({ text }) => text === 'told 3')
    expect(imported).toMatchObject({ created_by: keys.bo.id, changed_by: keys.bo.id, imported_from: keys.ada.id })
    // The same again is the same, and so is its content.
    const volume = await volumeOf([entry])
    const again = await post(team, org, volume, '', keys.bo.key)
    expect(again.body.entries).toMatchObject({ unchanged: 1 })
    expect(again.body.content).toBe((await verified(volume)).content)
    // Nor does it take an entry from its owner.
    const whole = await exported(team, org, '', keys.bo.key)
    const [open] = entriesOf(whole.records).filter(({ text }) => text === 'open')
    const taking = async (more: object) => {
      const record = { ...(open as EntryRecord), owner: 'bo', version: 9, ...more }
      const from = { store: whole.manifests[0]?.store as string, at: '2027-01-01T00:00:00.000Z' }
      return (await post(team, org, await volumeOf([record], from), 'on_conflict=replace', keys.bo.key)).body
    }
    expect((await taking({ metadata: { audience: 'private' } })).entries).toMatchObject({ refused: 1 })
    expect((await taking({ text: 'reopened' })).entries).toMatchObject({ replaced: 1 })
    const [reopened] = (await records(ADMIN_TOKEN)).filter(({ text }) => text === 'reopened')
    expect(reopened?.owner).toBe(open?.owner)
    const own = await post(team, org, await volumeOf([session], { store: 'test:own' }), '', keys.ada.key)
    expect(own.body.entries).toMatchObject({ stored: 1 })
    const asOperator = await volumeOf([anyones, entry], { store: 'test:operator' })
    expect((await post(team, org, asOperator)).body.entries).toMatchObject({ stored: 2 })
    const [kept] = (await records(ADMIN_TOKEN)).filter((one) => one.text === 'told 3' && one.created_by === keys.ada.id)
    expect(kept).toMatchObject({ changed_by: keys.ada.id })
    expect(kept).not.toHaveProperty('imported_from')
  })

  it('leaves what a narrowed key reads and does not write as it is, and copies nothing of it', async () => {
    const { team } = at()
    const { org, keys, ids, asAda } = await crowd()
    await asAda.call('update_context', { context_id: ids.open, text: 'open now' })
    const own = await exported(team, org, 'history=true&vectors=true', keys.cy.key)
    expect(entriesOf(own.records).map(({ id }) => id)).toEqual([ids.open, ids.apollo])
    const before = await at().all(org, '')
    const equal = await post(team, org, own.bytes, 'on_conflict=replace', keys.cy.key)
    expect([equal.body.entries, equal.body.map, equal.body.versions]).toMatchObject([
      { stored: 0, unchanged: 2 },
      [],
      0,
    ])
    const store = before.manifests[0]?.store as string
    const later = { store, at: '2030-01-01T00:00:00.000Z' }
    const other = await post(team, org, await volumeOf([told(ids.open)], later), 'on_conflict=replace', keys.cy.key)
    expect([other.body.entries, other.body.problems]).toMatchObject([{ refused: 1 }, [{ code: 'forbidden' }]])
    const gone = await volumeOf([{ record: 'gone', id: ids.open }], later)
    expect((await post(team, org, gone, 'on_conflict=replace', keys.cy.key)).body.entries.deleted).toBe(0)
    expect(entriesOf((await at().all(org, '')).records)).toEqual(entriesOf(before.records))
    // Its own entry keeps its link to an unreadable one, as long as its metadata names it.
    const linksAfter = async (named: number[]) => {
      const metadata = { project: 'apollo', references: { context_ids: named } }
      const file = await volumeOf([told(ids.apollo, { project: 'apollo', metadata })], later)
      const { body } = await post(team, org, file, 'on_conflict=replace', keys.cy.key)
      expect([body.entries.replaced, body.links]).toEqual([1, 0])
      const apollo = entriesOf((await at().all(org, '')).records).find(({ id }) => id === ids.apollo)
      return apollo?.links?.map(({ to }) => to)
    }
    expect(await linksAfter([ids.gemini])).toEqual([ids.gemini])
    expect(await linksAfter([])).toBeUndefined()
  })

  it('restores an org under its own ids, whatever a key imported before under ids of others', async () => {
    const { team } = at()
    const { org, keys, ids, asAda, asDi } = await crowd()
    const [backup, bosFile] = [await at().all(org, ''), await exported(team, org, '', keys.bo.key)]
    const apollo = { project: 'apollo', metadata: { project: 'apollo' } }
    const claim = await volumeOf([told(ids.adas, apollo), told(ids.gemini, apollo)], {
      store: backup.manifests[0]?.store as string,
      at: '2030-01-01T00:00:00.000Z',
    })
    const claimed = (await post(team, org, claim, '', keys.cy.key)).body
    expect(claimed.entries).toMatchObject({ stored: 2 })
    const again = (await post(team, org, claim, '', keys.cy.key)).body
    expect([again.entries.unchanged, again.map]).toEqual([2, claimed.map])
    const whole = (await post(team, org, backup.bytes)).body
    expect([whole.entries, whole.map]).toMatchObject([{ unchanged: 6 }, []])
    await asAda.call('delete_context', { context_ids: [ids.adas], erase: true })
    await asDi.call('delete_context', { context_ids: [ids.gemini], erase: true })
    // Only the operator knows of an erased entry: for an admin it is a new entry, and belongs to no other.
    const bos = (await post(team, org, bosFile.bytes, '', keys.bo.key)).body
    expect(bos.entries).toMatchObject({ stored: 1, unchanged: 3, skipped: 0 })
    const restored = (await post(team, org, backup.bytes)).body
    expect([restored.entries, restored.map]).toMatchObject([{ stored: 2 }, []])
    const texts = new Map(entriesOf((await at().all(org, '')).records).map(({ id, text }) => [id, text]))
    const here = [ids.adas, ids.gemini, ...claimed.map.map(([, ours]: [number, number]) => ours)]
    expect(here.map((id) => texts.get(id))).toEqual([
      ...['of ada', 'gemini'],
      ...[ids.adas, ids.gemini].map((id) => `told ${id}`),
    ])
  })

  it('never returns the bytes of an image of private entries of others, nor reveals that they exist', async () => {
    const { team } = at()
    const { org, keys } = await crowd()
    const png = pngBytes(`${org} private`)
    const [hash, other] = [sha256(png), sha256(pngBytes('nowhere'))]
    const image = (sha: string) => ({ sha256: sha, mime_type: 'image/png', size: png.length })
    const asks = async (sha: string, id: string) => {
      const { body } = await post(team, org, await volumeOf([told(id, { images: [image(sha)] })]), '', keys.bo.key)
      return { ...body, map: [], content: '' }
    }
    expect(await asks(hash, 'there')).toEqual(await asks(other, 'nowhere'))
    const record = { record: 'image' as const, ...image(hash), data: base64(png) }
    const own = await post(
      team,
      org,
      await volumeOf([record, told('brought', { images: [image(hash)] })]),
      '',
      keys.bo.key,
    )
    expect(own.body.images).toEqual({ stored: 1, present: 0, missing: 0 })
    const again = await post(team, org, await volumeOf([told('mine', { images: [image(hash)] })]), '', keys.ada.key)
    expect(again.body.images).toEqual({ stored: 0, present: 1, missing: 0 })
  })

  it('resolves waiting links to an entry that only its reader may read', async () => {
    const { team } = at()
    const { org, keys } = await crowd()
    const waiting = await volumeOf([
      told('early', {
        metadata: { supersedes: 'late' },
        links: [{ relation: 'supersedes', to: 'late', origin: 'metadata' }],
      }),
    ])
    await post(team, org, waiting, '', keys.bo.key)
    const late = await volumeOf([told('late', PRIVATE)])
    const { body } = await post(team, org, late, '', keys.ada.key)
    expect(body.links).toBe(0)
    const seen = entriesOf((await exported(team, org, '', keys.bo.key)).records).find(
      ({ text }) => text === 'told early',
    )
    expect(seen?.metadata).toEqual({ supersedes: 'late' })
    const own = (await post(team, org, late, '', keys.bo.key)).body
    expect(own.links).toBe(1)
  })
}
