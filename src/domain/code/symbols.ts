import { firstCodePoints } from '../text'

/** Symbols that source code declares (fabric contract §9). */

/** In the order in which hits with equal scores are listed. */
export const SYMBOL_KINDS = ['class', 'interface', 'type', 'enum', 'function', 'method', 'const', 'export'] as const
export type SymbolKind = (typeof SYMBOL_KINDS)[number]

export interface CodeSymbol {
  readonly name: string
  readonly kind: SymbolKind
  /** The declaration from its first word to the start of its body, on one line. */
  readonly signature: string
  /** Line numbers from 1. The first line is that of the declaration, not of its comment or decorator. */
  readonly lineStart: number
  readonly lineEnd: number
  /** Without comment markers; empty without a comment. */
  readonly docComment: string
}

/** A declaration from a parser, in UTF-16 offsets. */
export interface Declaration {
  readonly name: string
  readonly kind: SymbolKind
  /** Offset of its first word, including modifiers, without decorators and attributes. */
  readonly from: number
  readonly to: number
  /** Offset of the character that opens its body; null without a body. */
  readonly opens: number | null
  /** Offset of its first decorator or attribute; `from` without one. */
  readonly above: number
  /** Text used in place of the comment above it, such as a docstring without quotes. */
  readonly doc?: string
}

const MAX_NAME = 256
const MAX_SIGNATURE = 300
const MAX_DOC = 2000
/** Maximum number of symbols per file, for generated code. */
export const MAX_SYMBOLS = 5000

/** Comment syntax of a language: the start of a line comment, and whether it has C block comments. */
interface CommentStyle {
  readonly line: RegExp
  readonly block: boolean
}

const SLASHES: CommentStyle = { line: /^(?:\/\/[/!]?)/, block: true }
const HASH: CommentStyle = { line: /^#+/, block: false }

export const commentStyle = (language: string): CommentStyle =>
  language === 'python' || language === 'ruby' ? HASH : SLASHES

/**
 * Offsets at which lines start; a line ends with `\
 * `.
 */
export function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The line number, from 1, of an offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] as number) <= offset) low = middle
    else high = middle - 1
  }
  return low + 1
}

const collapse = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** A line of a block comment without its markers. */
function unmarked(line: string): string {
  let text = line.trim()
  if (text.startsWith('/*')) text = text.slice(/^\/\*[*!]?/.exec(text)?.[0].length ?? 2)
  if (text.endsWith('*/')) text = text.slice(0, -2)
  while (text.endsWith('*')) text = text.slice(0, -1)
  return text.trim().replace(/^\* ?/, '').trim()
}

/** The comment directly above a line, without markers; empty without one. */
function commentAbove(lines: readonly string[], line: number, style: CommentStyle): string {
  const textOf = (number: number): string => (lines[number - 1] ?? '').trim()
  let last = line - 1
  if (last < 1) return ''
  if (style.block && textOf(last).endsWith('*/')) {
    let first = last
    while (first > 1 && line - first < 200 && !textOf(first).includes('/*')) first--
    return textOf(first).startsWith('/*')
      ? lines
          .slice(first - 1, last)
          .map(unmarked)
          .join('\n')
          .trim()
      : ''
  }
  const found: string[] = []
  for (; last >= 1 && found.length < 200; last--) {
    const text = textOf(last)
    if (!style.line.test(text) || text.startsWith('#!')) break
    found.unshift(text.replace(style.line, '').trim())
  }
  return found.join('\n').trim()
}

/** Converts declarations, in order, to symbols with lines, signature and comment. */
export function toSymbols(text: string, declarations: readonly Declaration[], style: CommentStyle): CodeSymbol[] {
  const starts = lineStarts(text)
  const lines = text.split('\n')
  const comments = new Map<number, string>()
  /** The comment above a line, cached for several declarations on one line. */
  const commentAt = (line: number): string => {
    const comment = comments.get(line) ?? commentAbove(lines, line, style)
    comments.set(line, comment)
    return comment
  }
  return [...declarations]
    .sort((a, b) => a.from - b.from || b.to - a.to)
    .slice(0, MAX_SYMBOLS)
    .map(({ name, kind, from, to, opens, above, doc }) => {
      let end = Math.max(to, from + 1)
      while (end > from + 1 && /\s/.test(text[end - 1] as string)) end--
      const signatureEnd = Math.min(opens === null ? end : opens + 1, from + 4 * MAX_SIGNATURE)
      const lineStart = lineAt(starts, from)
      return {
        name: firstCodePoints(name, MAX_NAME),
        kind,
        signature: firstCodePoints(collapse(text.slice(from, signatureEnd)), MAX_SIGNATURE),
        lineStart,
        lineEnd: Math.max(lineStart, lineAt(starts, end - 1)),
        docComment: firstCodePoints(doc ?? commentAt(lineAt(starts, above)), MAX_DOC),
      }
    })
}
