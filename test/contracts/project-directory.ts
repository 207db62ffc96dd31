import { beforeEach, describe, expect, it } from 'vitest'
import { type Attachment, PendingNames } from '../../src/domain/identity/project-attachment'
import { readProjectName } from '../../src/domain/identity/project-names'
import { NamesChanged, resolveName } from '../../src/domain/identity/project-resolution'
import type { Caller } from '../../src/domain/identity/scope'
import type { AuditLog } from '../../src/ports/audit-log'
import type { EntryStore } from '../../src/ports/entry-store'
import type { ProjectDirectory } from '../../src/ports/project-directory'
import { entryOf, freshPrincipal } from '../support/scope'

/** The contract of every directory of projects, on each database; calls of agents are in `projects.ts`. */
export function projectDirectoryContract(
  name: string,
  make: () => { readonly directory: ProjectDirectory; readonly audit: AuditLog; readonly entries: EntryStore },
): void {
  describe(`${name} as a directory of projects`, () => {
    let directory: ProjectDirectory
    let audit: AuditLog
    let entries: EntryStore
    let ada: Caller
    beforeEach(() => {
      ;({ directory, audit, entries } = make())
      ada = freshPrincipal()
    })

    const by = () => ({ ...ada, action: 'test', tool: null })
    const named = (given: string, home: string, more: Partial<Attachment> = {}): Attachment => {
      const read = readProjectName(given)
      if (read === null) throw new Error('blank')
      return { name: read, home, isNew: given === home, isNarrow: false, isTold: false, ...more }
    }
    const give = async (...names: Attachment[]): Promise<void> => {
      const { version } = await directory.known(ada, [])
      await directory.attach(by(), new PendingNames(version, names))
    }
    const keyOf = async (given: string, scope: Caller = ada) =>
      resolveName(scope, given, await directory.known(scope, [given]))?.key ?? null
    const change = async (given: Parameters<ProjectDirectory['change']>[2]) =>
      directory.change(by(), (await directory.known(ada, [])).version, given)

    it('finds a project by each of its names, and gives a narrowed scope no row of another', async () => {
      await give(named('github.com/acme/api', 'github.com/acme/api'), named('/src/api', 'github.com/acme/api'))
      await give(named('github.com/other/api', 'github.com/other/api'))
      expect([await keyOf('/SRC/API/'), await keyOf('git@github.com:acme/api')]).toEqual(
        Array(2).fill('github.com/acme/api'),
      )
      const narrow = { ...ada, projects: ['github.com/other/api'] }
      const { rows } = await directory.known(narrow, ['api', '/src/api', 'github.com/acme/api'])
      expect(rows.map(({ name: one }) => one)).toEqual(['github.com/other/api'])
      expect([await keyOf('api', narrow), await keyOf('/src/api', narrow)]).toEqual(['github.com/other/api', null])
      expect((await directory.known({ ...freshPrincipal(), projects: null }, ['api'])).rows).toEqual([])
    })

    it('gives names once, and refuses what was resolved before another name of the project', async () => {
      const { version } = await directory.known(ada, [])
      await give(named('api', 'api'))
      const late = new PendingNames(version, [named('github.com/acme/api', 'api', { isTold: true })])
      await expect(directory.attach(by(), late)).rejects.toThrow(NamesChanged)
      expect([late.isGiven, (await directory.changes(ada.org, null, 10)).length]).toEqual([false, 1])
      // Names of other projects that were given meanwhile do not matter.
      const far = new PendingNames(version, [named('web', 'web')])
      await directory.attach(by(), far)
      expect([far.isGiven, (await directory.known(ada, [])).version]).toEqual([true, 2])
      await give(named('github.com/acme/api', 'api', { isTold: true }))
      const [event] = (await audit.newest(ada.org, { before: null, limit: 1, action: null, allowed: null })).rows
      expect(event).toMatchObject({
        action: 'projects.attach',
        detail: { project: 'api', name: 'github.com/acme/api' },
      })
    })

    it('merges keys, and returns all keys under which the project is stored', async () => {
      await give(named('a', 'a'), named('b', 'b'), named('c', 'c'))
      const detail = { project: 'a', from: 'b', homes: ['b'] }
      expect(await change({ action: 'merge', detail, merged: [{ home: 'b', into: 'a' }] })).toBe(4)
      const merged = resolveName(ada, 'B', await directory.known(ada, ['B']))
      expect(merged).toMatchObject({ key: 'a', homes: ['b', 'a'] })
      expect((await directory.list(ada, true)).map(({ key, homes }) => [key, homes])).toEqual([
        ['a', ['a', 'b']],
        ['c', ['c']],
      ])
      await expect(directory.change(by(), 3, { action: 'merge', detail })).rejects.toMatchObject({ code: 'conflict' })
      await change({
        action: 'undo',
        detail: { project: 'a', change: 4 },
        merged: [{ home: 'b', into: null }],
        undoes: 4,
      })
      expect(await keyOf('b')).toBe('b')
      expect((await directory.changes(ada.org, 5, 1))[0]).toMatchObject({
        seq: 4,
        action: 'merge',
        undoneBy: 5,
        detail,
      })
    })

    it('gives each project of an older store its own key as a name, and merges none', async () => {
      for (const project of ['Checkout', 'checkout', 'github.com/acme/checkout'])
        await entries.save(ada, [await entryOf(ada, { metadata: { project } })])
      for (const key of ['Checkout', 'checkout', 'github.com/acme/checkout']) expect(await keyOf(key)).toBe(key)
      expect((await directory.list(ada, false)).map(({ key, entries: count }) => [key, count])).toEqual([
        ['Checkout', 1],
        ['checkout', 1],
        ['github.com/acme/checkout', 1],
      ])
      expect((await directory.changes(ada.org, null, 10)).map(({ action }) => action)).toEqual(['seed'])
    })
  })
}
