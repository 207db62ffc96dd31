import { beforeAll, describe, expect, it } from 'vitest'
import type { Team } from '../../support/access'
import { sharedTeam, unique } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

/** Retained history of entries, as agents read and erase it (history contract §3). */
export function keptHistoryEndpointContract(): void {
  describe('kept states on the wire', () => {
    let team: Team
    let org: string
    let ada: string
    beforeAll(async () => {
      team = await sharedTeam()
      org = unique('org')
      ada = (await team.key(org, { name: 'ada', agent: 'ci-bot', owner: 'ada' })).key
    })

    const ok = async (name: string, args: Json = {}, bearer = ada): Promise<Json> => {
      const { data, isError, text } = await team.call(bearer, name, args)
      if (isError) throw new Error(`${name} failed: ${text}`)
      return data
    }
    const store = async (text: string, args: Json = {}, bearer = ada): Promise<number> =>
      (await ok('store_context', { thread_id: unique(), source: 'user', text, ...args }, bearer)).context_id
    const versions = async (id: number, args: Json = {}, bearer = ada) =>
      ok('get_context_history', { context_id: id, ...args }, bearer)

    it('[HISTORY-38] reports the same instant of a change in the feed and in history, deletions included', async () => {
      const { next: after } = await ok('list_changes', {})
      const thread_id = unique()
      const ids = [await store('one', { thread_id }), await store('two', { thread_id })]
      await ok('update_context', { context_id: ids[0], text: 'three' })
      await ok('delete_context', { thread_id })
      await ok('restore_context', { context_ids: [ids[0]] })
      await ok('context_delete', { memoryId: String(ids[0]) })
      const { changes } = await ok('list_changes', { after })
      const told = (id: number) => changes.filter(({ context_id: one }: Json) => one === id)
      for (const id of ids) {
        const kept = (await versions(id)).versions.map(({ version, at }: Json) => [version, at])
        expect(told(id).map(({ version, at }: Json) => [version, at])).toEqual(kept.reverse())
      }
      expect(told(ids[0] as number)).toHaveLength(5)
    })

    it('[HISTORY-14] retains a state for each of several updates of one entry in a batch, without a gap', async () => {
      const id = await store('the first text', { metadata: { n: 0 } })
      const { next: after } = await ok('list_changes', {})
      const long = 'a long line of text\n'.repeat(2_000).trim()
      const updates = [
        { context_id: id, text: long, expected_version: 1 },
        { context_id: id, metadata_patch: { n: 1 }, expected_version: 2 },
        { context_id: id, tags: ['t'] },
        { context_id: id, text: 'the last text', metadata_patch: { m: 2 }, expected_version: 4 },
      ]
      await ok('update_context_batch', { updates })
      const page = await versions(id)
      expect(page).toMatchObject({ current_version: 5, total: 5 })
      expect(page.versions.map(({ version, changed }: Json) => [version, changed])).toEqual([
        [5, ['text', 'metadata']],
        [4, ['tags']],
        [3, ['metadata']],
        [2, ['text']],
        [1, []],
      ])
      const state = async (version: number) => (await versions(id, { version })).result[0]
      expect(await state(2)).toMatchObject({ text_content: long, metadata: { n: 0 }, tags: [] })
      expect(await state(3)).toMatchObject({ text_content: long, metadata: { n: 1 }, tags: [] })
      expect(await state(4)).toMatchObject({ text_content: long, metadata: { n: 1 }, tags: ['t'] })
      expect(await state(5)).toMatchObject({ text_content: 'the last text', metadata: { n: 1, m: 2 }, tags: ['t'] })
      const { changes } = await ok('list_changes', { after })
      expect(changes.map(({ version }: Json) => version)).toEqual([2, 3, 4, 5])
      expect((await ok('restore_context', { context_ids: [id], version: 3 })).restored).toEqual([
        { context_id: id, version: 6 },
      ])
      expect(await state(6)).toMatchObject({ text_content: long, metadata: { n: 1 } })
    })
  })
}
