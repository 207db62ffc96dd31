import * as ts from 'typescript/unstable/ast'
import { readTrees } from './typescript-trees'

/** Declarations of a file from the TypeScript compiler: an independent reference for our parsers. */
export interface ReferenceSymbol {
  readonly name: string
  readonly kind: string
  readonly lineStart: number
  readonly lineEnd: number
}

function boundNames(name: ts.BindingName | undefined): string[] {
  if (name === undefined) return []
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []))
}

function withoutWrappers(value: ts.Expression | undefined): ts.Expression | undefined {
  let inner = value
  while (
    inner !== undefined &&
    (ts.isParenthesizedExpression(inner) || ts.isAsExpression(inner) || ts.isSatisfiesExpression(inner))
  )
    inner = inner.expression
  return inner
}

const isFunction = (value: ts.Expression | undefined): boolean => {
  const inner = withoutWrappers(value)
  return inner !== undefined && (ts.isArrowFunction(inner) || ts.isFunctionExpression(inner))
}

/** Names, kinds, first and last lines of all declarations that fabric.md §9 counts. */
function symbolsOf(source: ts.SourceFile): ReferenceSymbol[] {
  const symbols: ReferenceSymbol[] = []
  const line = (offset: number): number => source.getLineAndCharacterOfPosition(offset).line + 1

  /** After decorators and comments. */
  const firstWord = (node: ts.Node): number => {
    const marks: readonly ts.Node[] = ('modifiers' in node && (node.modifiers as ts.NodeArray<ts.ModifierLike>)) || []
    const modifier = marks.find((mark) => !ts.isDecorator(mark))
    if (modifier !== undefined) return modifier.getStart(source)
    const last = marks.at(-1)
    return last === undefined ? node.getStart(source) : ts.skipTrivia(source.text, last.end)
  }
  const add = (name: string, kind: string, from: number, to: number) =>
    symbols.push({ name, kind, lineStart: line(from), lineEnd: line(to - 1) })
  const declared = (node: ts.Node & { readonly name?: ts.Node | undefined }, kind: string) => {
    const name = node.name === undefined ? 'default' : node.name.getText(source).replace(/^(["'])(.*)\1$/s, '$2')
    add(name, kind, firstWord(node), node.end)
  }
  const isTop = (node: ts.Node): boolean => ts.isSourceFile(node.parent) || ts.isModuleBlock(node.parent)

  const variables = (node: ts.VariableStatement) => {
    const isConst = (node.declarationList.flags & ts.NodeFlags.Const) !== 0
    for (const [i, declaration] of node.declarationList.declarations.entries()) {
      const kind = isFunction(declaration.initializer) ? 'function' : isConst ? 'const' : null
      if (kind === null) continue
      const from = i === 0 ? firstWord(node) : declaration.getStart(source)
      for (const name of boundNames(declaration.name)) add(name, kind, from, declaration.end)
    }
  }
  const exports = (node: ts.ExportDeclaration) => {
    const { exportClause: clause, moduleSpecifier: from } = node
    if (clause !== undefined && ts.isNamedExports(clause))
      for (const element of clause.elements) add(element.name.text, 'export', element.getStart(source), element.end)
    else if (clause !== undefined) add(clause.name.text, 'export', node.getStart(source), node.end)
    else if (from !== undefined && ts.isStringLiteral(from)) add(from.text, 'export', node.getStart(source), node.end)
  }

  const visit = (node: ts.Node): void => {
    if (ts.isFunctionDeclaration(node)) declared(node, 'function')
    else if (ts.isClassDeclaration(node)) declared(node, 'class')
    else if (ts.isInterfaceDeclaration(node)) declared(node, 'interface')
    else if (ts.isTypeAliasDeclaration(node)) declared(node, 'type')
    else if (ts.isEnumDeclaration(node)) declared(node, 'enum')
    else if (ts.isVariableStatement(node) && isTop(node)) variables(node)
    else if (ts.isExportDeclaration(node)) exports(node)
    else if (ts.isExportAssignment(node))
      add('default', isFunction(node.expression) ? 'function' : 'export', node.getStart(source), node.end)
    else if (ts.isClassLikeDeclaration(node.parent ?? node) && node.parent !== undefined) {
      if (ts.isConstructorDeclaration(node)) add('constructor', 'method', firstWord(node), node.end)
      else if (ts.isMethodDeclaration(node) || ts.isAccessorDeclaration(node)) declared(node, 'method')
      else if (ts.isPropertyDeclaration(node) && isFunction(node.initializer)) declared(node, 'method')
    }
    node.forEachChild(visit)
  }
  visit(source)
  return symbols
}

/** The declarations of each file, and whether the compiler found an error in it. */
export const referenceSymbols = (paths: readonly string[]) =>
  readTrees(paths, (tree, flawed) => ({ path: tree.fileName, symbols: symbolsOf(tree), flawed }))

const keyOf = ({ name, kind, lineStart, lineEnd }: ReferenceSymbol): string => `${kind} ${name} ${lineStart}-${lineEnd}`

/** Number of equal symbols in both lists, and symbols in only one of them. */
export function compareSymbols(
  ours: readonly ReferenceSymbol[],
  theirs: readonly ReferenceSymbol[],
): { equal: number; missing: string[]; extra: string[] } {
  const left = new Map<string, number>()
  for (const symbol of ours) left.set(keyOf(symbol), (left.get(keyOf(symbol)) ?? 0) + 1)
  const missing: string[] = []
  let equal = 0
  for (const symbol of theirs) {
    const count = left.get(keyOf(symbol)) ?? 0
    if (count === 0) missing.push(keyOf(symbol))
    else {
      equal++
      left.set(keyOf(symbol), count - 1)
    }
  }
  const extra = [...left].flatMap(([key, count]) => Array.from({ length: count }, () => key))
  return { equal, missing, extra }
}
