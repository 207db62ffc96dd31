import type { Input, PartialParse, SyntaxNode, Tree } from '@lezer/common'
import type { LRParser } from '@lezer/lr'
import type { Declaration } from '../../domain/code/symbols'
import { scheduler } from '../../domain/scheduler'

/** Characters of the text handed out at once; what is read within one piece is not seen from here. */
const PIECE = 128

/** The text in pieces, and how much of it was handed out. */
export class CountedInput implements Input {
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

/** What a parser shows of itself while it works: how deep its stacks are, and how large its tree would be. */

/** Numbers by which the parser notes a node. */
const NOTED = 4

/** What the parser shows of itself while it works. */
export interface Working extends PartialParse {
  readonly recovering?: number
  readonly stacks?: readonly {
    readonly stack: { readonly length: number }
    /** Nodes so far: what the reading began with, and its own. */
    readonly bufferBase: number
    readonly buffer: { readonly length: number }
  }[]
}

/** Which of the readings that are tried costs what: the depth of all their stacks. */
export function depths({ stacks = [] }: Working): { sum: number; deepest: number } {
  let [sum, deepest] = [0, 0]
  for (const { stack } of stacks) {
    sum += stack.length
    if (stack.length > deepest) deepest = stack.length
  }
  return { sum, deepest }
}

/** How many nodes the tree would have so far. */
export function nodesOf({ stacks }: Working): number {
  const first = stacks?.[0]
  return first === undefined ? 0 : (first.bufferBase + first.buffer.length) / NOTED
}

/**
 * Parses in steps, and with bounds: text that is no program makes the parser try many readings, each with a stack of its own, and read
 * on to the end of the text from each place at which something opens that never closes (`/*` again and again).
 */

/** Steps of the parser, and the reading of characters that they are worth. */
const STEP = 1024
const STEP_UNITS = 6000
/** Levels of nesting; the parser's stack holds three numbers a level. Programs that people write have fewer than 100. */
const MAX_DEPTH = 3 * 2000
/**
 * Nodes of a tree, which Lezer builds all at once: 20 to 60 ms of them. Programs that people write have up to 0.6 for each character,
 * brackets without end three; what has more is parsed in parts.
 */
const MAX_NODES = 150_000
/** Parts of a text: programs of a megabyte have no more, whatever is declared in them. */
const MAX_PARTS = 8
/** What trying several readings may cost at first, and for each character; measured, see bench/code. */
const FREE_TRIES = 1_000_000
const TRIES_PER_CHARACTER = 60
/**
 * Characters handed out again, at first and for each character; programs that people write need up to 12 of a long file, 30 of a short one.
 */
const FREE_AGAIN = 1_000_000
const AGAIN_PER_CHARACTER = 60
/** Characters read again that take about as long as a step, as a power of two. */
const READS_OF_A_STEP = 3

/** One step. @returns null when the tree is deeper than the stack of calls by which Lezer builds it: no program that people write */
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
  /** Where the text of the tree begins. */
  readonly from: number
  /** Where, from there, the part ends that is parsed whole. */
  readonly end: number
}

/**
 * The trees of a text: of its parts, each of whole declarations of the outermost level, where one would have too many nodes. What
 * would cost too much is left out, and so is what is too deep to be built.
 */
export async function* parseInParts(parser: LRParser, text: string, maxNodes = MAX_NODES): AsyncGenerator<Part, void> {
  let from = 0
  for (let part = 1; part <= MAX_PARTS; part++) {
    const parsed = await parseInSteps(parser, text.slice(from), maxNodes)
    if (parsed === null) return
    // Building a tree and looking through it take long each.
    await scheduler.yield()
    const { tree, isFull } = parsed
    const end = isFull ? (tree.topNode.lastChild?.from ?? 0) : 0
    yield { tree, from, end: end === 0 || part === MAX_PARTS ? tree.length : end }
    if (end === 0) return
    from += end
  }
}

/** The tree of a text, as far as it does not cost too much; null when it is too deep to be built. */
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

/** What all grammars ask of a syntax tree. */

/** What a declaration's node says; a node may declare several names, or none that counts. */
export type Rule = (node: SyntaxNode, text: string) => readonly Declaration[]
export type Rules = Readonly<Record<string, Rule>>

export function* childrenOf(node: SyntaxNode): Generator<SyntaxNode> {
  for (let child = node.firstChild; child !== null; child = child.nextSibling) yield child
}

/** The first child that has one of these names. */
export function childOf(node: SyntaxNode, ...names: readonly string[]): SyntaxNode | null {
  for (const child of childrenOf(node)) if (names.includes(child.name)) return child
  return null
}

/** The nearest node above that has one of these names. */
export function above(node: SyntaxNode, ...names: readonly string[]): SyntaxNode | null {
  for (let up = node.parent; up !== null; up = up.parent) if (names.includes(up.name)) return up
  return null
}

export const textOf = (node: SyntaxNode, text: string): string => text.slice(node.from, node.to)

/** A declaration that stands by itself, without decorators. */
export const plain = (
  node: SyntaxNode,
  name: string,
  kind: Declaration['kind'],
  body: SyntaxNode | null,
): Declaration => ({ name, kind, from: node.from, to: node.to, opens: body?.from ?? null, above: node.from })
