import { offsetAfter, offsetBefore } from '../text'
import type { Analyzer, Token } from './analysis'
import type { Unit } from './query'

/** Finds query units in tokens. Each unit takes one pass over the words, regardless of its length. */

/** The failure function of a sequence: for each prefix, the length of its longest border. */
function borders(terms: readonly string[]): Int32Array {
  const lengths = new Int32Array(terms.length)
  for (let i = 1, length = 0; i < terms.length; ) {
    if (terms[i] === terms[length]) lengths[i++] = ++length
    else if (length > 0) length = lengths[length - 1] as number
    else lengths[i++] = 0
  }
  return lengths
}

/**
 * Whether a word is the last character pair of a run and its second character is this one, so that no pair starts with
 * it.
 */
function isRunEndingIn(character: string | undefined, tokens: readonly Token[], at: number): boolean {
  const { pair, word, end } = tokens[at] as Token
  if (!pair || character === undefined || !word.endsWith(character)) return false
  const next = tokens[at + 1]
  return next === undefined || next.start >= end
}

/**
 * Calls `hit` with the index of the first word of each match, in order (Knuth, Morris and Pratt). A last term that is a
 * prefix is compared separately, after each match of the others.
 * @returns the number of compared words: at most three per word of the text
 */
export function findUnit(unit: Unit, tokens: readonly Token[], hit: (at: number) => void): number {
  const exact = unit.prefix ? unit.terms.slice(0, -1) : unit.terms
  const beginning = unit.prefix ? unit.terms.at(-1) : undefined
  const by = unit.prefix ? 'word' : 'term'
  const begins = (at: number) => beginning === undefined || tokens[at]?.word.startsWith(beginning) === true
  if (exact.length === 0) {
    for (let at = 0; at < tokens.length; at++) if (begins(at) || isRunEndingIn(beginning, tokens, at)) hit(at)
    return tokens.length
  }
  const again = borders(exact)
  let compared = 0
  for (let at = 0, length = 0; at < tokens.length; ) {
    compared++
    if (tokens[at]?.[by] === exact[length]) {
      at++
      length++
      if (length < exact.length) continue
      if (begins(at)) hit(at - length)
      length = again[length - 1] as number
    } else if (length > 0) length = again[length - 1] as number
    else at++
  }
  return compared
}

/** For each word, the units that it matches, as two 32-bit sets, for up to 64 units. */
export interface HitWords {
  readonly low: Uint32Array
  readonly high: Uint32Array
  /** Number of compared words. */
  readonly compared: number
}

export function findHits(tokens: readonly Token[], units: readonly Unit[]): HitWords {
  const low = new Uint32Array(tokens.length)
  const high = new Uint32Array(tokens.length)
  let compared = 0
  for (const [index, unit] of units.entries()) {
    const set = index < 32 ? low : high
    const bit = 1 << (index % 32)
    // Matches of a unit can overlap: each word is marked once.
    let marked = 0
    compared += findUnit(unit, tokens, (at) => {
      for (let i = Math.max(at, marked); i < at + unit.terms.length; i++) set[i] = (set[i] as number) | bit
      marked = Math.max(marked, at + unit.terms.length)
    })
  }
  return { low, high, compared }
}

/**
 * Maximum code points of a text for highlights and passages. Matches beyond it are found but not shown (platform
 * contract §6).
 */
export const HIGHLIGHT_LIMIT = 50_000

/** Maximum code points of an entry that a cross-encoder reads (threads contract §8). */
export const MAX_PASSAGE = 2000
/** Code points before the first match. */
const BEFORE = 500

/**
 * The part of a text around its first match, or its start without a match.
 * @param text the first `LOOKED_AT` code points
 */
export function passageAround(text: string, units: readonly Unit[], analyzer: Analyzer): string {
  if (text.length <= MAX_PASSAGE) return text
  const terms = new Set(units.flatMap((unit) => unit.terms))
  let hit = 0
  for (const { term, word, start } of analyzer.tokens(text))
    if (terms.has(term) || terms.has(word)) {
      hit = start
      break
    }
  const from = offsetBefore(text, hit, BEFORE)
  const to = offsetAfter(text, from, MAX_PASSAGE)
  return text.slice(to === text.length ? offsetBefore(text, to, MAX_PASSAGE) : from, to)
}

/**
 * Moves each superseded result behind its successor, where both are in the results.
 * @param of the ID of a result, and of the entry that supersedes it
 */
export function successorsFirst<T>(
  results: readonly T[],
  of: (result: T) => { readonly id: number; readonly supersededBy?: number | undefined },
): T[] {
  const byId = new Map(results.map((result) => [of(result).id, result]))
  const placed = new Set<number>()
  const ordered: T[] = []
  const place = (result: T, waiting: ReadonlySet<number>): void => {
    const { id, supersededBy } = of(result)
    if (placed.has(id) || waiting.has(id)) return
    const successor = supersededBy === undefined ? undefined : byId.get(supersededBy)
    if (successor !== undefined) place(successor, new Set([...waiting, id]))
    placed.add(id)
    ordered.push(result)
  }
  for (const result of results) place(result, new Set())
  return ordered
}
