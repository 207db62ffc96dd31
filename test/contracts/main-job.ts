import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../support/build'
import { CLIENTS, type TestClient } from '../support/clients'
import { readCorpus, type Section } from '../support/corpus'
import { type DevServer, startDevServer } from '../support/dev-server'

/**
 * The main job on real input: real texts go in over MCP and are found again.
 *
 * @param count of the texts
 * @param restarts whether the server is started again with them, which `e2e/start` does with one
 */
export function mainJob(count: number, restarts: boolean): void {
  describe('npm start', () => {
    const DATA = join(ROOT, '.tmp', 'e2e')
    const sections = readCorpus(count)
    const ids = new Map<Section, number>()
    let server: DevServer
    let client: TestClient
    const start = async () => {
      server = await startDevServer(DATA)
      client = await (CLIENTS['SDK v2, revision 2026-07-28'] as (url: URL) => Promise<TestClient>)(server.url)
    }
    const stop = async () => {
      await client?.close()
      await server?.stop()
    }
    beforeAll(async () => {
      rmSync(DATA, { recursive: true, force: true })
      await start()
    })
    afterAll(stop)

    it('prints the address and the line that adds it to a client', () => {
      expect(server.output()).toContain(server.url.href)
      expect(server.output()).toContain(`claude mcp add --transport http commonplace ${server.url.href}`)
    })

    it(`stores ${count} real sections, every one with an id`, async () => {
      expect(sections.length).toBe(count)
      for (let i = 0; i < sections.length; i += 100) {
        const batch = sections.slice(i, i + 100)
        const entries = batch.map((section) => ({
          thread_id: section.package,
          source: 'agent',
          text: section.text,
          metadata: { title: section.heading, file: section.file, package: section.package },
          tags: [section.file.toLowerCase().startsWith('readme') ? 'readme' : 'changelog'],
        }))
        const { data, isError, text } = await client.call('store_context_batch', { entries })
        expect([isError, isError ? text : '']).toEqual([false, ''])
        batch.forEach((section, n) => {
          ids.set(section, data.results[n].context_id)
        })
      }
      const { data } = await client.call('get_statistics')
      expect(data.total_entries).toBe(new Set(ids.values()).size)
      expect(data.total_threads).toBe(new Set(sections.map((section) => section.package)).size)
      expect(data.fts.indexed_entries).toBe(data.total_entries)
    })

    it('finds sections again by their own words, in the first ten', async () => {
      const probes = sections
        .filter((section) => section.text.length > 400)
        .filter((_, i, all) => i % Math.ceil(all.length / 30) === 0)
      let found = 0
      for (const section of probes) {
        const words = (section.text.match(/[A-Za-z]{5,}/g) ?? []).slice(5, 17).join(' ')
        const { data } = await client.call('fts_search_context', { query: words, limit: 10 })
        if (data.results.some((entry: { id: number }) => entry.id === ids.get(section))) found++
      }
      expect(probes.length).toBeGreaterThan(15)
      expect(found / probes.length).toBeGreaterThan(0.9)
    })

    it('finds sections again by thread, metadata, tag and date', async () => {
      const section = sections[Math.floor(sections.length / 2)] as Section
      const call = async (args: Record<string, unknown>) =>
        (await client.call('search_context', { limit: 100, ...args })).data
      const inThread = await call({ thread_id: section.package })
      const expected = new Set(sections.filter((one) => one.package === section.package).map((one) => ids.get(one)))
      expect(inThread.total).toBe(expected.size)
      const byTitle = await call({ thread_id: section.package, metadata: { title: section.heading } })
      expect(byTitle.results.map((entry: { id: number }) => entry.id)).toContain(ids.get(section))
      const changelogs = await call({
        tags: ['Changelog'],
        metadata_filters: [{ key: 'file', operator: 'starts_with', value: 'change' }],
      })
      expect(changelogs.total).toBe(
        new Set(sections.filter((one) => /^change/i.test(one.file)).map((one) => ids.get(one))).size,
      )
      expect((await call({ start_date: '2000-01-01', end_date: '2001-01-01' })).total).toBe(0)
      expect((await call({ start_date: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10) })).total).toBe(
        new Set(ids.values()).size,
      )
    })

    it('returns a complete section, character for character', async () => {
      const section = sections.find((one) => one.text.length > 5_000) as Section
      const { data } = await client.call('get_context_by_ids', { context_ids: [ids.get(section)] })
      expect(data.result[0].text_content).toBe(section.text)
    })

    if (!restarts) return
    it('keeps everything over a restart, and answers within five seconds of it', async () => {
      const { data: before } = await client.call('get_statistics')
      await stop()
      const started = Date.now()
      await start()
      const { data: after } = await client.call('get_statistics')
      console.log(`first answer ${Date.now() - started} ms after npm start`)
      expect(after.total_entries).toBe(before.total_entries)
    })
  })
}
