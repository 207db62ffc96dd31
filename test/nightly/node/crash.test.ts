import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crashAgainAndAgain, startServer } from '../../../bench/faults/crashes.mjs'
import { createClient } from '../../../bench/support/mcp.mjs'
import { freePort } from '../../../scripts/ports.mjs'
import { ROOT } from '../../support/build'

/** A server that is killed while agents write. More crashes, and PostgreSQL: `node bench/faults/crash.mjs`. */
const CRASHES = 2
const SEED = Number(process.env.CRASH_SEED ?? 20261122)

it('holds and finds every acknowledged write, and none twice, after kill -9 of everything in the middle of work', async () => {
  mkdirSync(join(ROOT, '.tmp'), { recursive: true })
  const state = mkdtempSync(join(ROOT, '.tmp', 'crash-'))
  try {
    const port = await freePort()
    const result = await crashAgainAndAgain({
      start: () => startServer({ port, state }),
      crashes: CRASHES,
      writers: 3,
      seed: SEED,
      most: 40,
    })
    expect([SEED, result.wrong]).toEqual([SEED, []])
    expect(result.acknowledged).toBeGreaterThanOrEqual(CRASHES)
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
})

it('finds by words and by meaning the entries of a restoration that was killed a few milliseconds after its call', async () => {
  mkdirSync(join(ROOT, '.tmp'), { recursive: true })
  const state = mkdtempSync(join(ROOT, '.tmp', 'crash-'))
  const port = await freePort()
  let server = await startServer({ port, state })
  try {
    const words = Array.from({ length: 60 }, (_, i) => `quokka${i}x`)
    for (const wait of [6, 12, 20, 35]) {
      const thread_id = `after ${wait} ms`
      const before = createClient(server.origin)
      const entries = words.map((text) => ({ thread_id, source: 'agent', text: `${text}${wait}` }))
      const stored = await before.call('store_context_batch', { entries })
      const context_ids = stored.content.results.map((one: { context_id: number }) => one.context_id)
      const { change_id } = (await before.call('delete_context', { context_ids })).content
      const call = { change_id, idempotency_key: `restore-${wait}` }
      const lost = before.call('restore_context', call).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, wait))
      await server.crash()
      await lost
      before.close()
      server = await startServer({ port, state })
      const client = createClient(server.origin)
      expect((await client.call('restore_context', call)).content.restored).toHaveLength(60)
      const missed: string[] = []
      for (const word of words.slice(0, 20))
        for (const tool of ['fts_search_context', 'semantic_search_context']) {
          const { content } = await client.call(tool, { query: `${word}${wait}`, thread_id, limit: 5 })
          if (!content.results.some(({ text_content: text }: { text_content: string }) => text === `${word}${wait}`))
            missed.push(`${word}${wait} by ${tool}`)
        }
      client.close()
      expect(missed).toEqual([])
    }
  } finally {
    await server.crash()
    rmSync(state, { recursive: true, force: true })
  }
})
