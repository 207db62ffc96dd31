import type { Analyzer, Token } from './analysis'
import type { Unit } from './query'
import { codePointLength, firstCodePoints, trim, WHITE_SPACE_RUN } from './text'

/** The stretch of a text that shows best why it was found (threads contract §6.4). Plain text: nothing is HTML-escaped. */
const MAX_LENGTH = 300
const OPEN = '<mark>'
const CLOSE = '</mark>'
const CUT = '…'
/** Stretches are tried from this many hits at most; further ones hardly ever win. */
const MAX_STARTS = 500

interface Word extends Token {
  /** Units this word is part of a hit of. */
  readonly units: Set<number>
}

const hitsAt = (unit: Unit, tokens: readonly Token[], at: number): boolean =>
  unit.terms.every((term, i) => {
    const token = tokens[at + i]
    if (token === undefined) return false
    return unit.prefix && i === unit.terms.length - 1 ? token.term.startsWith(term) : token.term === term
  })

function findHits(tokens: readonly Token[], units: readonly Unit[]): Word[] {
  const words: Word[] = tokens.map((token) => ({ ...token, units: new Set() }))
  for (const [index, unit] of units.entries())
    for (let at = 0; at + unit.terms.length <= tokens.length; at++)
      if (hitsAt(unit, tokens, at)) for (let i = 0; i < unit.terms.length; i++) words[at + i]?.units.add(index)
  return words
}

const collapse = (text: string): string => text.replace(WHITE_SPACE_RUN, ' ')

/** Renders words `first` to `last`, marks and cut signs included. */
function render(text: string, words: readonly Word[], first: number, last: number): string {
  const start = first === 0 ? 0 : (words[first] as Word).start
  const end = last === words.length - 1 ? text.length : (words[last] as Word).end
  const marks: { start: number; end: number }[] = []
  for (const word of words.slice(first, last + 1)) {
    if (word.units.size === 0) continue
    const previous = marks.at(-1)
    // Pairs of characters overlap; neighbouring marks of one run become one.
    if (previous && word.start < previous.end) previous.end = Math.max(previous.end, word.end)
    else if (!previous || word.start >= previous.end) marks.push({ start: word.start, end: word.end })
  }
  let out = ''
  let at = start
  for (const mark of marks) {
    out += collapse(text.slice(at, mark.start)) + OPEN + collapse(text.slice(mark.start, mark.end)) + CLOSE
    at = mark.end
  }
  out += collapse(text.slice(at, end))
  return (start > 0 ? CUT : '') + (start > 0 ? out : out.trimStart()).trimEnd() + (end < text.length ? CUT : '')
}

const fits = (rendered: string): boolean => codePointLength(rendered) <= MAX_LENGTH

/** The largest `last` such that words `first` to `last` fit; found by doubling and halving, since rendering grows with it. */
function reach(text: string, words: readonly Word[], first: number): number {
  let good = first
  let bad = Math.min(words.length, first + MAX_LENGTH)
  if (bad > first && fits(render(text, words, first, bad - 1))) return bad - 1
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (fits(render(text, words, first, middle))) good = middle
    else bad = middle
  }
  return good
}

/** @returns at most 300 code points with every hit word in `<mark>`, or null when the text holds no hit */
export function highlight(source: string, units: readonly Unit[], analyzer: Analyzer): string | null {
  const text = trim(source)
  const words = findHits(analyzer.tokenize(text), units)
  const hits = words.flatMap((word, i) => (word.units.size > 0 ? [i] : []))
  if (hits.length === 0) return null

  let best = { first: 0, last: 0, units: 0, hits: 0 }
  for (const first of hits.slice(0, MAX_STARTS)) {
    const last = reach(text, words, first)
    const inside = words.slice(first, last + 1)
    const found = {
      first,
      last: hits.filter((hit) => hit >= first && hit <= last).at(-1) as number,
      units: new Set(inside.flatMap((word) => [...word.units])).size,
      hits: inside.filter((word) => word.units.size > 0).length,
    }
    if (found.units > best.units || (found.units === best.units && found.hits > best.hits)) best = found
  }

  // Spend what room is left on both sides, so that the hits stand in their sentence.
  let { first, last } = best
  for (let grown = true; grown; ) {
    grown = false
    if (last < words.length - 1 && fits(render(text, words, first, last + 1))) {
      last++
      grown = true
    }
    if (first > 0 && fits(render(text, words, first - 1, last))) {
      first--
      grown = true
    }
  }
  const rendered = render(text, words, first, last)
  return fits(rendered) ? rendered : oneLongWord(text, words[first] as Word)
}

/** A single word too long to show whole is cut. */
function oneLongWord(text: string, word: Word): string {
  const room = MAX_LENGTH - OPEN.length - CLOSE.length - 2 * CUT.length
  return CUT + OPEN + firstCodePoints(text.slice(word.start, word.end), room) + CLOSE + CUT
}
