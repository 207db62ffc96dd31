import { expect, it } from 'vitest'
import { chunkText, fineEnough } from '../../src/domain/meaning/chunk'

/** Chunk sizes for models that do not read, or do not distinguish, as much as CHUNK_SIZE. */
const USUAL = { size: 1500, overlap: 150 }
const textOf = (length: number): string => 'word '.repeat(length / 5)
const lengthsFor = (length: number, embedder: Parameters<typeof fineEnough>[1]): number[] =>
  chunkText(textOf(length), fineEnough(USUAL, embedder)).map((chunk) => chunk.length)

it('cuts a text that is longer than CHUNK_SIZE into pieces that the model reads completely, and no shorter one', () => {
  const model = { reads: 1000 }
  expect(lengthsFor(1500, model)).toEqual([1500])
  const pieces = chunkText(textOf(5000), fineEnough(USUAL, model))
  expect(Math.max(...pieces.map(({ length }) => length))).toBe(1000)
  // They overlap, so that they cover all of the text.
  for (const [i, { start }] of pieces.entries())
    if (i > 0) expect(start).toBe((pieces[i - 1]?.start ?? 0) + (pieces[i - 1]?.length ?? 0) - 150)
  expect((pieces.at(-1)?.start ?? 0) + (pieces.at(-1)?.length ?? 0)).toBe(5000)
})

it('cuts by CHUNK_SIZE for a model that reads more, and finer where one vector would not represent the sentences', () => {
  expect(Math.max(...lengthsFor(5000, { reads: 2000 }))).toBe(1500)
  expect(Math.max(...lengthsFor(5000, {}))).toBe(1500)
  expect(lengthsFor(1500, { finest: 1000 })).toHaveLength(2)
})

it('cuts nothing where chunking is switched off', () => {
  expect(chunkText(textOf(5000), fineEnough(null, { reads: 1000 }))).toHaveLength(1)
})
