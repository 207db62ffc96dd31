import { expect, it } from 'vitest'
import type { Embedder } from '../../src/ports/models'

/** Behavior of every Embedder. */
export interface EmbedderUnderTest {
  readonly embedder: Embedder
  readonly provider: string
  readonly model: string
  readonly dimensions: number
  /** Requests that were made for it so far, when it makes any. */
  readonly requests?: () => number
}

const length = (vector: Float32Array): number => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))

/** @param make called once a test */
export function describeEmbedder(make: () => EmbedderUnderTest): void {
  it('names its provider, its model and the length of its vectors', () => {
    const { embedder, provider, model, dimensions } = make()
    expect([embedder.provider, embedder.model, embedder.dimensions]).toEqual([provider, model, dimensions])
  })

  it('gives each text a vector of the configured size and of length 1', async () => {
    const { embedder, dimensions } = make()
    const vectors = await embedder.embed(['one', 'two words', 'Bäume und 樹木'], 'document')
    expect(vectors.map((vector) => vector.length)).toEqual([dimensions, dimensions, dimensions])
    for (const vector of vectors) expect(length(vector)).toBeCloseTo(1, 5)
  })

  it('gives a text the same vector alone, in a batch and in a second call', async () => {
    const { embedder } = make()
    const [alone] = await embedder.embed(['the second text'], 'document')
    const [, among] = await embedder.embed(['the first text', 'the second text', 'the third text'], 'document')
    expect(among).toEqual(alone)
  })

  it('keeps the order over more texts than fit into one request', async () => {
    const { embedder } = make()
    const texts = Array.from({ length: 130 }, (_, i) => `text number ${i} of many`)
    const together = await embedder.embed(texts, 'document')
    expect(together).toHaveLength(130)
    for (const i of [0, 15, 16, 31, 32, 49, 50, 99, 129])
      expect(together[i]).toEqual((await embedder.embed([texts[i] as string], 'document'))[0])
  })

  it('gives zeros to a blank text and does not let it shift the others', async () => {
    const { embedder, dimensions } = make()
    const [first, blank, last] = await embedder.embed(['first', ' \n\t ', 'last'], 'document')
    expect(blank).toEqual(new Float32Array(dimensions))
    expect([first, last]).toEqual(await embedder.embed(['first', 'last'], 'document'))
  })

  it('makes no request when there is nothing to embed', async () => {
    const { embedder, requests = () => 0 } = make()
    expect(await embedder.embed([], 'document')).toEqual([])
    await embedder.embed([' '], 'query')
    expect(requests()).toBe(0)
  })

  it('embeds queries as well', async () => {
    const { embedder, dimensions } = make()
    const [vector] = await embedder.embed(['what was decided?'], 'query')
    expect(vector).toHaveLength(dimensions)
    expect(length(vector as Float32Array)).toBeCloseTo(1, 5)
  })
}
