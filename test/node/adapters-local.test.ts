import { beforeAll, describe, expect, it } from 'vitest'
import { createLocalEmbedder } from '../../src/adapters/local/embedder'
import { quantize, toBase64 } from '../../src/domain/meaning/vector'
import { createAnalyzer } from '../../src/domain/search/analysis'
import type { Embedder } from '../../src/ports/models'
import { describeEmbedder } from '../contracts/embedder'
import '../support/languages'

/** Hashed features: what they find, what they do not, and that they stay the same. */
const english = createAnalyzer('english')
let embedder: Embedder

beforeAll(() => {
  embedder = createLocalEmbedder(english)
})

const similarity = async (a: string, b: string): Promise<number> => {
  const [x, y] = (await embedder.embed([a, b], 'document')) as [Float32Array, Float32Array]
  return x.reduce((sum, value, i) => sum + value * (y[i] as number), 0)
}

describe('the local embedder', () => {
  describeEmbedder(() => ({
    embedder: createLocalEmbedder(english, 256),
    provider: 'local',
    model: 'hashed-features-v1',
    dimensions: 256,
  }))

  it('has 512 dimensions by default', async () => {
    expect(embedder.dimensions).toBe(512)
    expect((await embedder.embed(['text'], 'query'))[0]).toHaveLength(512)
  })

  it('gives zeros to a text without words', async () => {
    expect((await embedder.embed(['?! — …'], 'document'))[0]).toEqual(new Float32Array(512))
  })

  it.each([
    ['other forms of the words', 'we decided on caching queries', 'deciding how a query is cached'],
    ['typing errors', 'postgres connection pooling', 'postgers conection poling'],
    ['parts of identifiers', 'write a boolean to the stream', 'stream.writeBoolean(value)'],
    ['parts of compounds', 'Datenbankverbindung', 'Verbindung zur Datenbank'],
    ['the same words in Chinese', '数据库连接失败', '无法连接数据库'],
    ['case and accents', 'Crème BRÛLÉE', 'creme brulee'],
  ])('finds what shares %s', async (_name, a, b) => {
    const unrelated = await similarity(a, 'the weather in March was mild and rainy')
    expect(await similarity(a, b)).toBeGreaterThan(unrelated + 0.15)
  })

  it('reads the parts of an identifier as words', async () => {
    const texts = ['readHTTPResponse write_boolean md5Sum', 'read HTTP Response write boolean md5 Sum']
    const [joined, apart] = await embedder.embed(texts, 'document')
    expect(joined).toEqual(apart)
  })

  it('weighs rare words more than common ones and those more than stop words', async () => {
    const query = 'the way kubernetes'
    const rare = await similarity(query, 'kubernetes nightly jobs failed')
    const common = await similarity(query, 'way nightly jobs failed')
    const stop = await similarity(query, 'the nightly jobs failed')
    expect(rare).toBeGreaterThan(common)
    expect(common).toBeGreaterThan(stop)
  })

  it('gives a vector even to a text of stop words alone', async () => {
    expect(await similarity('to be or not to be', 'to be or not to be')).toBeCloseTo(1, 5)
  })

  it('makes the vectors that this version of the model always made', async () => {
    // A change here makes stored vectors worthless: raise the version in the model's name.
    const small = createLocalEmbedder(english, 32)
    const vectors = await small.embed(['The parser fails on an empty file; see src/parse.ts, line 42.'], 'document')
    expect(vectors.map((vector) => toBase64(quantize(vector)))).toEqual([
      '0.00357567701:AAAFAPHiUgCqogA43fDPZw4iAB4JL0sT2wAAW38AAPg=',
    ])
  })

  it('lets words that hold a sentence of another language together weigh little in a query, and as before in what is stored', async () => {
    const near = async (query: string, text: string): Promise<number> => {
      const [asked] = (await embedder.embed([query], 'query')) as [Float32Array]
      const [stored] = (await embedder.embed([text], 'document')) as [Float32Array]
      return asked.reduce((sum, value, i) => sum + value * (stored[i] as number), 0)
    }
    const query = 'Wartung der Bordküche'
    const other = 'Der Anleger im Hafen wird von der Stadt gereinigt.'
    expect(await near(query, other)).toBeLessThan((await similarity(query, other)) / 2)
    expect(await near(query, 'Die Wartung der Küche an Bord')).toBeGreaterThan(0.3)
    const sentence = 'the parser of the war on an empty file'
    expect(await embedder.embed([sentence], 'query')).toEqual(await embedder.embed([sentence], 'document'))
  })

  it('goes by another name when words are cut in another language', () => {
    expect(createLocalEmbedder(createAnalyzer('german')).model).toBe('hashed-features-v1-german')
    // Its vectors weigh stop words by a list that English had from the beginning.
    const revisionOf = (language: string) => createLocalEmbedder(createAnalyzer(language)).revision
    expect(['english', 'simple', 'tamil', 'german', 'russian'].map(revisionOf)).toEqual([
      ...['2', '2', '2', '2.w1', '2.w1'],
    ])
  })
})
