import { expect, it } from 'vitest'
import { DAY_MS } from '../../src/domain/time'
import { writeVolumes } from '../../src/domain/transfer/volume-writer'
import type { BackupStore } from '../../src/ports/backup-store'
import { createBackups } from '../../src/services/transfer/backups'

function bucket() {
  const objects = new Map<string, Uint8Array>()
  const store: BackupStore = {
    put: async (key, bytes) => void objects.set(key, bytes),
    has: async (key) => objects.has(key),
    get: async (key) => objects.get(key) ?? null,
    open: async () => null,
    async list(prefix) {
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort()
      return { objects: keys.map((key) => ({ key, size: 1, uploadedAt: 0, notes: {} })), cursor: null }
    },
    folders: async () => [],
    delete: async (keys) => keys.forEach((key) => void objects.delete(key)),
  }
  return { objects, store }
}

/** The daily backup of organizations without entries. @param broken those whose export fails */
function daily(orgs: readonly string[], broken: Set<string>) {
  const { objects, store } = bucket()
  const clock = { ms: Date.UTC(2026, 10, 1, 12) }
  type Exports = Parameters<typeof createBackups>[0]['exports']
  const exports: Exports = {
    begin: async ({ org }) => {
      if (broken.has(org)) throw new Error(`the export of ${org} fails`)
      return { store: org } as Awaited<ReturnType<Exports['begin']>>
    },
    resume: async () => {
      throw new Error('one volume holds each organization')
    },
    async *parts({ org }) {
      const all = { org, store: org, at: new Date(clock.ms).toISOString(), cursor: 'c' }
      for await (const { bytes, content, volume } of writeVolumes(all, [], {
        stable: () => null,
        isMissing: () => false,
      })) {
        yield { bytes }
        yield { volume, next: null, content, entries: 0 }
      }
    },
  }
  const backups = createBackups({
    ...{ store, exports, keep: 14, images: { get: async () => null }, orgs: async () => orgs },
    imports: { imagesInUse: async () => ({ seen: new Set<string>(), hidden: new Set<string>() }) },
    places: () => Promise.reject(new Error('no step is sealed')),
    clock: { now: () => clock.ms },
  })
  let cursor: string | null = null
  return {
    clock,
    /** Runs steps as the schedule does. @returns the error that ended the run, or null when it is complete */
    async run(): Promise<string | null> {
      for (;;) {
        const { next, problem } = await backups.round(cursor)
        cursor = next
        if (problem !== undefined) return problem
        if (cursor === null) return null
      }
    },
    complete: () => [...objects.keys()].filter((key) => key.endsWith('complete.json')).sort(),
  }
}

it('[OPERATE-196] backs up the organizations after one that fails, and tries that one again', async () => {
  const broken = new Set(['b', 'c'])
  const { run, complete } = daily(['d', 'a', 'b', 'c'], broken)
  expect(await run()).toBe('the export of b fails')
  expect(complete()).toEqual(['a/2026-11-01/complete.json', 'd/2026-11-01/complete.json'])
  expect(await run()).toBe('the export of c fails')
  broken.clear()
  expect(await run()).toBeNull()
  expect(complete().map((key) => key[0])).toEqual(['a', 'b', 'c', 'd'])
})

it('[OPERATE-196] tries every organization that failed again, although another one still fails', async () => {
  const broken = new Set(['a', 'b', 'c'])
  const { run, complete } = daily(['a', 'b', 'c', 'd'], broken)
  expect([await run(), await run(), await run()]).toEqual(['a', 'b', 'c'].map((org) => `the export of ${org} fails`))
  broken.delete('c')
  expect([await run(), await run()]).toEqual(['a', 'b'].map((org) => `the export of ${org} fails`))
  expect(await run()).toBe('the export of a fails')
  expect(complete().map((key) => key[0])).toEqual(['c', 'd'])
})

it('[OPERATE-196] begins the next day with all organizations, although one still fails', async () => {
  const { run, complete, clock } = daily(['a', 'b', 'c'], new Set(['b']))
  expect(await run()).toBe('the export of b fails')
  clock.ms += DAY_MS
  expect(await run()).toBe('the export of b fails')
  expect(complete()).toEqual([
    ...['a/2026-11-01/complete.json', 'a/2026-11-02/complete.json'],
    ...['c/2026-11-01/complete.json', 'c/2026-11-02/complete.json'],
  ])
})
