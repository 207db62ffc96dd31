import type { Token } from '../search/analysis'

/** Scores how well a symbol's name matches a query (fabric contract §9, mode `symbol`). */

/** Matches between `a` and `B` of `aB`, and before the last capital of `HTTPServer`. */
export const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu
const NOT_WORD = /[^\p{L}\p{N}]+/u

/** Case folding for names and code: lower case, with one form of sigma. */
export const foldCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

/** The folded parts of a camelCase or snake_case name, or the words of a query. */
const partsOf = (name: string): string[] =>
  name
    .replace(HUMP, ' ')
    .split(NOT_WORD)
    .filter((part) => part !== '')
    .map(foldCase)

/**
 * A name in the form that the database compares: a space before each part, so that ` auth` matches a part that starts
 * with it.
 */
export const partsText = (name: string): string =>
  partsOf(name)
    .map((part) => ` ${part}`)
    .join('')

export const SCORES = { equal: 1, anyCase: 0.95, beginning: 0.85, parts: 0.75, inside: 0.6 } as const

/** A parsed query for names. */
export interface NameQuery {
  readonly exact: string
  readonly folded: string
  /** At most 16 words; empty when the query has no letter or digit. */
  readonly words: readonly string[]
}

export const nameQuery = (query: string): NameQuery => {
  const exact = query.trim()
  return { exact, folded: foldCase(exact), words: [...new Set(partsOf(exact))].slice(0, 16) }
}

/**
 * Trigram hashes, with which the text index excludes files that cannot contain a query. A hash has 16 bits, which
 * limits the list of a file; a collision costs a check of the file, never a wrong hit.
 */
const SPACE = 65_536
/** Maximum number of trigrams of a query. */
const MAX_QUERY_GRAMS = 24

const hash = (a: number, b: number, c: number): number => {
  const mixed = Math.imul(Math.imul(Math.imul(a, 0x9e3779b1) ^ b, 0x85ebca6b) ^ c, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 15)) & (SPACE - 1)
}

/** The distinct trigrams of a text, in any order. Trigrams do not cross lines. */
export function gramsOf(text: string): number[] {
  const folded = foldCase(text)
  const seen = new Uint8Array(SPACE)
  const found: number[] = []
  let [a, b] = [10, 10]
  for (let i = 0; i < folded.length; i++) {
    const c = folded.charCodeAt(i)
    if (a !== 10 && b !== 10 && c !== 10) {
      const gram = hash(a, b, c)
      if (seen[gram] === 0) {
        seen[gram] = 1
        found.push(gram)
      }
    }
    a = b
    b = c
  }
  return found
}

/** The trigrams that a file must contain to contain the query; null for a query that is too short. */
export function queryGrams(query: string): number[] | null {
  const all = gramsOf(query)
  if (all.length === 0) return null
  const step = Math.max(1, all.length / MAX_QUERY_GRAMS)
  return Array.from({ length: Math.min(all.length, MAX_QUERY_GRAMS) }, (_, i) => all[Math.floor(i * step)] as number)
}

const IDENTIFIER = /[\p{L}\p{N}_$]+/gu

/** Code for full-text indexing: parts of a camelCase name follow the name. Parts between `_` are words already. */
export const codeWords = (text: string): string =>
  text.replace(IDENTIFIER, (name) => {
    const parts = name.replace(HUMP, ' ')
    return parts === name ? name : `${name} ${parts}`
  })

/** The number of words that are not stop words. */
export const contentLength = (tokens: readonly Token[]): number =>
  tokens.reduce((count, { isStopWord }) => count + (isStopWord ? 0 : 1), 0)
