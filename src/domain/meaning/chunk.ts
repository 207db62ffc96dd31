import type { Layer } from '../entry/entry'
import { homesOf, type Scope } from '../identity/scope'
import type { Filter } from '../search/filter'
import { codePointLength, offsetAfter, trim } from '../text'

/** Cuts long texts into overlapping chunks, each embedded by itself (threads contract §7). Sizes are code points. */
export interface ChunkOptions {
  readonly size: number
  /** Code points that a chunk repeats of the one before it. */
  readonly overlap: number
  /** Texts up to this length are one chunk; up to `size` where it is absent. */
  readonly uncut?: number
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

/** Behind the last of the best boundaries in a stretch, as an offset in it; null when it has none. */
function lastBoundary(stretch: string): number | null {
  for (const boundary of BOUNDARIES) {
    let behind: number | null = null
    for (const { 0: found, index } of stretch.matchAll(boundary)) behind = index + found.length
    if (behind !== null) return behind
  }
  return null
}

/** The end of the chunk that begins at an offset: the last of the best boundaries that lies in its second half. */
function cutAt(text: string, from: number, size: number): number {
  const earliest = offsetAfter(text, from, Math.ceil(size * EARLIEST))
  const end = offsetAfter(text, earliest, size - Math.ceil(size * EARLIEST))
  if (end >= text.length) return end
  const behind = lastBoundary(text.slice(earliest, end))
  return behind === null ? end : earliest + behind
}

/**
 * How texts are cut for an embedder.
 *
 * @param finest it tells sentences apart only in pieces of this size. These are cut between sentences where they can be, and repeat
 *   nothing: there it only makes more of them
 * @param reads characters of a piece that it reads. A text of `size` is one piece all the same, since its prefix shows its
 *   subject; a longer one is cut so that all of it is read
 */
export function fineEnough(
  options: ChunkOptions | null,
  { finest, reads }: { readonly finest?: number; readonly reads?: number },
): ChunkOptions | null {
  if (options === null) return null
  const { size, overlap } = options
  if (finest !== undefined && size > finest) return { size: finest, overlap: 0 }
  if (reads !== undefined && size > reads) return { size: reads, overlap: Math.min(overlap, reads - 1), uncut: size }
  return options
}

/** @param options null switches chunking off: the whole text is one chunk */
export function chunkText(text: string, options: ChunkOptions | null): Chunk[] {
  const whole = codePointLength(text)
  if (options === null || whole <= (options.uncut ?? options.size)) return [{ text, start: 0, length: whole }]
  const chunks: Chunk[] = []
  // Offsets are UTF-16 units, `start` counts code points: both are taken along, so that nothing is counted twice.
  for (let from = 0, start = 0; ; ) {
    const end = cutAt(text, from, options.size)
    const chunk = text.slice(from, end)
    const length = codePointLength(chunk)
    chunks.push({ text: chunk, start, length })
    if (end >= text.length) return chunks
    const step = Math.max(1, length - options.overlap)
    from = offsetAfter(text, from, step)
    start += step
  }
}

/** Code points of a title that a vector holds. */
const TITLE_LENGTH = 200

/** The text that is embedded for a chunk: the title of its entry, then the chunk. */
export function underTitle(title: string | null, chunk: string): string {
  const heading = trim(title ?? '')
  return heading === '' ? chunk : `${heading.slice(0, offsetAfter(heading, 0, TITLE_LENGTH))}\n${chunk}`
}

/** A part of an org: an index that knows where entries stand need not look at what stands elsewhere. Null confines nothing. */
export interface VectorRegion {
  readonly layers: readonly Layer[] | null
  /** Project of layers 1 and 2. */
  readonly projectScope: string | null
  /** Project of every layer. */
  readonly project: string | null
  /** All keys of the project that is named, where others were merged into it. */
  readonly homes?: readonly string[]
  /** Those of the scope. */
  readonly projects: readonly string[] | null
  readonly owner: string | null
}

/** Whether a filter asks for anything at all. */
export const isNarrow = (filter: Filter): boolean =>
  !(filter.op === 'and' && filter.of.every((part) => !isNarrow(part)))

/** The part of an org that scope and filter name, null for all of it; and whether the filter asks for nothing beside. */
export function regionOf(
  scope: Scope,
  filter: Filter,
): { readonly region: VectorRegion | null; readonly isWhole: boolean } {
  const { projects, owner } = scope
  let layers: VectorRegion['layers'] = null
  let projectScope: string | null = null
  let project: string | null = null
  let isWhole = true
  for (const part of filter.op === 'and' ? filter.of : [filter])
    if (part.op === 'layer' && layers === null) layers = part.anyOf
    else if (part.op === 'projectScope' && projectScope === null) projectScope = part.is
    else if (part.op === 'project' && project === null) project = part.is
    else if (isNarrow(part)) isWhole = false
  const everywhere = layers === null && projectScope === null && project === null && projects === null
  const named = project ?? projectScope
  const homes = named === null ? [] : homesOf(scope, named)
  const region = { layers, projectScope, project, projects, owner, ...(homes.length > 1 ? { homes } : {}) }
  return { region: everywhere ? null : region, isWhole }
}
