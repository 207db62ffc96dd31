import type { SyntaxNode } from '@lezer/common'
import type { Declaration, SymbolKind } from '../../domain/code/symbols'
import { above, childOf, childrenOf, type Rules, textOf } from './tree'

/** Rules for Rust. */
const NAMES = ['TypeIdentifier', 'BoundIdentifier', 'Identifier']

/** Returns the item with its attributes. */
const attributed = (node: SyntaxNode): SyntaxNode =>
  node.parent?.name === 'AttributeItem' ? attributed(node.parent) : node

const holder = (node: SyntaxNode): string => above(node, 'ImplItem', 'TraitItem', 'FunctionItem', 'ModItem')?.name ?? ''

const item = (node: SyntaxNode, text: string, kind: SymbolKind): Declaration[] => {
  const name = childOf(node, ...NAMES)
  if (name === null) return []
  const body = childOf(node, 'Block', 'FieldDeclarationList', 'DeclarationList', 'EnumVariantList')
  const { from } = attributed(node)
  return [{ name: textOf(name, text), kind, from: node.from, to: node.to, opens: body?.from ?? null, above: from }]
}

/** Rule for types and constants outside functions. Associated ones belong to their impl or trait. */
const free = (node: SyntaxNode, text: string, kind: SymbolKind): Declaration[] =>
  ['', 'ModItem'].includes(holder(node)) ? item(node, text, kind) : []

/** Yields the names that a `use` declares: the last part of each path, or its alias. */
function* usedNames(node: SyntaxNode, text: string): Generator<SyntaxNode> {
  if (node.name === 'UseList' || node.name === 'ScopedUseList')
    for (const child of childrenOf(node)) yield* usedNames(child, text)
  else if (['ScopedIdentifier', 'BoundIdentifier', 'Identifier', 'UseAsClause', 'UseWildcard'].includes(node.name))
    yield node
}

function used(node: SyntaxNode, text: string): Declaration[] {
  if (childOf(node, 'Vis') === null) return []
  return [...childrenOf(node)]
    .flatMap((child) => [...usedNames(child, text)])
    .map((place) => {
      const words = textOf(place, text).split(/\s/)
      const path = words.at(-1) as string
      const name = words.at(-2) === 'as' || path.endsWith('*') ? path : (path.split('::').at(-1) as string)
      return {
        name,
        kind: 'export',
        from: node.from,
        to: node.to,
        opens: null,
        above: attributed(node).from,
      }
    })
}

export const rules: Rules = {
  FunctionItem: (node, text) =>
    item(node, text, ['ImplItem', 'TraitItem'].includes(holder(node)) ? 'method' : 'function'),
  StructItem: (node, text) => item(node, text, 'class'),
  UnionItem: (node, text) => item(node, text, 'class'),
  TraitItem: (node, text) => item(node, text, 'interface'),
  EnumItem: (node, text) => item(node, text, 'enum'),
  TypeItem: (node, text) => free(node, text, 'type'),
  ConstItem: (node, text) => free(node, text, 'const'),
  StaticItem: (node, text) => free(node, text, 'const'),
  UseDeclaration: used,
}
