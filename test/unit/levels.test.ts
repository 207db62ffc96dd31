import { describe, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import { createAnalyzer } from '../../src/domain/search/analysis'
import type { Embedder } from '../../src/ports/models'
import type { Settings } from '../../src/ports/settings'
import { createLevels, knownLevels, levelsOf, PAIRS } from '../../src/services/searching/memories/levels'

/** Meaning of a model's cosines (fabric contract §4). */
const given = (over: Partial<Embedder> = {}): Embedder & { calls: number } => {
  const local = createLocalEmbedder(createAnalyzer('english'))
  const made = {
    ...{ provider: 'openai', model: 'unknown', dimensions: local.dimensions, calls: 0 },
    embed(texts: readonly string[], purpose: 'document' | 'query') {
      made.calls++
      return local.embed(texts, purpose)
    },
    ...over,
  }
  return made
}

const kept = (): Settings & { readonly values: Map<string, string> } => {
  const values = new Map<string, string>()
  return {
    values,
    read: async (name) => values.get(name) ?? null,
    write: async (name, value) => void values.set(name, value),
  }
}

describe('levels of a model', () => {
  it('[FABRIC-59] measures the cosine levels of an unknown model once, on pairs that ship, where local gets its known levels, and stores them', async () => {
    expect(new Set(PAIRS.flat()).size).toBe(64)
    const settings = kept()
    const embedder = given()
    const levels = await createLevels({ embedder, settings, given: null })()
    const local = knownLevels({ provider: 'local', model: 'local' })
    expect(local).toEqual({ nothing: 0.02, answer: 0.37, doubt: 0.45 })
    expect(Math.abs(levels.nothing - 0.02)).toBeLessThan(0.05)
    expect(Math.abs(levels.answer - 0.37)).toBeLessThan(0.05)
    expect(embedder.calls).toBe(2)
    // Another isolate reads the stored value.
    expect(await createLevels({ embedder, settings, given: null })()).toEqual(levels)
    expect(embedder.calls).toBe(2)
  })

  it('come from EMBEDDING_LEVELS, or from the known model under the name of any provider, without a measurement', async () => {
    const settings = kept()
    const embedder = given()
    const told = { nothing: 0.7, answer: 0.85 }
    expect(await createLevels({ embedder, settings, given: told })()).toEqual(told)
    for (const model of ['all-MiniLM-L6-v2', 'sentence-transformers/all-MiniLM-L6-v2', 'all-minilm'])
      expect(await createLevels({ embedder: given({ model }), settings, given: null })()).toEqual({
        ...{ nothing: 0, answer: 0.6, doubt: 0.63 },
      })
    for (const model of ['multilingual-e5-small', 'intfloat/multilingual-e5-small'])
      expect(await createLevels({ embedder: given({ model }), settings, given: null })()).toEqual({
        ...{ nothing: 0.79, answer: 0.89, doubt: 1.1 },
      })
    expect([embedder.calls, settings.values.size]).toEqual([0, 0])
  })

  it('are the mean of unrelated pairs, and the median of related pairs', () => {
    const levels = levelsOf([
      [0.9, 0.1, 0.2],
      [0.3, 0.5, 0.1],
      [0.1, 0.1, 0.7],
    ])
    expect(levels.answer).toBe(0.7)
    expect(levels.nothing).toBeCloseTo(0.15)
  })
})
