import type { SyntaxNode } from '@lezer/common'
import type { Declaration, SymbolKind } from '../../domain/code/symbols'
import { childOf, childrenOf, type Rules, textOf } from './tree'

/** Rules for Java: classes (including interfaces, enums and records) and functions. */
const BODIES = [
  'ClassBody',
  'InterfaceBody',
  'EnumBody',
  'RecordBody',
  'AnnotationTypeBody',
  'Block',
  'ConstructorBody',
]

/** Returns the offset of the first word after the annotations. */
function firstWord(node: SyntaxNode): number {
  const modifiers = childOf(node, 'Modifiers')
  for (const part of modifiers === null ? [] : childrenOf(modifiers))
    if (!/Annotation$/.test(part.name)) return part.from
  return (modifiers === node.firstChild ? modifiers?.nextSibling?.from : undefined) ?? node.from
}

const declare =
  (kind: SymbolKind) =>
  (node: SyntaxNode, text: string): Declaration[] => {
    const name = childOf(node, 'Definition')
    if (name === null) return []
    const opens = childOf(node, ...BODIES)?.from ?? null
    return [{ name: textOf(name, text), kind, from: firstWord(node), to: node.to, opens, above: node.from }]
  }

export const rules: Rules = {
  ClassDeclaration: declare('class'),
  InterfaceDeclaration: declare('class'),
  EnumDeclaration: declare('class'),
  RecordDeclaration: declare('class'),
  AnnotationTypeDeclaration: declare('class'),
  MethodDeclaration: declare('function'),
  ConstructorDeclaration: declare('function'),
}
