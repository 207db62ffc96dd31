import type { Layer } from '../entry/entry'
import { homesOf, type Scope } from '../identity/scope'
import type { Filter } from '../search/filter'
import { codePointLength, offsetAfter, trim } from '../text'

/**
 * Splits long texts into overlapping chunks, each with its own vector (threads contract §7). Sizes are in code points.
 */
export interface ChunkOptions {
  readonly size: number
  /** Code points that a chunk repeats from the one before it. */
  readonly overlap: number
  /** Texts up to this length are one chunk. Default: `size`. */
  readonly uncut?: number
}

export interface Chunk {
  readonly text: string
  /** Start and length of the chunk in the text, in code points. */
  readonly start: number
  readonly length: number
}

/** Preferred places to split: after a blank line, a line, a sentence, a word. */
const BOUNDARIES = [/\n[^\S\n]*\n/g, /\n/g, /\. /g, / /g]

/** Minimum fraction of a chunk's size at which it can end. */
const EARLIEST = 0.5

/** The offset after the last boundary of the best kind; null when there is none. */
function lastBoundary(stretch: string): number | null {
  for (const boundary of BOUNDARIES) {
    let behind: number | null = null
    for (const { 0: found, index } of stretch.matchAll(boundary)) behind = index + found.length
    if (behind !== null) return behind
  }
  return null
}

/** The end of the chunk that starts at `from`: after the last boundary of the best kind in its second half. */
function cutAt(text: string, from: number, size: number): number {
  const earliest = offsetAfter(text, from, Math.ceil(size * EARLIEST))
  const end = offsetAfter(text, earliest, size - Math.ceil(size * EARLIEST))
  if (end >= text.length) return end
  const behind = lastBoundary(text.slice(earliest, end))
  return behind === null ? end : earliest + behind
}

/**
 * The chunk options for an embedder.
 * @param finest size from which the model distinguishes single sentences; chunks of this size do not overlap
 * @param reads characters that the model reads of a text. A text up to `size` remains one chunk, because its start
 * shows its subject; a longer one is split so that all of it is read
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

/** Splits a text into chunks. @param options null disables splitting */
export function chunkText(text: string, options: ChunkOptions | null): Chunk[] {
  const whole = codePointLength(text)
  if (options === null || whole <= (options.uncut ?? options.size)) return [{ text, start: 0, length: whole }]
  const chunks: Chunk[] = []
  // Offsets are UTF-16 units and `start` counts code points; both advance together to avoid counting again.
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

/** Maximum code points of a title in an embedded text. */
const TITLE_LENGTH = 200

/** The text that is embedded for a chunk: the entry's title, then the chunk. */
export function underTitle(title: string | null, chunk: string): string {
  const heading = trim(title ?? '')
  return heading === '' ? chunk : `${heading.slice(0, offsetAfter(heading, 0, TITLE_LENGTH))}\n${chunk}`
}

/** The part of an organization that a vector search can be limited to. Null members do not limit it. */
export interface VectorRegion {
  readonly layers: readonly Layer[] | null
  /** Project of entries in layers 1 and 2. */
  readonly projectScope: string | null
  /** Project of entries in any layer. */
  readonly project: string | null
  /** All storage keys of the named project, after a merge. */
  readonly homes?: readonly string[]
  /** Projects of the scope. */
  readonly projects: readonly string[] | null
  readonly owner: string | null
}

/** Whether a filter excludes anything. */
export const isNarrow = (filter: Filter): boolean =>
  !(filter.op === 'and' && filter.of.every((part) => !isNarrow(part)))

/**
 * The part of an organization that scope and filter select, null for all of it; and whether the part is the complete
 * filter.
 */
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
