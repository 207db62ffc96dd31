import type { SyntaxNode } from '@lezer/common'
import type { Declaration, SymbolKind } from '../../domain/code/symbols'
import { childOf, childrenOf, plain, type Rules, textOf } from './tree'

/** Rules for Go. */
const isTopLevel = (statement: SyntaxNode | null): boolean => statement?.parent?.name === 'SourceFile'

/** Returns the statement of a specification: `type X struct` itself, or the group around it. */
const statementOf = (spec: SyntaxNode): SyntaxNode | null =>
  spec.parent?.name === 'SpecList' ? spec.parent.parent : spec.parent

/** Alone, a specification begins with its keyword; in a group with its name. */
function specified(
  spec: SyntaxNode,
  name: SyntaxNode,
  text: string,
  kind: SymbolKind,
  body: SyntaxNode | null,
): Declaration {
  const alone = spec.parent?.name === 'SpecList' ? spec : (spec.parent ?? spec)
  const { from } = alone
  return { name: textOf(name, text), kind, from, to: spec.to, opens: body?.from ?? null, above: from }
}

function type(spec: SyntaxNode, text: string): Declaration[] {
  const name = childOf(spec, 'DefName')
  if (name === null || !isTopLevel(statementOf(spec))) return []
  const struct = childOf(spec, 'StructType')
  const shape = childOf(spec, 'InterfaceType')
  const body = struct ? childOf(struct, 'StructBody') : shape ? childOf(shape, 'InterfaceBody') : null
  return [specified(spec, name, text, struct ? 'class' : shape ? 'interface' : 'type', body)]
}

function constants(spec: SyntaxNode, text: string): Declaration[] {
  if (!isTopLevel(statementOf(spec))) return []
  return [...childrenOf(spec)]
    .filter((child) => child.name === 'DefName' && textOf(child, text) !== '_')
    .map((name) => specified(spec, name, text, 'const', null))
}

const callable =
  (nameNode: string, kind: SymbolKind) =>
  (node: SyntaxNode, text: string): Declaration[] => {
    const name = childOf(node, nameNode)
    return name === null ? [] : [plain(node, textOf(name, text), kind, childOf(node, 'Block'))]
  }

export const rules: Rules = {
  FunctionDecl: callable('DefName', 'function'),
  MethodDecl: callable('FieldName', 'method'),
  TypeSpec: type,
  ConstSpec: constants,
}
