import { invalidInput, limitExceeded } from '../errors'
import { codePointLength, isWhiteSpace } from '../text'
import type { Analyzer } from './analysis'
import { type Expression, MAX_PHRASES, makeUnit } from './query-unit'

/**
 * The boolean dialect of full-text search (threads contract §6.3), the same on every backend. The grammar:
 *
 *   query = or ;  or = and {"OR" and} ;  and = not {["AND"] not} ;  not = {"NOT"} atom ;
 *   atom = "(" or ")" | phrase | word ["*"] ;
 */
const MAX_WORDS = 64
const MAX_DEPTH = 32

interface Lexeme {
  readonly kind: '(' | ')' | 'AND' | 'OR' | 'NOT' | 'phrase' | 'word'
  readonly text: string
  /** Code points from 1. */
  readonly position: number
}

const malformed = (position: number, what: string) => invalidInput(`Boolean query, position ${position}: ${what}`)

function readLexemes(query: string): Lexeme[] {
  const chars = [...query]
  const lexemes: Lexeme[] = []
  let i = 0
  while (i < chars.length) {
    const char = chars[i] as string
    const position = i + 1
    if (isWhiteSpace(char)) {
      i++
    } else if (char === '(' || char === ')') {
      lexemes.push({ kind: char, text: char, position })
      i++
    } else if (char === '"') {
      const close = chars.indexOf('"', i + 1)
      if (close < 0) throw malformed(position, 'this quote is never closed')
      lexemes.push({ kind: 'phrase', text: chars.slice(i + 1, close).join(''), position })
      i = close + 1
    } else {
      let end = i
      while (end < chars.length && !isWhiteSpace(chars[end] as string) && !'"()'.includes(chars[end] as string)) end++
      const text = chars.slice(i, end).join('')
      const kind = text === 'AND' || text === 'OR' || text === 'NOT' ? text : 'word'
      lexemes.push({ kind, text, position })
      i = end
    }
  }
  return lexemes
}

class Parser {
  private at = 0
  private words = 0
  private phrases = 0

  constructor(
    private readonly lexemes: readonly Lexeme[],
    private readonly end: number,
    private readonly analyzer: Analyzer,
  ) {}

  parse(): Expression {
    const expression = this.or(0)
    const rest = this.peek()
    if (rest) throw malformed(rest.position, 'this ")" closes nothing')
    return expression
  }

  private peek(): Lexeme | undefined {
    return this.lexemes[this.at]
  }

  private or(depth: number): Expression {
    const parts = [this.and(depth)]
    while (this.peek()?.kind === 'OR') {
      this.at++
      parts.push(this.and(depth))
    }
    return parts.length === 1 ? (parts[0] as Expression) : { op: 'or', of: parts }
  }

  private and(depth: number): Expression {
    const parts = [this.not(depth)]
    for (let next = this.peek(); next && next.kind !== 'OR' && next.kind !== ')'; next = this.peek()) {
      if (next.kind === 'AND') this.at++
      parts.push(this.not(depth))
    }
    return parts.length === 1 ? (parts[0] as Expression) : { op: 'and', of: parts }
  }

  private not(depth: number): Expression {
    let negated = false
    while (this.peek()?.kind === 'NOT') {
      negated = !negated
      this.at++
    }
    const atom = this.atom(depth)
    return negated ? { op: 'not', of: atom } : atom
  }

  private atom(depth: number): Expression {
    const lexeme = this.peek()
    if (lexeme === undefined || lexeme.kind === ')' || lexeme.kind === 'AND' || lexeme.kind === 'OR') {
      throw this.missingOperand(lexeme, this.lexemes[this.at - 1])
    }
    this.at++
    if (lexeme.kind === '(') return this.group(lexeme, depth)
    return { op: 'unit', unit: lexeme.kind === 'phrase' ? this.phrase(lexeme) : this.word(lexeme) }
  }

  private missingOperand(here: Lexeme | undefined, before: Lexeme | undefined) {
    if (here?.kind === ')' && before?.kind === '(') return malformed(before.position, 'these brackets are empty')
    if (before && before.kind !== '(') return malformed(before.position, `"${before.text}" has nothing after it`)
    if (here?.kind === ')') return malformed(here.position, 'this ")" closes nothing')
    if (here) return malformed(here.position, `"${here.text}" has nothing before it`)
    if (before) return malformed(before.position, 'this "(" is never closed')
    return malformed(this.end, 'the query has no words')
  }

  private group(open: Lexeme, depth: number): Expression {
    if (depth + 1 > MAX_DEPTH)
      throw limitExceeded(`Boolean query, position ${open.position}: more than ${MAX_DEPTH} nested brackets`)
    const inner = this.or(depth + 1)
    if (this.peek()?.kind !== ')') throw malformed(open.position, 'this "(" is never closed')
    this.at++
    return inner
  }

  private phrase(lexeme: Lexeme) {
    if (++this.phrases > MAX_PHRASES)
      throw limitExceeded(`Boolean query, position ${lexeme.position}: more than ${MAX_PHRASES} quoted phrases`)
    const unit = makeUnit(this.count(lexeme, lexeme.text), { phrase: true })
    if (unit === null) throw malformed(lexeme.position, 'this phrase has no letters or digits')
    return unit
  }

  private word(lexeme: Lexeme) {
    const { text, position } = lexeme
    if ('-+:'.includes(text[0] as string))
      throw malformed(position, `a word may not begin with "${text[0]}"; use NOT, AND or plain words`)
    const star = text.indexOf('*')
    if (star >= 0 && star < text.length - 1)
      throw malformed(position + codePointLength(text.slice(0, star)), '"*" may stand only at the end of a word')
    const unit = makeUnit(this.count(lexeme, text), { prefix: star >= 0 })
    if (unit === null) throw malformed(position, `"${text}" has no letters or digits`)
    return unit
  }

  private count(lexeme: Lexeme, text: string) {
    const tokens = this.analyzer.tokenize(text)
    this.words += tokens.length
    if (this.words > MAX_WORDS)
      throw limitExceeded(`Boolean query, position ${lexeme.position}: more than ${MAX_WORDS} words`)
    return tokens
  }
}

/** @throws Problem invalid_input naming the position of what is malformed; there is no other reading to fall back to */
export const parseBoolean = (query: string, analyzer: Analyzer): Expression =>
  new Parser(readLexemes(query), codePointLength(query) + 1, analyzer).parse()
