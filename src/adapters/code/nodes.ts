import type { SyntaxNode } from '@lezer/common'
import type { Declaration } from '../../domain/code/symbols'

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
