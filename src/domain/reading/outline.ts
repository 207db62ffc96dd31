import { nameSimilarity } from '../name-similarity'
import type { Steps } from '../scheduler'
import { firstCodePoints, WHITE_SPACE_RUN } from '../text'
import { type Heading, readHeadings } from './headings'
import { lineCutter } from './lines'

/** Maximum length in code points of a part of a text without headings (threads contract §13). */
const MAX_PART = 2000
/** Maximum length of a part's title, made of its first words. */
const MAX_TITLE = 60

/**
 * The end of the part that starts at `start`: after the last blank line that fits, else the last line end, else at the
 * limit.
 */
function partEnd(text: string, start: number, cut: ReturnType<typeof lineCutter>): number {
  const limit = start + firstCodePoints(text.slice(start, start + 2 * MAX_PART), MAX_PART).length
  if (limit >= text.length) return text.length
  let lineEnd = 0
  let blankEnd = 0
  for (let line = cut(start); line.next <= limit; line = cut(line.next)) {
    lineEnd = line.next
    if (text.slice(line.start, line.end).trim() === '') blankEnd = line.next
  }
  return blankEnd || lineEnd || limit
}

/** The first words of a text, as many as fit. */
function firstWords(text: string): string {
  const words = text
    .slice(0, 8 * MAX_TITLE)
    .replace(WHITE_SPACE_RUN, ' ')
    .trim()
  const start = firstCodePoints(words, MAX_TITLE)
  if (start.length === words.length) return words
  const space = start.lastIndexOf(' ')
  return `${space > 0 && words[start.length] !== ' ' ? start.slice(0, space) : start.trimEnd()}…`
}

/** Splits a text without headings into consecutive parts. */
export function* readParts(text: string): Steps<Heading[]> {
  const parts: Heading[] = []
  const cut = lineCutter(text)
  for (let start = 0; start < text.length; ) {
    const end = partEnd(text, start, cut)
    parts.push({ level: 1, title: firstWords(text.slice(start, end)), start })
    yield end - start
    start = end
  }
  return parts
}

/** A section of a text with a heading, or a `part-N` of a text without headings. Positions are code points. */
export interface OutlineNode {
  readonly id: string
  /** Level of the heading, 1–6; 0 for the root. */
  readonly level: number
  /** Position among its siblings, from 1. */
  readonly ordinal: number
  readonly title: string
  readonly start: number
  readonly end: number
  readonly children: readonly OutlineNode[]
}

type Growing = { -readonly [Key in keyof OutlineNode]: OutlineNode[Key] } & {
  children: Growing[]
  /** Number of nodes up to the root. */
  depth: number
  /** Names used by children, each with the next number to try for an equal name. */
  taken: Map<string, number>
}

const ROOT = 'root'

/** A title in lower case, with `-` for everything except letters and digits of any script, none at the ends. */
export const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .replace(/^-|-$/g, '') || 'section'

/** The slug, or its first variant that no sibling uses. */
function freeName(name: string, taken: Map<string, number>): string {
  let free = name
  let number = taken.get(name) ?? 2
  for (; taken.has(free); number++) free = `${name}-${number}`
  taken.set(name, number)
  if (free !== name) taken.set(free, 2)
  return free
}

/** Converts UTF-16 offsets to code points. Offsets must increase from call to call. */
function codePointCounter(text: string): (place: number) => number {
  let at = 0
  let count = 0
  return (place) => {
    for (; at < place; at++) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count++
    return count
  }
}

function grow(
  text: string,
  sections: readonly Heading[],
  nameOf: (section: Heading, i: number) => string,
): OutlineNode {
  const place = codePointCounter(text)
  const node = (parts: Partial<Growing>): Growing => ({
    ...{ id: ROOT, level: 0, ordinal: 1, title: '', start: 0, end: 0, children: [], depth: 0, taken: new Map() },
    ...parts,
  })
  const root = node({ taken: new Map([[ROOT, 2]]) })
  const open = [root]
  for (const [i, section] of sections.entries()) {
    const start = place(section.start)
    while ((open.at(-1) as Growing).level >= section.level) (open.pop() as Growing).end = start
    const parent = open.at(-1) as Growing
    const name = freeName(nameOf(section, i), parent.taken)
    const child = node({
      id: parent === root ? name : `${parent.id}/${name}`,
      level: section.level,
      ordinal: parent.children.length + 1,
      title: section.title,
      start,
      depth: parent.depth + 1,
    })
    parent.children.push(child)
    open.push(child)
  }
  const end = place(text.length)
  for (const unfinished of open) unfinished.end = end
  return root
}

/** The complete outline of a text. */
export function* readOutline(text: string): Steps<OutlineNode> {
  const headings = yield* readHeadings(text)
  if (headings.length > 0) return grow(text, headings, ({ title }) => slug(title))
  const parts = yield* readParts(text)
  return grow(text, parts, (_, i) => `part-${i + 1}`)
}

/** The descendants of a node, in text order. */
export function* nodesBelow(node: OutlineNode): Generator<OutlineNode> {
  for (const child of node.children) {
    yield child
    yield* nodesBelow(child)
  }
}

/** Maximum number of nodes in an outline (threads contract §13). */
const MAX_NODES = 2000

/** The number of nodes at each depth, from 1. */
function countDepths(root: OutlineNode): number[] {
  const counts: number[] = []
  const visit = (node: OutlineNode, depth: number) => {
    for (const child of node.children) {
      counts[depth] = (counts[depth] ?? 0) + 1
      visit(child, depth + 1)
    }
  }
  visit(root, 0)
  return counts
}

export interface ShownOutline {
  readonly root: OutlineNode
  readonly nodes: number
  /** Whether nodes were left out. */
  readonly truncated: boolean
}

/** Shortens an outline: complete levels are left out, deepest first; of the top level, the first 2,000 nodes remain. */
export function shownOutline(root: OutlineNode, maxDepth: number): ShownOutline {
  const counts = countDepths(root)
  let depth = Math.min(maxDepth, counts.length)
  const within = (upTo: number) => counts.slice(0, upTo).reduce((sum, count) => sum + count, 0)
  while (depth > 1 && within(depth) > MAX_NODES) depth--
  const pruned = (node: OutlineNode, left: number): OutlineNode => ({
    ...node,
    children: left === 0 ? [] : node.children.slice(0, MAX_NODES).map((child) => pruned(child, left - 1)),
  })
  const nodes = Math.min(within(depth), MAX_NODES)
  return { root: pruned(root, depth), nodes, truncated: nodes < within(counts.length) }
}

/** Which node of an outline an id means, and which it may have meant. */

/** Maximum number of nodes that an unknown ID is compared with, to suggest a similar one. */
const MAX_COMPARED = 5000

/** The node with an ID, or the ID of the most similar node. */
export function findNode(root: OutlineNode, id: string): { node: OutlineNode } | { nearest: string } {
  if (id === root.id) return { node: root }
  let nearest = { id: root.id, likeness: 0 }
  let compared = 0
  // IDs are in lower case.
  const asked = id.slice(0, 200).toLowerCase()
  for (const node of nodesBelow(root)) {
    if (node.id === id) return { node }
    if (compared++ >= MAX_COMPARED) continue
    const near = nameSimilarity(node.id.slice(0, 200), asked)
    if (near > nearest.likeness) nearest = { id: node.id, likeness: near }
  }
  return { nearest: nearest.id }
}
