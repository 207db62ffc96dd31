import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { createSqlDirectory } from '../../src/adapters/sql/stores/identity/directory'
import type { EntryDraft } from '../../src/domain/entry/draft'
import type { Caller } from '../../src/domain/identity/scope'
import type { Directory } from '../../src/ports/directory'
import type { EntryStore } from '../../src/ports/entry-store'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

export interface DirectoryUnderTest {
  readonly entries: EntryStore
  readonly connection: SqlConnection
  readonly clock: TestClock
  readonly costs: { roundTrips: number }
}

/** Names of threads and projects, and their content; visibility is tested by the visibility contract. */
export function directoryContract(name: string, make: () => DirectoryUnderTest): void {
  describe(`${name} as a directory`, () => {
    let directory: Directory
    let made: DirectoryUnderTest
    let ada: Caller
    beforeEach(() => {
      made = make()
      directory = createSqlDirectory(made.connection, made.clock)
      ada = freshPrincipal()
    })

    /** Each a second after the other. */
    const save = async (...drafts: Partial<EntryDraft>[]): Promise<number[]> => {
      const ids: number[] = []
      for (const draft of drafts) {
        made.clock.advance(1000)
        const [saved] = await made.entries.save(ada, [await entryOf(ada, draft)])
        ids.push(saved?.id as number)
      }
      return ids
    }
    const EVERYTHING = { decisions: 10, inFlight: 10, previewLength: 100 }

    it('continues after a position although others were used meanwhile, and skips or repeats nothing else', async () => {
      await save(...['a', 'b', 'c', 'd'].map((threadId) => ({ threadId })))
      const first = await directory.threads(ada, null, 2)
      expect(first.map(({ threadId }) => threadId)).toEqual(['d', 'c'])
      await save({ threadId: 'new' }, { threadId: 'd' })
      const second = await directory.threads(ada, first[1] ?? null, 10)
      expect(second.map(({ threadId }) => threadId)).toEqual(['b', 'a'])
    })

    it('orders threads within one second by their newest entry', async () => {
      const drafts = ['x', 'y', 'z', 'x'].map((threadId) => entryOf(ada, { threadId }))
      await made.entries.save(ada, await Promise.all(drafts))
      const names = async (after: Parameters<Directory['threads']>[1], limit: number) =>
        (await directory.threads(ada, after, limit)).map(({ threadId }) => threadId)
      expect(await names(null, 10)).toEqual(['x', 'z', 'y'])
      const [, second] = await directory.threads(ada, null, 2)
      expect(await names(second ?? null, 10)).toEqual(['y'])
    })

    it('names threads and projects by their beginning, letter for letter', async () => {
      for (const of of ['é%_', 'É', 'e', 'éa/b', 'è', 'éz']) await save({ threadId: of, metadata: { project: of } })
      expect(await directory.threadsBeginning(ada, 'é', 10)).toEqual(['éz', 'éa/b', 'é%_'])
      expect(await directory.projectsBeginning(ada, 'é', 2)).toEqual(['éz', 'éa/b'])
      expect(await directory.threadsBeginning(ada, 'é%', 10)).toEqual(['é%_'])
      expect(await directory.threadsBeginning(ada, 'x', 10)).toEqual([])
      expect(await directory.projectsBeginning(ada, '', 10)).toEqual(['éz', 'è', 'éa/b', 'e', 'É', 'é%_'])
      for (const bad of ['\u0000', '\ud800']) {
        expect(await directory.threadsBeginning(ada, bad, 10)).toEqual([])
        expect(await directory.projectsBeginning(ada, bad, 10)).toEqual([])
      }
      const narrowed = { ...ada, projects: ['éz', 'e', 'nothing'] }
      expect(await directory.projectsBeginning(narrowed, '', 10)).toEqual(['éz', 'e'])
    })

    it('[OPERATE-136] names tags by their beginning, the most used first, within the scope', async () => {
      await save(
        { tags: ['tide', 'tag'], metadata: { project: 'p' } },
        { tags: ['tide', 'é%_'], metadata: { project: 'q' } },
      )
      const [mine] = await save({ tags: ['tidal', 'tide'], metadata: { audience: 'private' } })
      await save({ tags: ['tidal', 'times'], metadata: { project: 'p' } })
      expect(await directory.tagsBeginning(ada, 'ti', 10)).toEqual(['tide', 'tidal', 'times'])
      expect(await directory.tagsBeginning(ada, '', 2)).toEqual(['tide', 'tidal'])
      expect(await directory.tagsBeginning(ada, 'é%', 10)).toEqual(['é%_'])
      for (const none of ['x', '\u0000', '\ud800']) expect(await directory.tagsBeginning(ada, none, 10)).toEqual([])
      expect(await directory.tagsBeginning({ ...ada, projects: ['q'], owner: 'eve' }, '', 10)).toEqual(['tide', 'é%_'])
      await made.entries.delete(ada, { ids: [mine as number] })
      expect(await directory.tagsBeginning(ada, 'tida', 10)).toEqual(['tidal'])
    })

    it('[PACK-50] leaves out entries that do not fit an answer, the newest last, and names them', async () => {
      const ids = await save(...Array.from({ length: 5 }, (_, i) => ({ text: `${i} ${'ä'.repeat(500)}` })))
      const { entries, omitted, total } = await directory.tail(ada, 'thread', 4, 2500)
      expect(entries.map(({ id }) => id)).toEqual([ids[4], ids[3]])
      expect([omitted, total]).toEqual([[ids[2], ids[1]], 5])
      expect((await directory.tail(ada, 'thread', 4, 1)).entries.map(({ id }) => id)).toEqual([ids[4]])
    })

    it('shows decisions again when the superseding one is deleted, archived or not visible', async () => {
      const [old] = await save({ metadata: { project: 'p', kind: 'decision' } })
      const decided = async (scope = ada) =>
        (await directory.project(scope, 'p', EVERYTHING))?.decisions.map(({ id }) => id)
      const [secret] = await save({
        metadata: { project: 'p', kind: 'note', supersedes: [old as number], audience: 'private' },
      })
      expect(await decided()).toEqual([])
      expect(await decided({ ...ada, owner: 'eve' })).toEqual([old])
      await made.entries.delete(ada, { ids: [secret as number] })
      expect(await decided()).toEqual([old])
    })

    it('takes one round trip for each question', async () => {
      await save({ metadata: { project: 'p' } })
      const questions = [
        () => directory.threads(ada, null, 100),
        () => directory.threadsBeginning(ada, 't', 20),
        () => directory.threadsBeginning(ada, '', 20),
        () => directory.projectsBeginning(ada, '', 20),
        () => directory.tagsBeginning(ada, '', 20),
        () => directory.tail(ada, 'thread', 100, 1000),
        () => directory.project(ada, 'p', EVERYTHING),
      ]
      for (const ask of questions) {
        made.costs.roundTrips = 0
        await ask()
        expect(made.costs.roundTrips).toBe(1)
      }
    })
  })
}
