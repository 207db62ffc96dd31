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
  for (const child of childrenOf(node)) if (!/^Decorator$|Comment$/.test(child.name)) return child.from
  return node.from
}

/** What the grammar finds missing, such as a semicolon. */
export const isMissing = (node: SyntaxNode): boolean => node.type.isError && node.from === node.to

const isBeside = (node: SyntaxNode): boolean => isMissing(node) || /Comment$/.test(node.name)

/** The end of a node, without comments behind it that were read along in search of its semicolon. */
export function endOf(node: SyntaxNode): number {
  let at = node
  for (;;) {
    const end = at.lastChild
    let last = end
    while (last !== null && isBeside(last)) last = last.prevSibling
    if (last === null || (last === end && last.to !== at.to)) return at.to
    at = last
  }
}

/** Where a declaration begins with its decorators; those before `export` are a declaration without a name to the grammar. */
function beginning(node: SyntaxNode): number {
  const outer = wrapped(node)
  if (node.name !== 'ClassDeclaration') return outer.from
  let before = outer.prevSibling
  while (before !== null && /Comment$/.test(before.name)) before = before.prevSibling
  if (before?.name !== node.name) return outer.from
  const isNameless = [...childrenOf(before)].every((child) => child.name === 'Decorator' || isBeside(child))
  return isNameless ? before.from : outer.from
}

export const declare = (node: SyntaxNode, name: string, kind: SymbolKind, body: SyntaxNode | null): Declaration => ({
  ...{ name, kind, from: firstWord(node), to: endOf(wrapped(node)) },
  ...{ opens: body?.from ?? null, above: beginning(node) },
})

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
