import { beforeEach, describe, expect, it } from 'vitest'
import type { AuditEvent } from '../../src/domain/identity/audit'
import type { ApiKey } from '../../src/domain/identity/identity'
import type { Caller, Scope } from '../../src/domain/identity/scope'
import type { AuditLog } from '../../src/ports/audit-log'
import type { EntryStore } from '../../src/ports/entry-store'
import type { IdentityStore } from '../../src/ports/identity-store'
import type { ProjectDirectory } from '../../src/ports/project-directory'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

const EVENT: AuditEvent = {
  keyId: 'key-1',
  agent: null,
  action: 'test',
  tool: null,
  ids: [],
  allowed: true,
  detail: { n: 1 },
}

/** Behavior of every IdentityStore and AuditLog, on every database, and the audit of writes of entries. */
export function identityContract(
  name: string,
  make: () => {
    identity: IdentityStore
    directory: ProjectDirectory
    audit: AuditLog
    entries: EntryStore
    clock: TestClock
  },
): void {
  describe(`${name} knows who may ask`, () => {
    let store: IdentityStore
    let directory: ProjectDirectory
    let audit: AuditLog
    let entries: EntryStore
    let clock: TestClock
    let ada: Caller
    beforeEach(() => {
      ;({ identity: store, directory, audit, entries, clock } = make())
      ada = freshPrincipal()
    })

    const keyOf = (overrides: Partial<ApiKey> = {}): ApiKey => ({
      id: `key_${crypto.randomUUID()}`,
      org: ada.org,
      name: 'a "key" of Zoë',
      role: 'writer',
      projects: null,
      agent: null,
      owner: 'ada',
      createdAt: clock.ms,
      createdBy: 'admin-token',
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      captures: true,
      ...overrides,
    })
    const hash = () => crypto.randomUUID().replaceAll('-', '').repeat(2)
    const events = async (after = 0, limit = 100) => audit.page(ada.org, { after, limit })

    it('makes an organization once', async () => {
      const org = { id: ada.org, name: 'Ünïcode & Co', createdAt: clock.ms }
      await store.createOrg(org, EVENT)
      expect(await store.orgs([ada.org, 'none'])).toEqual([org])
      expect((await store.orgs()).map(({ id }) => id)).toContain(ada.org)
      await expect(store.createOrg({ ...org, name: 'again' }, EVENT)).rejects.toMatchObject({ code: 'conflict' })
      expect(await store.orgs([ada.org])).toEqual([org])
      expect(await events()).toHaveLength(1)
    })

    it('lists projects that were made and those that entries belong to', async () => {
      await store.createProject(ada.org, { id: 'b', name: 'Bee', createdAt: clock.ms }, EVENT)
      await entries.save(ada, [
        await entryOf(ada, { metadata: { project: 'a' } }),
        await entryOf(ada, { metadata: { project: 'b' } }),
        await entryOf(ada, { metadata: { project: 'c', audience: 'private' } }),
      ])
      const list = async (scope: Scope, seesAll = false) =>
        (await directory.list(scope, seesAll)).map(({ key, name, createdAt, entries: count }) => [
          key,
          name,
          createdAt,
          count,
        ])
      const b = { id: 'b', name: 'Bee', createdAt: clock.ms }
      const made = ['b', 'Bee', clock.ms, 1]
      expect(await list(ada)).toEqual([['a', 'a', null, 1], made, ['c', 'c', null, 1]])
      expect(await list({ ...ada, owner: 'eve' })).toEqual([['a', 'a', null, 1], made])
      expect(await list({ ...ada, projects: ['b', 'x'] })).toEqual([made])
      expect(await list(freshPrincipal())).toEqual([])
      await expect(store.createProject(ada.org, b, EVENT)).rejects.toMatchObject({ code: 'conflict' })
    })

    it('finds a key by its hash and by its id, as it was made', async () => {
      const limits = { requestsPerMinute: 1_000_000, entriesPerDay: 1_000_000_000 }
      const more = { limits, countedAs: 'key_before' }
      const key = keyOf({ projects: ['a', 'b "quoted"'], agent: 'bot', expiresAt: clock.ms + 1000, ...more })
      const its = hash()
      await store.createKey(key, its, EVENT, false)
      // With the version of the directory of projects, which the org does not have yet.
      expect(await store.keyByHash(its)).toEqual({ key: { ...key, directory: 0 }, hash: its })
      expect(await store.keyById(key.id)).toEqual({ ...key, directory: 0 })
      expect(await store.keyByHash(hash())).toBeNull()
      expect(await store.keyById('key_none')).toBeNull()
      expect(await store.keys(ada.org)).toEqual([{ ...key, storedToday: 0 }])
      expect(await store.hasKeys()).toBe(true)
    })

    it('[PLATFORM-120] finds the newest usable key of an address in each organization, the newest first', async () => {
      const email = `${crypto.randomUUID()}@example.com`
      const first = keyOf({ email })
      const second = keyOf({ email, createdAt: clock.ms + 1, org: `${ada.org}-other` })
      const gone = keyOf({ email, createdAt: clock.ms + 2 })
      const ended = keyOf({ email, createdAt: clock.ms + 3, expiresAt: clock.ms })
      const older = Array.from({ length: 120 }, () => keyOf({ email, org: second.org, createdAt: clock.ms }))
      for (const key of [first, second, gone, ended, ...older, keyOf({ email: `x${email}` }), keyOf()])
        await store.createKey(key, hash(), EVENT, false)
      await store.revokeKeys(ada.org, [gone.id], 5, EVENT)
      expect(await store.keysByEmail(email)).toEqual([second, first])
      expect(await store.keysByEmail('')).toEqual([])
    })

    it('[OPERATE-222] gives an address to one owner of an organization as long as a key of that owner can be used', async () => {
      const email = `${crypto.randomUUID()}@example.com`
      const made = (draft: Partial<ApiKey>) => store.createKey(keyOf({ email, ...draft }), hash(), EVENT, false)
      const first = keyOf({ email, owner: 'ada' })
      await store.createKey(first, hash(), EVENT, false)
      await made({ owner: 'ada' })
      await expect(made({ owner: 'eve' })).rejects.toMatchObject({ code: 'conflict' })
      await made({ owner: 'eve', org: `${ada.org}-other` })
      const keys = (await store.keys(ada.org)).map(({ id }) => id)
      expect(keys).toHaveLength(2)
      await store.revokeKeys(ada.org, keys, 5, EVENT)
      await made({ owner: 'eve' })
      expect(await store.keysByEmail(email)).toMatchObject([{ owner: 'eve' }, { owner: 'eve' }])
    })

    it('[OPERATE-222] replaces an ended key by none with the address that another owner has since', async () => {
      const email = `${crypto.randomUUID()}@example.com`
      const ended = keyOf({ email, owner: 'ada', expiresAt: clock.ms })
      const others = keyOf({ email, owner: 'eve' })
      for (const key of [ended, others]) await store.createKey(key, hash(), EVENT, false)
      const replace = (next: ApiKey) => store.replaceKey(ended.id, clock.ms, next, hash(), EVENT)
      const next = keyOf({ email, owner: 'ada' })
      await expect(replace(next)).rejects.toMatchObject({ code: 'conflict', retryable: false })
      expect(await store.keyById(next.id)).toBeNull()
      expect((await store.keyById(ended.id))?.revokedAt).toBeNull()
      await store.revokeKeys(ada.org, [others.id], clock.ms, EVENT)
      expect(await replace(next)).toBe(true)
      expect(await replace(keyOf({ email, owner: 'ada' }))).toBe(false)
    })

    it('revokes a key once, in its own organization only', async () => {
      const key = keyOf()
      await store.createKey(key, hash(), EVENT, false)
      expect(await store.revokeKeys('another', [key.id], 5, EVENT)).toBe(false)
      expect(await store.revokeKeys(ada.org, [key.id], 5, EVENT)).toBe(true)
      expect(await store.revokeKeys(ada.org, [key.id], 6, EVENT)).toBe(false)
      expect((await store.keyById(key.id))?.revokedAt).toBe(5)
      expect(await events()).toHaveLength(2)
    })

    it('[OPERATE-157] switches capture for a key that is in use, in its own organization only', async () => {
      const key = keyOf()
      await store.createKey(key, hash(), EVENT, false)
      expect(await store.setCaptures('another', key.id, false, EVENT)).toBe(false)
      expect(await store.setCaptures(ada.org, key.id, false, EVENT)).toBe(true)
      expect((await store.keyById(key.id))?.captures).toBe(false)
      await store.revokeKeys(ada.org, [key.id], 5, EVENT)
      expect(await store.setCaptures(ada.org, key.id, true, EVENT)).toBe(false)
      expect(await events()).toHaveLength(3)
    })

    it('[OPERATE-158] finds audit rows by time and by entry', async () => {
      const start = clock.ms
      for (let i = 0; i < 9; i++) {
        await audit.record(ada.org, { ...EVENT, keyId: i < 3 ? 'key-1' : 'key-2', ids: [i, 100] })
        clock.advance(1_000)
      }
      const found = async (more: object, org = ada.org) =>
        (await audit.newest(org, { before: null, limit: 100, action: null, allowed: null, ...more })).rows.map(
          ({ seq }) => seq,
        )
      expect(await found({ since: start + 2_000, until: start + 5_000 })).toEqual([5, 4, 3])
      expect(await found({ until: start })).toEqual([])
      expect(await found({ until: start + 1 })).toEqual([1])
      expect(await found({ since: start + 8_000 })).toEqual([9])
      expect(await found({ until: start + 99_000 })).toHaveLength(9)
      expect(await found({ entryId: 4 })).toEqual([5])
      expect(await found({ entryId: 10 })).toEqual([])
      expect(await found({ entryId: 100, before: 3 })).toEqual([2, 1])
      expect(await found({}, freshPrincipal().org)).toEqual([])
    })

    it('revokes several keys at once, those that are left', async () => {
      const keys = [keyOf(), keyOf(), keyOf()]
      for (const key of keys) await store.createKey(key, hash(), EVENT, false)
      const [one, two, three] = keys.map(({ id }) => id) as [string, string, string]
      await store.revokeKeys(ada.org, [one], 5, EVENT)
      expect(await store.revokeKeys(ada.org, [one, two], 6, EVENT)).toBe(true)
      const ends = async () => Promise.all([one, two, three].map(async (id) => (await store.keyById(id))?.revokedAt))
      expect(await ends()).toEqual([5, 6, null])
    })

    it('creates a new owner once, also with concurrent calls, and lets another key join it by name', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, () => store.createKey(keyOf({ owner: 'ci-bot' }), hash(), EVENT, true)),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'conflict' })
      expect(await store.keys(ada.org)).toHaveLength(1)
      await store.createKey(keyOf({ owner: 'ci-bot' }), hash(), EVENT, false)
      await store.createKey(keyOf({ owner: 'Zoë' }), hash(), EVENT, false)
      expect((await store.owners(ada.org)).sort()).toEqual(['Zoë', 'ci-bot'])
      expect(await store.owners(freshPrincipal().org)).toEqual([])
    })

    it('notes the use of a key without an audit row', async () => {
      const key = keyOf()
      await store.createKey(key, hash(), EVENT, false)
      await store.noteUse(key.id, 77)
      expect((await store.keyById(key.id))?.lastUsedAt).toBe(77)
      expect(await events()).toHaveLength(1)
    })

    it('numbers events within each organization, and pages them in order', async () => {
      for (let n = 1; n <= 5; n++) await audit.record(ada.org, { ...EVENT, keyId: `key-${n}`, ids: [n], detail: { n } })
      await audit.record(freshPrincipal().org, EVENT)
      expect((await events()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
      expect(await events(2, 2)).toMatchObject([
        { seq: 3, at: clock.ms, keyId: 'key-3', ids: [3], detail: { n: 3 }, allowed: true, agent: null, tool: null },
        { seq: 4 },
      ])
      const some = await audit.page(ada.org, { after: 0, limit: 10, keys: ['key-2', 'key-5'] })
      expect(some.map(({ seq }) => seq)).toEqual([2, 5])
    })

    it('numbers events that come at the same time without a gap', async () => {
      await Promise.all(Array.from({ length: 20 }, () => audit.record(ada.org, EVENT)))
      expect((await events()).map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    })
  })

  describe(`${name} audits writes`, () => {
    let audit: AuditLog
    let entries: EntryStore
    let ada: Caller
    beforeEach(() => {
      ;({ audit, entries } = make())
      ada = freshPrincipal({ agent: 'bot', action: 'store_context', tool: 'store_context' })
    })
    const last = async () => (await audit.page(ada.org, { after: 0, limit: 100 })).at(-1)
    const count = async () => (await audit.page(ada.org, { after: 0, limit: 100 })).length

    it('notes each write once, with the entries that it touched', async () => {
      const two = [await entryOf(ada), await entryOf(ada, { source: 'agent' })]
      const ids = (await entries.save(ada, two)).map(({ id }) => id)
      const by = { keyId: 'key-1', agent: 'bot', action: 'store_context', tool: 'store_context', allowed: true }
      expect(await last()).toMatchObject({ ...by, seq: 1, ids, detail: { stored: 2 } })
      const [repeated] = await entries.save(ada, [two[1] as (typeof two)[number]])
      expect(await last()).toMatchObject({ seq: 2, ids: [repeated?.id], detail: { stored: 1 } })
      const [id] = ids as [number]
      await entries.patch(ada, id, { a: 1 })
      expect(await last()).toMatchObject({ seq: 3, ids: [id], detail: { updated: 1 } })
      await entries.change(ada, [{ id, version: 2, steps: 1, tags: ['x'] }])
      expect(await last()).toMatchObject({ seq: 4, ids: [id], detail: { updated: 1 } })
      expect(await entries.delete(ada, { ids: [...ids, 999_999_999] })).toBe(2)
      expect(await last()).toMatchObject({ seq: 5, ids, detail: { deleted: 2 } })
    })

    it('notes nothing of a write that did not happen', async () => {
      const [saved] = await entries.save(ada, [await entryOf(ada)])
      const id = saved?.id as number
      expect(await entries.patch(ada, 999_999_999, { a: 1 })).toBeNull()
      await expect(entries.change(ada, [{ id, version: 9, steps: 1, tags: ['x'] }])).rejects.toThrow()
      await expect(entries.patch(ada, id, { big: 'x'.repeat(300_000) })).rejects.toThrow()
      expect(await count()).toBe(1)
    })

    it('lets a narrowed key write in its projects only', async () => {
      const wide = ada
      const narrow = freshPrincipal({ org: ada.org, projects: ['a', 'b'], keyId: 'key-2' })
      const text = 'the same words'
      const [free] = await entries.save(wide, [await entryOf(wide, { text })])
      const id = free?.id as number
      const [inA] = await entries.save(narrow, [await entryOf(narrow, { text, metadata: { project: 'a' } })])
      expect(inA).toMatchObject({ isNew: true, version: 1 })
      expect(await entries.patch(narrow, id, { x: 1 })).toBeNull()
      expect(await entries.delete(narrow, { ids: [id] })).toBe(0)
      expect(await entries.delete(narrow, { threadIds: ['thread'] })).toBe(1)
      expect((await entries.read(wide, [id]))[0]).toMatchObject({ id, version: 1 })
    })
  })
}
