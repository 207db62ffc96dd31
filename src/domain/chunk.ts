/** Cuts long texts into overlapping chunks, each embedded by itself (threads contract §7). Sizes are code points. */
export interface ChunkOptions {
  readonly size: number
  /** Code points that a chunk repeats of the one before it. */
  readonly overlap: number
}

export interface Chunk {
  readonly text: string
  /** Where it begins in the text, and how long it is, in code points. */
  readonly start: number
  readonly length: number
}

/** Places to cut, best first: after a blank line, a line, a sentence, a word. */
const BOUNDARIES = [/\n[^\S\n]*\n/g, /\n/g, /\. /g, / /g]

/** A cut earlier than this share of the chunk would leave it too short. */
const EARLIEST = 0.5

/** The end of the chunk that begins at `start`: the last of the best boundaries that lies in its second half. */
function cutAt(chars: readonly string[], start: number, size: number): number {
  const end = start + size
  if (end >= chars.length) return chars.length
  const earliest = start + Math.ceil(size * EARLIEST)
  const tail = chars.slice(earliest, end).join('')
  for (const boundary of BOUNDARIES) {
    const last = [...tail.matchAll(boundary)].at(-1)
    if (last) return earliest + [...tail.slice(0, last.index + last[0].length)].length
  }
  return end
}

/** @param options null switches chunking off: the whole text is one chunk */
export function chunkText(text: string, options: ChunkOptions | null): Chunk[] {
  const chars = [...text]
  if (options === null || chars.length <= options.size) return [{ text, start: 0, length: chars.length }]
  const chunks: Chunk[] = []
  for (let start = 0; ; ) {
    const end = cutAt(chars, start, options.size)
    chunks.push({ text: chars.slice(start, end).join(''), start, length: end - start })
    if (end >= chars.length) return chunks
    start = Math.max(start + 1, end - options.overlap)
  }
}
