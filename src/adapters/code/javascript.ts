import type { SyntaxNode } from '@lezer/common'
import type { LRParser } from '@lezer/lr'
import { extensionOf } from '../../domain/code/languages'
import type { Declaration, SymbolKind } from '../../domain/code/symbols'
import { childOf, childrenOf, type Rules, textOf } from './tree'

/** Helpers for the JavaScript grammar: where a declaration begins, which values are functions, where a body opens. */

const WRAPPERS = ['ExportDeclaration', 'AmbientDeclaration']
const FUNCTIONS = ['ArrowFunction', 'FunctionExpression']

/** Returns the declaration including the words `export`, `default` and `declare` in front of it. */
export function wrapped(node: SyntaxNode): SyntaxNode {
  let outer = node
  while (outer.parent !== null && WRAPPERS.includes(outer.parent.name)) outer = outer.parent
  return outer
}

/** Returns the offset of the first word after the decorators. */
function firstWord(node: SyntaxNode): number {
  const outer = wrapped(node)
  if (outer.from !== node.from) return outer.from
  for (const child of childrenOf(node)) if (!/^Decorator$|Comment$/.test(child.name)) return child.from
  return node.from
}

/** Returns whether the node is a placeholder for a missing token, such as a semicolon. */
export const isMissing = (node: SyntaxNode): boolean => node.type.isError && node.from === node.to

const isBeside = (node: SyntaxNode): boolean => isMissing(node) || /Comment$/.test(node.name)

/** Returns the end of a node, without the comments that the grammar read while looking for its semicolon. */
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

/**
 * Returns where a declaration begins, including decorators. The grammar parses those before `export` as a separate, unnamed declaration.
 */
function startOf(node: SyntaxNode): number {
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
  ...{ opens: body?.from ?? null, above: startOf(node) },
})

/**
 * Returns whether a node is at the top level of a file, a namespace or an ambient module (whose block is a sibling of its name).
 */
export function isTopLevel(node: SyntaxNode): boolean {
  const { parent } = wrapped(node)
  if (parent === null || parent.name === 'Script') return true
  if (parent.name !== 'Block') return false
  return ['Script', 'NamespaceDeclaration', 'GlobalDeclaration'].includes(parent.parent?.name ?? '')
}

/** Returns a value without the parentheses and type assertions around it. */
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

/** Returns the names of `export {…}`, each with its own lines. The last word of a specifier is the exported name. */
function specifiers(group: SyntaxNode, text: string): Declaration[] {
  const found: { name: string; from: number; to: number }[] = []
  let isOpen = false
  for (const child of childrenOf(group)) {
    if (/Comment$/.test(child.name)) continue
    const name = textOf(child, text).replace(/^["']/, '').replace(/["']$/, '')
    if (['{', ',', '}'].includes(child.name)) isOpen = false
    else if (isOpen) Object.assign(found.at(-1) as object, { name, to: child.to })
    else {
      found.push({ name, from: child.from, to: child.to })
      isOpen = true
    }
  }
  return found.map(({ name, from, to }) => ({ name, kind: 'export', from, to, opens: null, above: from }))
}

export function exported(node: SyntaxNode, text: string): Declaration[] {
  const group = childOf(node, 'ExportGroup')
  if (group !== null) return specifiers(group, text)
  const own = (name: string, kind: SymbolKind = 'export', body: SyntaxNode | null = null) => [
    declare(node, name, kind, body),
  ]
  if (childOf(node, 'Star') !== null) {
    const alias = childOf(node, 'VariableName')
    const source = childOf(node, 'String')
    return alias ? own(textOf(alias, text)) : source ? own(textOf(source, text).slice(1, -1)) : []
  }
  const isDefault = childOf(node, 'default')
  if (isDefault !== null) {
    let value = isDefault.nextSibling
    while (value !== null && /Comment$/.test(value.name)) value = value.nextSibling
    if (value === null || /Declaration$/.test(value.name)) return []
    return isFunction(value) ? own('default', 'function', bodyOf(bare(value))) : own('default')
  }
  if (childOf(node, 'Equals') !== null && childOf(node, 'import') === null) return own('default')
  return []
}

/** Parsers of the TypeScript and JavaScript dialects. */

const dialects = new Map<string, LRParser>()

/** Returns the parser for a file. Type arguments and JSX look the same, so the file name decides. */
export async function dialectOf(language: string, path: string): Promise<LRParser> {
  const dialect = language === 'javascript' ? 'jsx' : extensionOf(path) === 'tsx' ? 'ts jsx' : 'ts'
  const known = dialects.get(dialect)
  if (known !== undefined) return known
  const { parser } = await import('@lezer/javascript')
  const made = parser.configure({ dialect })
  dialects.set(dialect, made)
  return made
}

const named =
  (kind: SymbolKind, bodies: readonly string[]) =>
  (node: SyntaxNode, text: string): Declaration[] => {
    const name = childOf(node, 'VariableDefinition', 'TypeDefinition')
    const isDefault = node.parent?.name === 'ExportDeclaration' && childOf(node.parent, 'default') !== null
    if (name === null && !isDefault) return []
    return [declare(node, name === null ? 'default' : textOf(name, text), kind, childOf(node, ...bodies))]
  }

/** Returns every name that a pattern binds. */
function bound(pattern: SyntaxNode, text: string): string[] {
  if (pattern.name === 'VariableDefinition') return [textOf(pattern, text)]
  if (!/Pattern|SpreadElement|PatternProperty/.test(pattern.name)) return []
  return [...childrenOf(pattern)].flatMap((child) => bound(child, text))
}

interface Declarator {
  readonly pattern: SyntaxNode
  readonly value: SyntaxNode | null
  readonly to: number
}

/** Nodes of a variable declaration that are not declarators. */
const NOT_DECLARATORS = ['const', 'let', 'var', 'using', 'await', ';', 'LineComment', 'BlockComment']

function declarators(node: SyntaxNode): Declarator[] {
  const found: Declarator[] = []
  let parts: SyntaxNode[] = []
  const close = () => {
    const [pattern] = parts
    const equals = parts.findIndex(({ name }) => name === 'Equals')
    if (pattern)
      found.push({
        pattern,
        value: (equals > 0 ? parts[equals + 1] : null) ?? null,
        to: endOf(parts.at(-1) ?? pattern),
      })
    parts = []
  }
  for (const child of childrenOf(node)) {
    if (child.name === ',') close()
    else if (!(isMissing(child) || NOT_DECLARATORS.includes(child.name))) parts.push(child)
  }
  close()
  return found
}

function variables(node: SyntaxNode, text: string): Declaration[] {
  if (!isTopLevel(node)) return []
  const isConst = childOf(node, 'const') !== null
  const outer = wrapped(node)
  return declarators(node).flatMap(({ pattern, value, to }, i) => {
    const body = value === null ? null : bodyOf(bare(value))
    const kind = isFunction(value) ? 'function' : isConst ? 'const' : null
    if (kind === null) return []
    const from = i === 0 ? outer.from : pattern.from
    const opens = body?.from ?? null
    return bound(pattern, text).map((name) => ({ name, kind, from, to, opens, above: from }))
  })
}

/** Returns the name of a member; computed names include their brackets. */
function memberName(node: SyntaxNode, text: string): string | null {
  for (const child of childrenOf(node)) {
    if (['PropertyDefinition', 'PrivatePropertyDefinition', 'Number'].includes(child.name)) return textOf(child, text)
    if (child.name === 'String') return textOf(child, text).slice(1, -1)
    if (child.name === '[') {
      let end: SyntaxNode | null = child
      while (end !== null && end.name !== ']') end = end.nextSibling
      return end === null ? null : text.slice(child.from, end.to)
    }
  }
  return null
}

function member(node: SyntaxNode, text: string): Declaration[] {
  if (node.parent?.name !== 'ClassBody') return []
  const value = childOf(node, 'Equals')?.nextSibling ?? null
  if (node.name === 'PropertyDeclaration' && !isFunction(value)) return []
  const name = memberName(node, text)
  const body = value === null ? childOf(node, 'Block') : bodyOf(bare(value))
  return name === null ? [] : [declare(node, name, 'method', body)]
}

const callable = named('function', ['Block'])

export const rules: Rules = {
  FunctionDeclaration: callable,
  AmbientFunctionDeclaration: callable,
  ClassDeclaration: named('class', ['ClassBody']),
  InterfaceDeclaration: named('interface', ['ObjectType']),
  TypeAliasDeclaration: named('type', []),
  EnumDeclaration: named('enum', ['EnumBody']),
  VariableDeclaration: variables,
  MethodDeclaration: member,
  PropertyDeclaration: member,
  ExportDeclaration: exported,
}
