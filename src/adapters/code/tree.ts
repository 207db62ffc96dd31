import type { Input, PartialParse, SyntaxNode, Tree } from '@lezer/common'
import type { LRParser } from '@lezer/lr'
import type { Declaration } from '../../domain/code/symbols'
import { scheduler } from '../../domain/scheduler'

/** Characters returned to the parser at once. Reads within one piece are not counted. */
const PIECE = 128

/** Gives the parser its text in pieces, and counts the characters read. */
class CountedInput implements Input {
  readonly lineChunks = false
  given = 0

  constructor(private readonly text: string) {}

  get length(): number {
    return this.text.length
  }

  chunk(from: number): string {
    const piece = this.text.slice(from, from + PIECE)
    this.given += piece.length
    return piece
  }

  read(from: number, to: number): string {
    return this.text.slice(from, to)
  }
}

/** The state that a Lezer parser exposes while it works: the depth of its stacks and the size of its tree. */

/** Numbers in the parser's buffer for each node. */
const NOTED = 4

/** A parse in progress, with the fields of Lezer that show its cost. */
export interface Working extends PartialParse {
  readonly recovering?: number
  readonly stacks?: readonly {
    readonly stack: { readonly length: number }
    /** Nodes so far: those of the base, and its own. */
    readonly bufferBase: number
    readonly buffer: { readonly length: number }
  }[]
}

/** Returns the total and the largest stack depth of all readings that the parser is trying. */
export function depths({ stacks = [] }: Working): { sum: number; deepest: number } {
  let [sum, deepest] = [0, 0]
  for (const { stack } of stacks) {
    sum += stack.length
    if (stack.length > deepest) deepest = stack.length
  }
  return { sum, deepest }
}

/** Returns the number of nodes that the tree would have so far. */
function nodesOf({ stacks }: Working): number {
  const first = stacks?.[0]
  return first === undefined ? 0 : (first.bufferBase + first.buffer.length) / NOTED
}

/**
 * Parses in steps, within bounds. For text that is not a program the parser tries many readings, each with its own stack, and reads to the
 * end of the text from every unclosed opening (such as `/*`).
 */

/** Parser steps between two checks, and characters read that count as one step. */
const STEP = 1024
const STEP_UNITS = 6000
/**
 * Maximum nesting: the parser's stack holds three numbers for each level. Hand-written programs have fewer than 100 levels.
 */
const MAX_DEPTH = 3 * 2000
/** Maximum nodes of a tree, because Lezer builds a tree without yielding. A text with more nodes is parsed in parts. */
const MAX_NODES = 150_000
/** Maximum parts of a text. */
const MAX_PARTS = 8
/** Budget for trying several readings: a constant, and a number for each character. */
const FREE_TRIES = 1_000_000
const TRIES_PER_CHARACTER = 60
/** Budget for reading characters again: a constant, and a number for each character. */
const FREE_AGAIN = 1_000_000
const AGAIN_PER_CHARACTER = 60
/** Characters read again that take about as long as a step, as a power of two. */
const READS_OF_A_STEP = 3

/** Runs one step. @returns null when the tree is too deep for the call stack on which Lezer builds it */
function advance(parse: PartialParse): { readonly tree: Tree | null } | null {
  try {
    return { tree: parse.advance() }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

interface Part {
  readonly tree: Tree
  /** Offset at which the text of the tree begins. */
  readonly from: number
  /** Offset, relative to `from`, at which the fully parsed part ends. */
  readonly end: number
}

/**
 * Yields the trees of a text. A text with too many nodes is split into parts of complete top-level declarations. Parts that are too
 * expensive or too deep are skipped.
 */
export async function* parseInParts(parser: LRParser, text: string, maxNodes = MAX_NODES): AsyncGenerator<Part, void> {
  let from = 0
  for (let part = 1; part <= MAX_PARTS; part++) {
    const parsed = await parseInSteps(parser, text.slice(from), maxNodes)
    if (parsed === null) return
    // Building and walking a tree both take long, so yield between them.
    await scheduler.yield()
    const { tree, isFull } = parsed
    const end = isFull ? (tree.topNode.lastChild?.from ?? 0) : 0
    yield { tree, from, end: end === 0 || part === MAX_PARTS ? tree.length : end }
    if (end === 0) return
    from += end
  }
}

/** Parses a text within the budget; null when the tree is too deep to build. */
async function parseInSteps(
  parser: LRParser,
  text: string,
  maxNodes: number,
): Promise<{ readonly tree: Tree; readonly isFull: boolean } | null> {
  const input = new CountedInput(text)
  const parse: Working = parser.startParse(input)
  const again = FREE_AGAIN + AGAIN_PER_CHARACTER * text.length
  let counted = 0
  const allowed = FREE_TRIES + TRIES_PER_CHARACTER * text.length
  let spent = 0
  let since = 0
  let isFull = false
  for (;;) {
    const step = advance(parse)
    if (step === null) return null
    if (step.tree !== null) return { tree: step.tree, isFull }
    if ((parse.recovering ?? 0) > 0 || (parse.stacks?.length ?? 0) > 1) {
      const { sum, deepest } = depths(parse)
      spent += sum + 30
      since += 1 + (sum >> 5)
      if (parse.stoppedAt === null && (spent > allowed || deepest > MAX_DEPTH)) parse.stopAt(parse.parsedPos)
    } else if (parse.stoppedAt === null && (since & 63) === 0 && depths(parse).deepest > MAX_DEPTH)
      parse.stopAt(parse.parsedPos)
    const reread = input.given - parse.parsedPos
    if (parse.stoppedAt === null && (reread > again || nodesOf(parse) > maxNodes)) {
      isFull = reread <= again
      parse.stopAt(parse.parsedPos)
    }
    if (reread > counted) {
      since += (reread - counted) >> READS_OF_A_STEP
      counted = reread
    }
    if (++since >= STEP) {
      since = 0
      await scheduler.tick(STEP_UNITS)
    }
  }
}

/** Types and helpers that all grammars share. */

/** Returns the declarations of a node: none, one, or several names. */
export type Rule = (node: SyntaxNode, text: string) => readonly Declaration[]
export type Rules = Readonly<Record<string, Rule>>

export function* childrenOf(node: SyntaxNode): Generator<SyntaxNode> {
  for (let child = node.firstChild; child !== null; child = child.nextSibling) yield child
}

/** Returns the first child with one of these names. */
export function childOf(node: SyntaxNode, ...names: readonly string[]): SyntaxNode | null {
  for (const child of childrenOf(node)) if (names.includes(child.name)) return child
  return null
}

/** Returns the closest ancestor with one of these names. */
export function above(node: SyntaxNode, ...names: readonly string[]): SyntaxNode | null {
  for (let up = node.parent; up !== null; up = up.parent) if (names.includes(up.name)) return up
  return null
}

export const textOf = (node: SyntaxNode, text: string): string => text.slice(node.from, node.to)

/** Returns a declaration without decorators, whose range is that of its node. */
export const plain = (
  node: SyntaxNode,
  name: string,
  kind: Declaration['kind'],
  body: SyntaxNode | null,
): Declaration => ({ name, kind, from: node.from, to: node.to, opens: body?.from ?? null, above: node.from })
