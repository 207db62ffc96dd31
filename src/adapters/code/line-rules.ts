import type { Declaration, SymbolKind } from '../../domain/code/symbols'
import { lineStarts } from '../../domain/code/symbols'

/**
 * Rules for languages without a grammar: the words of a line identify a declaration, its indentation or braces the end. Longer lines are
 * skipped, because they are generated.
 */
const MAX_LINE = 500

interface Declared {
  readonly kind: SymbolKind
  readonly name: string
}

const CSHARP_MODIFIERS = new Set(
  (
    'public private protected internal static sealed abstract partial readonly unsafe new virtual override async extern ' +
    'required file ref'
  ).split(' '),
)
const CSHARP_CLASSES = new Set(['class', 'interface', 'struct', 'record', 'enum'])
const NAME = /^~?@?[\p{L}_][\p{L}\p{N}_]*/u

/** Modifiers, then a class word and its name; or modifiers, perhaps a type, and a name before a parenthesis. */
function csharp(line: string): Declared | null {
  const words = line
    .trim()
    .split(/\s/)
    .filter((word) => word !== '')
  const at = words.findIndex((word) => !CSHARP_MODIFIERS.has(word))
  if (at < 0) return null
  if (CSHARP_CLASSES.has(words[at] as string)) {
    const isKind = words[at] === 'record' && CSHARP_CLASSES.has(words[at + 1] ?? '')
    const name = NAME.exec(words[at + (isKind ? 2 : 1)] ?? '')?.[0]
    return name === undefined ? null : { kind: 'class', name }
  }
  if (at === 0) return null
  const rest = words.slice(at).join(' ')
  const open = rest.indexOf('(')
  if (open < 0 || /[=;{]/.test(rest.slice(0, open))) return null
  const head = rest.slice(0, open).split('<')[0]?.trim().split(' ').at(-1) ?? ''
  const generic = rest.slice(0, open).trim().split(' ').at(-1) ?? ''
  const name = NAME.exec(generic.split('<')[0] ?? head)?.[0]
  return name === undefined ? null : { kind: 'function', name }
}

function ruby(line: string): Declared | null {
  const text = line.trim().replace(/^(?:private|protected|public|module_function) /, '')
  if (text.startsWith('class ') || text.startsWith('module ')) {
    const name = /^[A-Z][\w:]*/.exec(text.slice(text.indexOf(' ')).trim())?.[0]
    return name === undefined ? null : { kind: 'class', name }
  }
  if (!text.startsWith('def ')) return null
  const name = /^[^\s(;=]+=?/.exec(
    text
      .slice(4)
      .trim()
      .replace(/^self\./, ''),
  )?.[0]
  return name === undefined ? null : { kind: 'function', name }
}

const indentOf = (line: string): number => line.length - line.trimStart().length

/** Returns the line of the `end` that has the same indentation as the declaration. */
function endByIndent(lines: readonly string[], at: number): number {
  const line = (lines[at] as string).trimEnd()
  if (line.endsWith(' end') || line.endsWith(';end') || line.includes(') = ')) return at
  const indent = indentOf(line)
  for (let i = at + 1; i < lines.length; i++) {
    const other = lines[i] as string
    if (other.trim() === '' || indentOf(other) > indent) continue
    return other.trim().startsWith('end') ? i : Math.max(at, i - 1)
  }
  return lines.length - 1
}

/** Yields the braces and semicolons of a line, outside strings and line comments. */
function* bracesOf(line: string): Generator<{ readonly char: string; readonly column: number }> {
  let quote: string | null = null
  for (let column = 0; column < line.length; column++) {
    const char = line[column] as string
    if (quote !== null) {
      if (char === '\\') column++
      else if (char === quote) quote = null
    } else if (char === '"' || char === "'") quote = char
    else if (char === '/' && line[column + 1] === '/') return
    else if (char === '{' || char === '}' || char === ';') yield { char, column }
  }
}

interface BraceEnd {
  readonly end: number
  readonly opens: readonly [line: number, column: number] | null
}

/** Returns for each line the end of its declaration, in one pass through the text. */
function endsByBraces(lines: readonly string[], declared: ReadonlySet<number>): Map<number, BraceEnd> {
  const ends = new Map<number, BraceEnd>()
  /** Declarations whose opening brace has not been read yet; `open` holds those whose closing brace has not. */
  let waiting: number[] = []
  const open: { readonly started: readonly number[]; readonly at: readonly [number, number] }[] = []
  for (const [i, line] of lines.entries()) {
    if (declared.has(i)) waiting.push(i)
    for (const { char, column } of bracesOf(line)) {
      if (char === '{') {
        open.push({ started: waiting, at: [i, column] })
        waiting = []
      } else if (char === '}') {
        const block = open.pop()
        for (const start of block?.started ?? []) ends.set(start, { end: i, opens: block?.at ?? null })
      } else {
        for (const start of waiting) ends.set(start, { end: i, opens: null })
        waiting = []
      }
    }
  }
  return ends
}

function find(text: string, tell: (line: string) => Declared | null, braces: boolean): Declaration[] {
  const lines = text.split('\n')
  const starts = lineStarts(text)
  const declared = new Map<number, Declared>()
  for (const [i, line] of lines.entries()) {
    const declaration = line.length > MAX_LINE ? null : tell(line)
    if (declaration !== null) declared.set(i, declaration)
  }
  const ends = braces ? endsByBraces(lines, new Set(declared.keys())) : null
  return [...declared].map(([i, { kind, name }]) => {
    const line = lines[i] as string
    const start = starts[i] as number
    const { end, opens } = ends
      ? (ends.get(i) ?? { end: lines.length - 1, opens: null })
      : { end: endByIndent(lines, i), opens: [i, line.trimEnd().length - 1] as const }
    const from = start + indentOf(line)
    const to = (starts[end] as number) + (lines[end] as string).length
    return { name, kind, from, to, opens: opens === null ? null : (starts[opens[0]] as number) + opens[1], above: from }
  })
}

export const LINE_RULES: Readonly<Record<string, (text: string) => Declaration[]>> = {
  csharp: (text) => find(text, csharp, true),
  ruby: (text) => find(text, ruby, false),
}
