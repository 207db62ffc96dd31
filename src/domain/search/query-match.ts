import type { Analyzer, Token } from './analysis'
import { affordable, makeUnit, type Unit } from './query-unit'
import { NO_OTHER, type OfAnother, wordsOfAnother } from './written-in'

const SPACES = /\s+/

const isStopWord = (unit: Unit): boolean => !(unit.phrase && unit.stops.length > 1) && unit.stops.every((stop) => stop)

/** An adjacency without the stop words at its ends, so that `Paola's` is paola; all of it when it holds nothing else. */
function withoutEdgeStops(tokens: readonly Token[]): readonly Token[] {
  const first = tokens.findIndex(({ isStopWord }) => !isStopWord)
  const last = tokens.findLastIndex(({ isStopWord }) => !isStopWord)
  return first < 0 ? tokens : tokens.slice(first, last + 1)
}

/** A run of unspaced script in `match` is many words, not one: each pair counts by itself. */
function looseUnits(tokens: readonly Token[]): (Unit | null)[] {
  if (tokens.some((part) => part.pair)) return tokens.map((part) => makeUnit([part]))
  return [makeUnit(withoutEdgeStops(tokens))]
}

/** The words of a token, with those marked that only hold a sentence together; of what hyphens join either all or none. */
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

/** Quoted stretches stand at odd places; the last one, when unclosed, is read as plain words. */
function piecesOf(query: string): Piece[] {
  const pieces = query.split('"')
  const closed = pieces.length % 2 === 1
  return pieces.map((text, i) => ({ text, isQuoted: i % 2 === 1 && (closed || i < pieces.length - 1) }))
}

function unitsIn(pieces: readonly Piece[], analyzer: Analyzer, isOfAnother: OfAnother) {
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
  return affordable(found.filter((unit) => unit !== null))
}

/** The units that a `match` query looks for, and what is said about others: those that carry content, or all where none does. */
export function matchUnits(query: string, analyzer: Analyzer): { units: readonly Unit[]; warnings: string[] } {
  const pieces = piecesOf(query)
  const tokens = pieces.flatMap(({ text, isQuoted }) => (isQuoted ? [] : text.split(SPACES)))
  const { units, warnings } = unitsIn(pieces, analyzer, wordsOfAnother(tokens, analyzer.language))
  let content = units.filter((unit) => !isStopWord(unit))
  // Of a sentence without content those words are looked for that are none of the index's own stop words.
  if (content.length === 0) content = unitsIn(pieces, analyzer, NO_OTHER).units.filter((unit) => !isStopWord(unit))
  return { units: content.length > 0 ? content : units, warnings }
}
