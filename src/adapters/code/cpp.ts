import type { SyntaxNode } from '@lezer/common'
import type { Declaration } from '../../domain/code/symbols'
import { childOf, childrenOf, type Rules, textOf } from './tree'

/** Rules for C and C++: classes (including structs and unions), and functions that have a body or belong to a class. */

/** Returns the declaration including `template <…>` in front of it. */
const templated = (node: SyntaxNode): SyntaxNode => (node.parent?.name === 'TemplateDeclaration' ? node.parent : node)

function classes(node: SyntaxNode, text: string): Declaration[] {
  const body = childOf(node, 'FieldDeclarationList')
  const name = childOf(node, 'TypeIdentifier', 'ScopedTypeIdentifier', 'TemplateType')
  if (body === null || name === null) return []
  const outer = templated(node)
  return [
    { name: textOf(name, text), kind: 'class', from: outer.from, to: node.to, opens: body.from, above: outer.from },
  ]
}

/** Returns the declarator of a function, without pointers and references around it. */
function declarator(node: SyntaxNode): SyntaxNode | null {
  for (const child of childrenOf(node)) {
    if (child.name === 'FunctionDeclarator') return child
    if (/^(Pointer|Reference)Declarator$/.test(child.name)) return declarator(child)
  }
  return null
}

const NAMES = [
  'Identifier',
  'FieldIdentifier',
  'DestructorName',
  'OperatorName',
  'ScopedIdentifier',
  'QualifiedIdentifier',
]

function functions(node: SyntaxNode, text: string): Declaration[] {
  const found = declarator(node)
  const name = found === null ? null : childOf(found, ...NAMES)
  const body = childOf(node, 'CompoundStatement')
  if (name === null || (body === null && node.parent?.name !== 'FieldDeclarationList')) return []
  const outer = templated(node)
  const short = textOf(name, text).split('::').at(-1)?.trim() as string
  return [
    { name: short, kind: 'function', from: outer.from, to: node.to, opens: body?.from ?? null, above: outer.from },
  ]
}

export const rules: Rules = {
  ClassSpecifier: classes,
  StructSpecifier: classes,
  UnionSpecifier: classes,
  FunctionDefinition: functions,
  FieldDeclaration: functions,
  Declaration: functions,
}
