import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, houseOf, locationOf, type Person } from '../../support/dashboard'
import { ADMIN_TOKEN, type Json } from '../../support/oauth'
import type { RunningServer } from '../../support/server'

type Start = (vars: Record<string, string>) => Promise<RunningServer>

/** Pages of memories, activity, threads, projects, keys, the audit log and packs (operate contract §1.3). */
export function dashboardRecords(name: string, start: Start): void {
  describe(`the records of the dashboard on ${name}`, () => {
    let server: RunningServer
    let house: House
    let admin: Person & { key: { key: string; id: string } }
    let writer: typeof admin
    let reader: typeof admin
    const store = async (text: string, more: Json = {}): Promise<number> =>
      (await house.call(writer.key.key, 'store_context', { thread_id: 'a thread', source: 'agent', text, ...more }))
        .context_id
    const read = async (id: number): Promise<Json> =>
      (await house.call(writer.key.key, 'get_context_by_ids', { context_ids: [id] })).result[0]

    beforeAll(async () => {
      server = await start({ AUTH_MODE: 'required', ADMIN_TOKEN })
      house = houseOf(server)
      await house.admin('POST', '/orgs', { id: 'acme', name: 'Acme' })
      admin = await house.somebody({ role: 'admin', name: 'root' })
      writer = await house.somebody({ agent: 'ann', name: 'ann' })
      reader = await house.somebody({ role: 'reader', name: 'rea' })
    })
    afterAll(() => server?.stop())

    describe('a memory', () => {
      it('[OPERATE-152] is edited by fields: a form changes only the fields that it has, and offers to undo that', async () => {
        const other = await store('another')
        const id = await store('first words', {
          metadata: { title: 'Old', kind: 'note', project: 'p', mood: 'low' },
          tags: ['a'],
        })
        const page = await writer.get(`/entries/${id}`)
        expect(page.text).toMatch(/Edit details.*name="title"[^>]*value="Old"/s)
        const fields = { title: 'New', kind: 'decision', status: '', project: '', audience: 'org', tags: 'a, b' }
        const links = { supersedes: `${other}`, depends_on: '', contradicts: '', references: '' }
        const done = await writer.send(`/entries/${id}/edit`, { ...fields, ...links, expected: '1' })
        expect([done.status, locationOf(done)]).toEqual([303, `/entries/${id}?done=changed&from=1`])
        expect(await read(id)).toMatchObject({
          ...{ text_content: 'first words', tags: ['a', 'b'] },
          metadata: { title: 'New', kind: 'decision', project: 'p', mood: 'low', supersedes: [other] },
        })
        expect((await writer.get(locationOf(done))).text).toMatch(/Your changes are stored.*>\s*Undo\s*</s)
        await writer.send(`/entries/${id}/restore`, { version: '1', expected: '2' })
        expect((await read(id)).metadata).toMatchObject({ title: 'Old', kind: 'note' })
      })

      it('[OPERATE-152] shows an error at its field, that of JSON with its line, and what was typed', async () => {
        const id = await store('words', { metadata: { title: 'A' } })
        const wrong = await writer.send(`/entries/${id}/edit`, { title: 'B', supersedes: 'x1', expected: '1' })
        expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('id="supersedes-error"')])
        expect(wrong.text).toMatch(/aria-invalid="true"/)
        expect(wrong.text).toContain('value="B"')
        const metadata = '{\n  "title": "A",\n  "kind": note\n}'
        const json = await writer.send(`/entries/${id}/edit`, { text: 'my words', tags: '', metadata, expected: '1' })
        expect(json.status).toBe(400)
        expect(json.text).toMatch(/id="metadata-error">Line 3 is not JSON/)
        expect(json.text).toContain('my words</textarea>')
        const audience = await writer.send(`/entries/${id}/edit`, { title: 'A', audience: 'nobody', expected: '1' })
        expect([audience.status, audience.text]).toEqual([400, expect.stringContaining('id="audience-error"')])
        expect((await read(id)).version ?? 1).toBe(1)
      })

      it('shows its sources, and the links of its neighbors', async () => {
        const far = await store('far', { metadata: { title: 'A far memory' } })
        const near = await store('near', { metadata: { references: { context_ids: [far] } } })
        const id = await store('root', {
          metadata: {
            depends_on: [near],
            sources: [{ path: 'src/a.ts', lines: '12-20', commit: '3f2c9a1', changed_at: '2026-11-01' }],
          },
        })
        const { text } = await reader.get(`/entries/${id}`)
        expect(text).toMatch(/src\/a\.ts:12-20.*changed, found 2026-11-01/s)
        expect(text).toMatch(/class="graph".*A far memory/s)
        expect(text).not.toContain('Edit details')
      })

      it('[OPERATE-151] is listed after it was deleted, and restored from the list', async () => {
        const ids = [await store('deleted one', { metadata: { title: 'One' } }), await store('deleted two')]
        for (const id of ids) await writer.send(`/entries/${id}/delete`, { expected: '1' })
        expect((await writer.get('/deleted')).text).toMatch(/deleted two.*One.*Restore selected/s)
        expect((await reader.get('/deleted')).status).toBe(403)
        const back = await writer.send('/deleted', { pick: ids.map(String) })
        expect([back.status, locationOf(back)]).toEqual([303, '/deleted?done=2'])
        expect((await writer.get(locationOf(back))).text).toContain('2 memories were restored')
        expect((await read(ids[0] as number)).text_content).toBe('deleted one')
        const [, second] = ids
        await writer.send(`/entries/${second}/delete`, { expected: String((await read(second as number)).version) })
        const one = await writer.send('/deleted?one', { pick: [String(ids[0]), String(second)] })
        expect(locationOf(one)).toBe('/deleted?done=1')
      })

      it('[OPERATE-154] is erased for good only with the box ticked, and names the consequences', async () => {
        const id = await store('to be erased')
        expect((await writer.get(`/entries/${id}/delete`)).text).toMatch(/Backups and exports.*still contain it/s)
        const unsure = await writer.send(`/entries/${id}/erase`, {})
        expect((await writer.get(locationOf(unsure))).text).toContain('id="sure-error"')
        await writer.send(`/entries/${id}/delete`, { expected: '1' })
        expect((await writer.get(`/entries/${id}`)).text).toContain('Erase for good')
        expect((await reader.send(`/entries/${id}/erase`, { sure: 'yes' })).status).toBe(403)
        const erased = await writer.send(`/entries/${id}/erase`, { sure: 'yes' })
        expect((await writer.get(locationOf(erased))).text).toContain(`Memory ${id} is erased`)
        expect((await writer.get(`/entries/${id}`)).status).toBe(404)
      })
    })
  })
}
