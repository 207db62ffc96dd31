import type { SyntaxNode } from '@lezer/common'
import type { Declaration, SymbolKind } from '../../domain/code/symbols'
import { bare, bodyOf, declare, isFunction } from './javascript-nodes'
import { childOf, childrenOf, textOf } from './nodes'

/** Names of `export {…}`, each with the lines of its own: the last word of a specifier is what it is called outside. */
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
