import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createEmbeddingThread } from '../../../scripts/serve/model/embedding-thread.mjs'
import { modelInFolder } from '../../../src/cli/models/folder.mjs'
import { ROOT } from '../../support/build'

/** Real models, whose vectors were made by the libraries of their authors (`check.json`), by both runtimes. */
const MODELS = process.env.EVAL_MODELS ?? join(ROOT, '..', 'shared', 'eval', 'models')

interface Check {
  readonly kind: 'query' | 'passage'
  readonly text: string
  readonly vector: readonly number[]
}

let thread: ReturnType<typeof createEmbeddingThread> | undefined
afterEach(() => thread?.close())

describe.each(['all-minilm-l6-v2', 'multilingual-e5-small'])('%s', (name) => {
  const folder = join(MODELS, name)
  // The int8 kernels of the runtimes round differently.
  it.skipIf(!existsSync(folder)).each([
    ['native', 0.9999],
    ['wasm', 0.99],
  ] as const)('has the vectors of its authors with the %s runtime', async (runtime, least) => {
    thread = createEmbeddingThread(modelInFolder(folder), { runtime })
    const checks: Check[] = JSON.parse(readFileSync(join(folder, 'check.json'), 'utf8'))
    for (const { kind, text, vector } of checks) {
      const made = await thread.embed(text, kind)
      const cosine = made.reduce((sum, value, i) => sum + value * (vector[i] as number), 0)
      expect([text, cosine]).toEqual([text, expect.toSatisfy((value: number) => value >= least)])
    }
  })
})
