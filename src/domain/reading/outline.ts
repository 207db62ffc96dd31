import type { Steps } from '../scheduler'
import { type Heading, readHeadings } from './headings'
import { readParts } from './parts'

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
