import type { SyntaxNode } from '@lezer/common'
import type { Declaration } from '../../domain/code/symbols'
import { childOf, childrenOf, type Rules, textOf } from './tree'

/** Rules for Python. */
const ENUMS = /^(?:Enum|IntEnum|StrEnum|Flag|IntFlag|ReprEnum)$/
const UPPER_CASE = /^[A-Z][A-Z0-9_]*$/
const QUOTES = ['"""', "'''", '"', "'"] as const

/** Returns the text between the quotes of a string; null for one with computed parts. */
function unquoted(written: string): string | null {
  const text = written.replace(/^[rRbBuU]{0,2}/, '')
  const quote = QUOTES.find((one) => text.startsWith(one) && text.endsWith(one) && text.length >= 2 * one.length)
  return quote === undefined ? null : text.slice(quote.length, -quote.length)
}

/** Returns the definition with its decorators. */
const decorated = (node: SyntaxNode): SyntaxNode => (node.parent?.name === 'DecoratedStatement' ? node.parent : node)

/** Returns the docstring without quotes and common indentation; null without one. */
function docString(body: SyntaxNode | null, text: string): string | null {
  let first = body?.firstChild?.nextSibling ?? null
  while (first?.name === 'Comment') first = first.nextSibling
  const string = first?.name === 'ExpressionStatement' ? first.firstChild : null
  const doc = string?.name === 'String' ? unquoted(textOf(string, text)) : null
  if (doc === null) return null
  const lines = doc.split('\n').map((line) => line.trim())
  return lines.join('\n').trim()
}

function define(node: SyntaxNode, text: string, kind: Declaration['kind']): Declaration[] {
  const name = childOf(node, 'VariableName')
  if (name === null) return []
  const body = childOf(node, 'Body')
  const doc = docString(body, text)
  const declared = {
    name: textOf(name, text),
    kind,
    from: node.from,
    to: endOf(node),
    opens: body?.from ?? null,
    above: decorated(node).from,
  }
  return [doc === null ? declared : { ...declared, doc }]
}

/** Returns the end of a definition: that of its last statement, since a body extends to the next statement. */
function endOf(node: SyntaxNode): number {
  for (let at: SyntaxNode | null = node; at !== null; ) {
    let last: SyntaxNode | null = at.lastChild
    while (last !== null && last.name === 'Comment') last = last.prevSibling
    if (last === null || !/Body$|Statement$|Definition$|Clause$|Block$|Suite$/.test(last.name)) return last?.to ?? at.to
    at = last
  }
  return node.to
}

/** Returns the last part of each base class name: `Enum` for `enum.Enum`, `Protocol` for `Protocol[T]`. */
function basesOf(node: SyntaxNode, text: string): string[] {
  const list = childOf(node, 'ArgList')
  if (list === null) return []
  return [...childrenOf(list)]
    .filter(({ name }) => name === 'VariableName' || name === 'MemberExpression')
    .map((base) => /^[\w.]*/.exec(textOf(base, text))?.[0].split('.').at(-1) ?? '')
}

function classKind(node: SyntaxNode, text: string): Declaration['kind'] {
  const bases = basesOf(node, text)
  if (bases.some((base) => ENUMS.test(base))) return 'enum'
  return bases.includes('Protocol') ? 'interface' : 'class'
}

const isInClass = (node: SyntaxNode): boolean => {
  let up = decorated(node).parent
  while (up !== null && !['ClassDefinition', 'FunctionDefinition', 'LambdaExpression'].includes(up.name)) up = up.parent
  return up?.name === 'ClassDefinition'
}

function strings(list: SyntaxNode, text: string): Declaration[] {
  return [...childrenOf(list)].flatMap((child) => {
    const name = child.name === 'String' ? unquoted(textOf(child, text)) : null
    const place = { from: child.from, to: child.to, opens: null, above: child.from }
    return name === null ? [] : [{ name, kind: 'export' as const, ...place }]
  })
}

/** Rule for assignments at the top of a module: constants by their spelling, and the names in `__all__`. */
function assign(node: SyntaxNode, text: string): Declaration[] {
  if (node.parent?.name !== 'Script') return []
  const children = [...childrenOf(node)]
  const isAll = children[0]?.name === 'VariableName' && textOf(children[0], text) === '__all__'
  if (isAll) {
    const lists = children.filter(({ name }) => /^(Array|Tuple)Expression$/.test(name))
    return [node, ...lists].flatMap((list) => strings(list, text))
  }
  if (node.name !== 'AssignStatement') return []
  const last = children.findLastIndex(({ name }) => name === 'AssignOp')
  const targets = last < 0 ? children.slice(0, 1) : children.slice(0, last)
  return targets
    .flatMap((target) => (/^(Tuple|Array)Expression$/.test(target.name) ? [...childrenOf(target)] : [target]))
    .filter((target) => target.name === 'VariableName' && UPPER_CASE.test(textOf(target, text)))
    .map((target) => ({
      name: textOf(target, text),
      kind: 'const',
      from: node.from,
      to: node.to,
      opens: null,
      above: node.from,
    }))
}

export const rules: Rules = {
  FunctionDefinition: (node, text) => define(node, text, isInClass(node) ? 'method' : 'function'),
  ClassDefinition: (node, text) => define(node, text, classKind(node, text)),
  TypeDefinition: (node, text) => define(node, text, 'type'),
  AssignStatement: assign,
  UpdateStatement: assign,
}
