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
      it('[OPERATE-163] is edited by fields: a form changes only the fields that it has, and offers to undo that', async () => {
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

      it('[OPERATE-163] shows an error at its field, that of JSON with its line, and what was typed', async () => {
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
        expect(text).toMatch(/src\/a\.ts:12-20.*changed, found <time datetime="2026-11-01/s)
        expect(text).toMatch(/class="graph".*A far memory/s)
        expect(text).not.toContain('Edit details')
      })

      it('[OPERATE-162] is listed after it was deleted, and restored from the list', async () => {
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
        // The page does not report a second erasure.
        expect((await writer.send(`/entries/${id}/erase`, { sure: 'yes' })).status).toBe(404)
      })
    })

    describe('threads, projects, keys and the audit log', () => {
      it('[OPERATE-155] sorts and filters threads, deletes several and undoes that', async () => {
        const ids = [await store('in one', { thread_id: 'bulk one' }), await store('in two', { thread_id: 'bulk two' })]
        const { text } = await writer.get('/threads?contains=bulk&sort=name')
        expect(text).toMatch(/aria-sort="ascending".*bulk one.*bulk two/s)
        expect(text).toContain('2 threads with “bulk”')
        expect((await reader.get('/threads')).text).not.toContain('Delete selected')
        const gone = await writer.send('/threads/delete', { pick: ['bulk one', 'bulk two'] })
        expect(locationOf(gone)).toMatch(/^\/threads\?done=2&change=[0-9a-f]{32}$/)
        const change = /name="change" value="([^"]*)"/.exec((await writer.get(locationOf(gone))).text)?.[1] ?? ''
        await writer.send('/threads/undo', { change })
        expect((await read(ids[1] as number)).text_content).toBe('in two')
        expect(locationOf(await writer.send('/threads/delete', {}))).toBe('/threads?done=none')
      })

      it('[OPERATE-156] renames and merges projects from their rows, undoes each, and shows an error at its field', async () => {
        for (const project of ['ferry', 'ferry-old']) await store(`of ${project}`, { metadata: { project } })
        expect((await admin.get('/projects?sort=name')).text).toMatch(/aria-sort="ascending"/)
        const merged = await admin.send('/projects/merge', { from: 'ferry-old', into: 'ferry' })
        expect([merged.status, locationOf(merged)]).toEqual([303, expect.stringMatching(/done=merge&change=\d+$/)])
        const after = await admin.get(locationOf(merged))
        expect(after.text).toMatch(/The projects are merged.*Undo/s)
        const undone = await admin.send('/projects/undo', {
          change: /change=(\d+)/.exec(locationOf(merged))?.[1] ?? '',
        })
        expect((await admin.get(locationOf(undone))).text).toContain('The change is undone')
        const renamed = await admin.send('/projects/rename', { project: 'ferry', name: 'The ferry' })
        expect((await admin.get(locationOf(renamed))).text).toMatch(/is renamed.*The ferry/s)
        const wrong = await admin.send('/projects/merge', { from: 'ferry', into: 'no-such' })
        expect([wrong.status, wrong.text]).toEqual([
          404,
          expect.stringMatching(/id="into"[^>]*value="no-such".*id="into-error"/s),
        ])
      })

      it('[OPERATE-157] switches the capture of a key, within the reach of the administrator', async () => {
        const { id } = (await house.somebody({ name: 'switched', projects: ['p'] })).key
        const isOn = async () =>
          (await house.admin('GET', '/orgs/acme/keys')).keys.find((key: Json) => key.id === id).capture
        expect(locationOf(await admin.send('/keys/capture', { id, capture: 'off' }))).toBe('/keys?done=capture')
        expect(await isOn()).toBe(false)
        const narrow = await house.somebody({ role: 'admin', name: 'narrow', projects: ['q'] })
        expect((await narrow.send('/keys/capture', { id, capture: 'on' })).status).toBe(404)
        expect((await writer.send('/keys/capture', { id, capture: 'on' })).status).toBe(403)
        expect(await isOn()).toBe(false)
      })

      it('keeps what was typed in the form of a key, with the error at its field', async () => {
        const wrong = await admin.send('/keys', {
          name: 'kept',
          role: 'writer',
          expires_at: '2001-01-01',
          agent: 'bot',
        })
        expect(wrong.status).toBe(400)
        expect(wrong.text).toMatch(
          /value="kept".*id="expires_at-error">expires_at must be in the future.*<details open.*value="bot"/s,
        )
      })

      it('[OPERATE-158] filters the audit log by date and memory, and exports it as CSV', async () => {
        const id = await store('audited')
        const today = new Date().toISOString().slice(0, 10)
        const page = await admin.get(`/audit?memory=${id}&from=${today}&to=${today}`)
        expect(page.text.match(/data-row/g)).toHaveLength(1)
        expect((await admin.get('/audit?to=2001-01-01')).text).toContain('No matching actions')
        expect((await admin.get('/audit?from=tomorrow')).text).toContain('id="from-error"')
        const csv = await admin.get(`/audit/export?memory=${id}`)
        expect(csv.headers.get('content-type')).toContain('text/csv')
        const [head, row] = csv.text.split('\r\n')
        expect(head).toBe('number,time,key,agent,action,outcome,memories,counts')
        expect(row).toMatch(new RegExp(`,ann,store_context,done,${id},stored=1$`))
        expect((await writer.get('/audit/export')).status).toBe(403)
      })
    })

    it('[OPERATE-159] shows of a pack what fell out and why, and compares two goals', async () => {
      const old = await store('Herons nest in the reeds, old text.', {
        metadata: { title: 'Old nests', project: 'birds' },
      })
      await store('Herons nest in tall trees.', {
        metadata: { title: 'Nests in trees', project: 'birds', kind: 'decision', supersedes: [old] },
      })
      await store('Swans sleep on the lake at night.', {
        metadata: { title: 'Swans sleep', project: 'birds', kind: 'rule' },
      })
      const { text } = await reader.get('/pack?goal=where+do+herons+nest&project=birds')
      expect(text).toMatch(/1 memory superseded.*A newer memory replaces them.*Old nests.*place \d+.*Why\?/s)
      const both = (await reader.get('/pack?goal=where+do+herons+nest&other=when+do+swans+sleep&project=birds')).text
      expect(both).toMatch(/Only “where do herons nest”.*Nests in trees.*Only “when do swans sleep”.*Swans sleep/s)
      expect(both).toMatch(/Both goals/)
      const budget = await reader.get('/pack?goal=x&budget=5')
      expect([budget.status, budget.text]).toEqual([
        400,
        expect.stringMatching(/value="x".*value="5".*id="budget-error"/s),
      ])
    })

    it('[OPERATE-160] shows activity by day, in pages, and of one person, project or key', async () => {
      for (let i = 0; i < 65; i++) await store(`activity ${i}`, { metadata: { project: 'busy' }, thread_id: 'busy' })
      const page = await reader.get('/activity?project=busy')
      expect(page.text).toMatch(/<h2>Today<\/h2>.*activity 64/s)
      expect(page.text.match(/class="change /g)).toHaveLength(60)
      expect(page.text.length).toBeLessThan(60_000)
      const older = /rel="next" href="([^"]*before=[^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
      const next = (await reader.get(older)).text
      expect(next).toMatch(/activity 4<.*activity 0</s)
      expect(next).not.toContain('data-feed')
      expect((await reader.get('/activity?agent=nobody')).text).toContain('No changes')
      expect((await reader.get('/activity?agent=ann&thread=busy')).text).toContain('activity 64')
      expect((await admin.get(`/activity?by=${reader.key.id}`)).text).toContain('No changes')
      expect((await admin.get(`/activity?by=${writer.key.id}&thread=busy`)).text).toContain('activity 64')
      // Only administrators learn which key made a change.
      expect((await reader.get(`/activity?by=${reader.key.id}&thread=busy`)).text).toContain('activity 64')
      expect((await reader.get('/activity?before=wrong')).status).toBe(400)
    })
  })
}
