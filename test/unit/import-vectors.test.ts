import { expect, it } from 'vitest'
import type { ImportedEntry } from '../../src/ports/import-store'
import { withVectors } from '../../src/services/transfer/import-volume'

const entry = (id: number, captured: 0 | 1) =>
  ({
    id,
    entry: { text: 'a text', columns: { captured, source: 'agent', title: null } },
    vectors: null,
    queueVectors: false,
  }) as unknown as ImportedEntry
const dependencies = (generate: unknown) =>
  ({ imports: {}, generate, model: { key: 'm', dimensions: 2 } }) as unknown as Parameters<typeof withVectors>[0]

it('[CAPTURE-66] makes no vectors for imported entries that are captured, at once or later', async () => {
  const queued = await withVectors(dependencies(null), [entry(1, 1), entry(2, 0)])
  expect(queued.map(({ queueVectors }) => queueVectors)).toEqual([false, true])
  const texts: unknown[] = []
  const generate = async (given: readonly unknown[]) => {
    texts.push(...given)
    return given.map(() => ({ vectors: [] }))
  }
  const made = await withVectors(dependencies(generate), [entry(1, 1), entry(2, 0)])
  expect([texts.length, made.map(({ vectors }) => vectors)]).toEqual([1, [null, []]])
})
