import { limitExceeded } from '../errors'
import type { Token } from './analysis'

/** Something that an entry contains or not: one word, several next to each other, or a quoted phrase. */
export interface Unit {
  /** Stems; with `prefix`, words as they are written. */
  readonly terms: readonly string[]
  /** Words are compared as they are written, and the last only needs to begin one. */
  readonly prefix: boolean
  /** Quoted: looked for in the text only, not in date and agent. */
  readonly phrase: boolean
  /** Which terms are stop words. */
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
  // Text written without spaces is indexed in pairs, so a single character begins one, or stands at the end of a run, which an index
  // keeps beside the text.
  const prefix = options.prefix === true || loneCharacter
  return {
    terms: tokens.map(({ term, word }) => (prefix ? word : term)),
    prefix,
    phrase: options.phrase === true && !loneCharacter,
    stops: tokens.map((token) => token.isStopWord),
  }
}

/** What looking for phrases may cost (platform contract §6): an engine walks a text once for each word of a phrase. */
const MAX_PHRASE_WORDS = 64
export const MAX_PHRASES = 16
const LONG_PHRASE = `phrases of more than ${MAX_PHRASE_WORDS} words were ignored`
const MANY_PHRASES = `only the first ${MAX_PHRASES} quoted phrases of the query were used`

const isLong = (unit: Unit): boolean => unit.terms.length > MAX_PHRASE_WORDS

/** @throws Problem limit_exceeded when one of the units is a phrase of too many words */
export function checkPhrases(units: readonly Unit[]): void {
  const long = units.find(isLong)
  if (long !== undefined)
    throw limitExceeded(
      `A phrase has ${long.terms.length} words; at most ${MAX_PHRASE_WORDS} may stand next to each other`,
    )
}

/** The units of a `match` query that are not too dear to look for, and what is said about the others. */
export function affordable(units: readonly Unit[]): { units: Unit[]; warnings: string[] } {
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
