import { invalidInput, limitExceeded } from '../errors'
import { codePointLength, isWhiteSpace, withoutTrailing } from '../text'
import { collectIssues } from '../validation'
import type { Analyzer, Token } from './analysis'
import { type FunctionWordTest, functionWordTest, NO_FUNCTION_WORDS } from './language'

/** A condition on an entry: it contains a word, adjacent words, or a quoted phrase. */
export interface Unit {
  /** Stems; with `prefix`, folded words. */
  readonly terms: readonly string[]
  /** Whether folded words are compared, and the last one only as a prefix. */
  readonly prefix: boolean
  /** Whether it was quoted; phrases are searched in the text only, not in date and agent. */
  readonly phrase: boolean
  /** For each term, whether it is a stop word. */
  readonly stops: readonly boolean[]
}

export type Expression =
  | { readonly op: 'unit'; readonly unit: Unit }
  | { readonly op: 'and' | 'or'; readonly of: readonly Expression[] }
  | { readonly op: 'not'; readonly of: Expression }

export function makeUnit(tokens: readonly Token[], options: { prefix?: boolean; phrase?: boolean } = {}): Unit | null {
  if (tokens.length === 0) return null
  const only = tokens.length === 1 ? (tokens[0] as Token) : null
  const loneCharacter = only?.pair === true && [...only.term].length === 1
  // Text without spaces is indexed as character pairs. A single character therefore matches as a prefix of pairs, or at
  // the end of a run, which the index stores separately.
  const prefix = options.prefix === true || loneCharacter
  return {
    terms: tokens.map(({ term, word }) => (prefix ? word : term)),
    prefix,
    phrase: options.phrase === true && !loneCharacter,
    stops: tokens.map((token) => token.isStopWord),
  }
}

/** Limits of phrases (platform contract §6), because a database reads a text once per word of a phrase. */
const MAX_PHRASE_WORDS = 64
const MAX_PHRASES = 16
const LONG_PHRASE = `phrases of more than ${MAX_PHRASE_WORDS} words were ignored`
const MANY_PHRASES = `only the first ${MAX_PHRASES} quoted phrases of the query were used`

const isLong = (unit: Unit): boolean => unit.terms.length > MAX_PHRASE_WORDS

/** Checks the length of phrases. @throws Problem limit_exceeded */
function checkPhrases(units: readonly Unit[]): void {
  const long = units.find(isLong)
  if (long !== undefined)
    throw limitExceeded(`A phrase has ${long.terms.length} words; at most ${MAX_PHRASE_WORDS} are allowed`)
}

/** The units of a `match` query within the limits, and warnings about the others. */
function withinPhraseLimits(units: readonly Unit[]): { units: Unit[]; warnings: string[] } {
  const short = units.filter((unit) => !isLong(unit))
  let phrases = 0
  const kept = short.filter(({ phrase }) => !phrase || ++phrases <= MAX_PHRASES)
  return {
    units: kept,
    warnings: [
      ...(short.length < units.length ? [LONG_PHRASE] : []),
      ...(kept.length < short.length ? [MANY_PHRASES] : []),
    ],
  }
}

/**
 * The boolean query language (threads contract §6.3), the same on every backend. Grammar:
 * query = or ;  or = and {"OR" and} ;  and = not {["AND"] not} ;  not = {"NOT"} atom ;
 * atom = "(" or ")" | phrase | word ["*"] ;
 */
const MAX_WORDS = 64
const MAX_DEPTH = 32

interface Lexeme {
  readonly kind: '(' | ')' | 'AND' | 'OR' | 'NOT' | 'phrase' | 'word'
  readonly text: string
  /** In code points, from 1. */
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
      throw malformed(position + codePointLength(text.slice(0, star)), '"*" is only allowed at the end of a word')
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

/** Parses a boolean query. @throws Problem invalid_input with the position of an error; limit_exceeded */
const parseBoolean = (query: string, analyzer: Analyzer): Expression =>
  new Parser(readLexemes(query), codePointLength(query) + 1, analyzer).parse()

const SPACES = /\s+/

const isStopWord = (unit: Unit): boolean => !(unit.phrase && unit.stops.length > 1) && unit.stops.every((stop) => stop)

/**
 * Removes stop words at both ends of adjacent words, so that `Paola's` matches paola; unchanged if all are stop words.
 */
function withoutEdgeStops(tokens: readonly Token[]): readonly Token[] {
  const first = tokens.findIndex(({ isStopWord }) => !isStopWord)
  const last = tokens.findLastIndex(({ isStopWord }) => !isStopWord)
  return first < 0 ? tokens : tokens.slice(first, last + 1)
}

/** Units of a `match` token. A run of a script without spaces gives one unit per character pair. */
function looseUnits(tokens: readonly Token[]): (Unit | null)[] {
  if (tokens.some((part) => part.pair)) return tokens.map((part) => makeUnit([part]))
  return [makeUnit(withoutEdgeStops(tokens))]
}

/**
 * The words of a token, with function words marked as stop words. Hyphenated words are marked completely or not at all.
 */
function wordsOf(token: string, analyzer: Analyzer, isEmpty: (written: string) => boolean): readonly Token[] {
  const words = analyzer.tokenize(token)
  const marked = words.map((word) =>
    isEmpty(token.slice(word.start, word.end)) ? { ...word, isStopWord: true } : word,
  )
  return token.includes('-') && marked.some((word) => !word.isStopWord) ? words : marked
}

interface Piece {
  readonly text: string
  readonly isQuoted: boolean
}

/** Splits a query at quotes. An unclosed last quote is read as plain words. */
function piecesOf(query: string): Piece[] {
  const pieces = query.split('"')
  const closed = pieces.length % 2 === 1
  return pieces.map((text, i) => ({ text, isQuoted: i % 2 === 1 && (closed || i < pieces.length - 1) }))
}

function unitsIn(pieces: readonly Piece[], analyzer: Analyzer, isOfAnother: FunctionWordTest) {
  const found: (Unit | null)[] = []
  let place = 0
  for (const { text, isQuoted } of pieces) {
    if (isQuoted) found.push(makeUnit(analyzer.tokenize(text), { phrase: true }))
    else
      for (const token of text.split(SPACES)) {
        const at = place++
        found.push(...looseUnits(wordsOf(token, analyzer, (written) => isOfAnother(at, written))))
      }
  }
  return withinPhraseLimits(found.filter((unit) => unit !== null))
}

/**
 * The units of a `match` query, and warnings about ignored parts. Stop words are left out, unless there are only stop
 * words.
 */
function matchUnits(query: string, analyzer: Analyzer): { units: readonly Unit[]; warnings: string[] } {
  const pieces = piecesOf(query)
  const tokens = pieces.flatMap(({ text, isQuoted }) => (isQuoted ? [] : text.split(SPACES)))
  const { units, warnings } = unitsIn(pieces, analyzer, functionWordTest(tokens, analyzer.language))
  let content = units.filter((unit) => !isStopWord(unit))
  // Without content words, the function words of another language are searched too, if they are not stop words of the
  // index.
  if (content.length === 0)
    content = unitsIn(pieces, analyzer, NO_FUNCTION_WORDS).units.filter((unit) => !isStopWord(unit))
  return { units: content.length > 0 ? content : units, warnings }
}

/** Parsed full-text queries (threads contract §6), independent of the database. */
export const SEARCH_MODES = ['match', 'prefix', 'phrase', 'boolean'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]

export interface TextQuery {
  readonly mode: SearchMode
  /** Null when the query has no letter or digit and so matches nothing. */
  readonly expression: Expression | null
  /** In `match` with at least two units: the expression of entries that come first. */
  readonly preferred: Expression | null
  /** Units that can match, in order of appearance, without those under NOT. */
  readonly units: readonly Unit[]
  readonly warnings: readonly string[]
}

const MAX_UNITS = 64
const TOO_MANY = `only the first ${MAX_UNITS} distinct words of the query were used`

const NO_WORDS = 'The query has no letter or digit, so it matches nothing. Add a word.'

/** Adds the reason why a query without words matches nothing, unless there is a warning already. */
const sayingWhy = (query: TextQuery): TextQuery =>
  query.expression === null && query.warnings.length === 0 ? { ...query, warnings: [NO_WORDS] } : query

const unitKey = (unit: Unit): string => JSON.stringify([unit.terms, unit.prefix, unit.phrase])

const unitExpression = (unit: Unit): Expression => ({ op: 'unit', unit })

const join = (op: 'and' | 'or', units: readonly Unit[]): Expression | null =>
  units.length === 0
    ? null
    : units.length === 1
      ? unitExpression(units[0] as Unit)
      : { op, of: units.map(unitExpression) }

function distinct(units: readonly (Unit | null)[]): { units: Unit[]; warnings: string[] } {
  const unique = new Map<string, Unit>()
  for (const unit of units) {
    const key = unit === null ? '' : unitKey(unit)
    if (unit !== null && !unique.has(key)) unique.set(key, unit)
  }
  const all = [...unique.values()]
  return { units: all.slice(0, MAX_UNITS), warnings: all.length > MAX_UNITS ? [TOO_MANY] : [] }
}

function parseMatch(query: string, analyzer: Analyzer): TextQuery {
  const { units: found, warnings: ignored } = matchUnits(query, analyzer)
  const { units, warnings } = distinct(found)
  return {
    mode: 'match',
    expression: join('or', units),
    preferred: units.length > 1 ? join('and', units) : null,
    units,
    warnings: [...ignored, ...warnings],
  }
}

function parsePrefix(query: string, analyzer: Analyzer): TextQuery {
  const tokens = query.replaceAll('"', ' ').split(/\s+/)
  const { units, warnings } = distinct(
    tokens.map((token) => makeUnit(analyzer.tokenize(withoutTrailing(token, '*')), { prefix: true })),
  )
  checkPhrases(units)
  return { mode: 'prefix', expression: join('and', units), preferred: null, units, warnings }
}

function parsePhrase(query: string, analyzer: Analyzer): TextQuery {
  const unit = makeUnit(analyzer.tokenize(query.replaceAll('"', ' ')), { phrase: true })
  const units = unit === null ? [] : [unit]
  checkPhrases(units)
  return { mode: 'phrase', expression: join('and', units), preferred: null, units, warnings: [] }
}

function positiveUnits(expression: Expression, negated = false): Unit[] {
  if (expression.op === 'unit') return negated ? [] : [expression.unit]
  if (expression.op === 'not') return positiveUnits(expression.of, !negated)
  return expression.of.flatMap((part) => positiveUnits(part, negated))
}

/** Parses a query. @throws Problem invalid_input in `boolean` mode, with the position of the error; limit_exceeded */
export const parseQuery = (query: string, mode: SearchMode, analyzer: Analyzer): TextQuery =>
  collectIssues((wrong) => wrong.check('query', query, () => parse(query, mode, analyzer))) as TextQuery

function parse(query: string, mode: SearchMode, analyzer: Analyzer): TextQuery {
  switch (mode) {
    case 'match':
      return sayingWhy(parseMatch(query, analyzer))
    case 'prefix':
      return sayingWhy(parsePrefix(query, analyzer))
    case 'phrase':
      return sayingWhy(parsePhrase(query, analyzer))
    case 'boolean': {
      const expression = parseBoolean(query, analyzer)
      const { units } = distinct(positiveUnits(expression))
      return { mode: 'boolean', expression, preferred: null, units, warnings: [] }
    }
  }
}
