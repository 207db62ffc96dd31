import type { SyntaxNode } from '@lezer/common'
import type { Declaration, SymbolKind } from '../../domain/code/symbols'
import { childOf, childrenOf } from './nodes'

/** What nodes of the grammar of JavaScript say: where a declaration begins, what a value is, where a body opens. */

const WRAPPERS = ['ExportDeclaration', 'AmbientDeclaration']
const FUNCTIONS = ['ArrowFunction', 'FunctionExpression']

/** The declaration with the words `export`, `default` and `declare` in front of it. */
export function wrapped(node: SyntaxNode): SyntaxNode {
  let outer = node
  while (outer.parent !== null && WRAPPERS.includes(outer.parent.name)) outer = outer.parent
  return outer
}

/** Where the first word behind the decorators stands. */
function firstWord(node: SyntaxNode): number {
  const outer = wrapped(node)
  if (outer.from !== node.from) return outer.from
  for (const child of childrenOf(node)) if (child.name !== 'Decorator') return child.from
  return node.from
}

export const declare = (node: SyntaxNode, name: string, kind: SymbolKind, body: SyntaxNode | null): Declaration => {
  const outer = wrapped(node)
  return { name, kind, from: firstWord(node), to: outer.to, opens: body?.from ?? null, above: outer.from }
}

/** At the top of a file, a namespace or an ambient module, whose block the grammar leaves beside its name. */
export function isTopLevel(node: SyntaxNode): boolean {
  const { parent } = wrapped(node)
  if (parent === null || parent.name === 'Script') return true
  if (parent.name !== 'Block') return false
  return ['Script', 'NamespaceDeclaration', 'GlobalDeclaration'].includes(parent.parent?.name ?? '')
}

/** A value without the parentheses and type assertions around it. */
export function bare(node: SyntaxNode): SyntaxNode {
  const inner = node.firstChild
  if (node.name === 'ParenthesizedExpression' && inner?.nextSibling) return bare(inner.nextSibling)
  if (node.name === 'BinaryExpression' && inner?.nextSibling && ['as', 'satisfies'].includes(inner.nextSibling.name))
    return bare(inner)
  return node
}

export const isFunction = (node: SyntaxNode | null): node is SyntaxNode =>
  node !== null && FUNCTIONS.includes(bare(node).name)

export const bodyOf = (value: SyntaxNode): SyntaxNode | null =>
  FUNCTIONS.includes(value.name) || value.name === 'ClassExpression' ? childOf(value, 'Block', 'ClassBody') : null
