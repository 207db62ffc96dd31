import { nameSimilarity } from '../name-similarity'
import type { Steps } from '../scheduler'
import { firstCodePoints, WHITE_SPACE_RUN } from '../text'
import { type Heading, readHeadings } from './headings'
import { lineCutter } from './lines'

/** A text without headings is cut into parts of at most so many code points (threads contract §13). */
const MAX_PART = 2000
/** Of the words that name a part. */
const MAX_TITLE = 60

/** Where a part that starts here ends: behind the last blank line that fits, else the last line end, else at the limit. */
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

/** The first words, as many as fit. */
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

/** The parts of a text without headings, which cover it without gap. */
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

/** A part of a text that a heading names, or a `part-N` of a text without headings. Places are code points. */
export interface OutlineNode {
  readonly id: string
  /** 1–6, of the heading; 0 of the root. */
  readonly level: number
  /** Its place among its siblings, from 1. */
  readonly ordinal: number
  readonly title: string
  readonly start: number
  readonly end: number
  readonly children: readonly OutlineNode[]
}

type Growing = { -readonly [Key in keyof OutlineNode]: OutlineNode[Key] } & {
  children: Growing[]
  /** How many nodes up to the root. */
  depth: number
  /** Names that children were given, and with which number the next equal one tries its luck. */
  taken: Map<string, number>
}

const ROOT = 'root'

/** Letters and digits of any script in lower case, the rest one `-`, none at the ends. */
export const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .replace(/^-|-$/g, '') || 'section'

/** The slug, or its first variant that no sibling has been given. */
function freeName(name: string, taken: Map<string, number>): string {
  let free = name
  let number = taken.get(name) ?? 2
  for (; taken.has(free); number++) free = `${name}-${number}`
  taken.set(name, number)
  if (free !== name) taken.set(free, 2)
  return free
}

/** Turns places in UTF-16 units into code points, asked in rising order. */
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

/** The whole outline of a text. */
export function* readOutline(text: string): Steps<OutlineNode> {
  const headings = yield* readHeadings(text)
  if (headings.length > 0) return grow(text, headings, ({ title }) => slug(title))
  const parts = yield* readParts(text)
  return grow(text, parts, (_, i) => `part-${i + 1}`)
}

/** The nodes below a node, in the order of the text. */
export function* nodesBelow(node: OutlineNode): Generator<OutlineNode> {
  for (const child of node.children) {
    yield child
    yield* nodesBelow(child)
  }
}

/** An outline shows at most so many nodes (threads contract §13). */
const MAX_NODES = 2000

/** Counts the nodes of each depth, from 1. */
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
  /** Nodes were left out. */
  readonly truncated: boolean
}

/** What is shown of an outline: whole depths are left out, the deepest first; of the first, the first 2,000 stay. */
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

/** Whoever asks for a node that is not there is told of a near one; further ones are not compared. */
const MAX_COMPARED = 5000

/** The node with this id, and where there is none, the id of the one whose name is nearest. */
export function findNode(root: OutlineNode, id: string): { node: OutlineNode } | { nearest: string } {
  if (id === root.id) return { node: root }
  let nearest = { id: root.id, likeness: 0 }
  let compared = 0
  // Ids are in lower case, whatever the headings are in.
  const asked = id.slice(0, 200).toLowerCase()
  for (const node of nodesBelow(root)) {
    if (node.id === id) return { node }
    if (compared++ >= MAX_COMPARED) continue
    const near = nameSimilarity(node.id.slice(0, 200), asked)
    if (near > nearest.likeness) nearest = { id: node.id, likeness: near }
  }
  return { nearest: nearest.id }
}
