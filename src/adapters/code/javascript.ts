import type { SyntaxNode } from '@lezer/common'
import type { LRParser } from '@lezer/lr'
import { extensionOf } from '../../domain/code/languages'
import type { Declaration, SymbolKind } from '../../domain/code/symbols'
import { exported } from './javascript-exports'
import { bare, bodyOf, declare, endOf, isFunction, isMissing, isTopLevel, wrapped } from './javascript-nodes'
import { childOf, childrenOf, type Rules, textOf } from './nodes'

/** TypeScript and JavaScript. */

const dialects = new Map<string, LRParser>()

/** Type arguments and JSX look alike, so the file's name decides. */
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

/** Every name that a pattern binds. */
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

/** What stands beside declarators. */
const BESIDE = ['const', 'let', 'var', 'using', 'await', ';', 'LineComment', 'BlockComment']

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
    else if (!(isMissing(child) || BESIDE.includes(child.name))) parts.push(child)
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

/** What names a member; computed names keep their brackets. */
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
