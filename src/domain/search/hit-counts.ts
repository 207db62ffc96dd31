import type { Analyzer, Token } from './analysis'
import { createPartCounter } from './compounds'
import { findUnit } from './hits'
import type { Unit } from './query'
import { type Candidate, createTermCounter, PART_TIMES, type ScoredTerm, TITLE_TIMES, titleWords } from './score'

/** Counts the query words in texts, for the scorer. */
export interface Counted {
  /** Count of each term, in order. */
  readonly counts: number[]
  /** Number of content words. */
  readonly length: number
  /** Cost for the scheduler. */
  readonly work: number
}

export type Count = (text: string) => Counted

/** Cost of a character of a cached word, relative to a word that must be analyzed. */
const KNOWN = 1 / 8

/** Creates a counter with an analyzer. */
export function counting(analyzer: Analyzer, terms: readonly ScoredTerm[]): Count {
  const counter = createTermCounter(terms)
  return (text) => {
    let [length, analysed] = [0, 0]
    const counts = counter((visit) => {
      analysed = analyzer.eachWord(text, (word) => {
        if (!word.isStopWord) length++
        visit(word)
      })
    })
    return { counts, length, work: analysed + KNOWN * text.length }
  }
}

/** The same for a character of known terms. */
const KNOWN_TERMS = 1 / 80

/** Returns how often a term is in a list of terms; all of them are between spaces, which neighbors share. */
function timesIn(list: string, term: string): number {
  let times = 0
  for (let at = list.indexOf(term); at >= 0; at = list.indexOf(term, at + term.length - 1)) times++
  return times
}

/** The parts of an entry found by full-text search. */
export interface HitParts extends Pick<Candidate, 'id' | 'following' | 'complete' | 'isByParts'> {
  readonly title: string
  readonly text: string
  /** The terms of the complete text in order, if they are known. */
  readonly terms?: string | null
  readonly code: string
  readonly context: string
  /** Number of content words of the complete text. */
  readonly length: number
}

/**
 * Counts query words in matched entries. A word of the title counts as two of the text. Distinct content words of the
 * query identify exact titles.
 */
export function hitCounter(analyzer: Analyzer, terms: readonly ScoredTerm[]) {
  const count = counting(analyzer, terms)
  const countParts = createPartCounter(analyzer, terms)
  const query = new Set(terms.map(({ term }) => term))
  const isOfStems = terms.every(({ by }) => by === 'stem')
  /** Entries of one day and agent have the same context. */
  const contexts = new Map<string, Counted>()
  const ofContext = (context: string): Counted => {
    const known = contexts.get(context) ?? count(context)
    contexts.set(context, known)
    return known
  }
  /** Counts in known terms instead of analyzing the text again. */
  const countText = ({ text, context, terms: known = null }: HitParts): Pick<Counted, 'counts' | 'work'> => {
    if (known === null || !isOfStems) return count(`${text}\n${context}`)
    const others = ofContext(context)
    const all = ` ${known} `
    return {
      counts: terms.map(({ term }, place) => timesIn(all, ` ${term} `) + (others.counts[place] as number)),
      work: KNOWN_TERMS * all.length,
    }
  }
  return (hit: HitParts) => {
    const { id, following, complete, title, text, code, length, isByParts = false } = hit
    const ofText = countText(hit)
    const ofTitle = count(title)
    const ofCode = count(code)
    const words = ofText.counts.map(
      (n, i) => n + TITLE_TIMES * (ofTitle.counts[i] as number) + (ofCode.counts[i] as number),
    )
    const parts = isByParts ? countParts(`${`${title}\n`.repeat(TITLE_TIMES)}${text}`) : []
    const frequencies = isByParts ? words.map((n, i) => n + PART_TIMES * (parts[i] as number)) : words
    const candidate: Candidate = {
      ...{ id, following, complete, frequencies, isByParts },
      length: length + TITLE_TIMES * ofTitle.length + ofCode.length,
      titled: title === '' ? 0 : titleWords(analyzer.tokenize(title), query),
    }
    return { candidate, work: ofText.work + ofTitle.work + ofCode.work }
  }
}

/**
 * Finds the query units that an entry contains, as indexes. Most follow from the counts of `hitCounter`; phrases,
 * prefixes and unscored words are searched in the text.
 */
export function matchedUnits(analyzer: Analyzer, terms: readonly ScoredTerm[], units: readonly Unit[]) {
  const asked = units.map((unit) => ({
    unit,
    isWord: unit.terms.length === 1 && !unit.prefix,
    places: terms.flatMap(({ term }, place) => (unit.terms.includes(term) ? [place] : [])),
  }))
  return (
    { title, text, code }: Pick<HitParts, 'title' | 'text' | 'code'>,
    frequencies: readonly number[],
  ): number[] => {
    const parts: (readonly Token[])[] = []
    const isFound = (unit: Unit): boolean => {
      if (parts.length === 0) parts.push(...[title, text, code].map((part) => analyzer.tokenize(part)))
      let found = false
      for (const part of parts)
        findUnit(unit, part, () => {
          found = true
        })
      return found
    }
    const isHeld = ({ unit, isWord, places }: (typeof asked)[number]): boolean => {
      // The last character of a run starts no pair, so counts of pairs miss it.
      if (unit.prefix || (isWord && places.length === 0)) return isFound(unit)
      return places.every((place) => (frequencies[place] as number) > 0) && (isWord || isFound(unit))
    }
    return asked.flatMap((one, place) => (isHeld(one) ? [place] : []))
  }
}
