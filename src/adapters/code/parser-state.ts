import type { PartialParse } from '@lezer/common'

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
