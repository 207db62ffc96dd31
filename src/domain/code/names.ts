import type { Token } from '../search/analysis'

/** How well a symbol's name answers a query (fabric contract §9, mode `symbol`). */

/** Between `a` and `B` of `aB`, and before the last capital of `HTTPServer`. */
export const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu
const NOT_WORD = /[^\p{L}\p{N}]+/u

/** The one way in which names and code are compared in any case: lower case, with one form of sigma. */
export const foldCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

/** Folded parts of a camelCase or snake_case name, or the words of a query. */
const partsOf = (name: string): string[] =>
  name
    .replace(HUMP, ' ')
    .split(NOT_WORD)
    .filter((part) => part !== '')
    .map(foldCase)

/** A name as the database compares it: each part behind a space, so that ` auth` finds a part that begins with it. */
export const partsText = (name: string): string =>
  partsOf(name)
    .map((part) => ` ${part}`)
    .join('')

export const SCORES = { equal: 1, anyCase: 0.95, beginning: 0.85, parts: 0.75, inside: 0.6 } as const

/** What a query asks of names, read once. */
export interface NameQuery {
  readonly exact: string
  readonly folded: string
  /** Empty when the query has no letter or digit. At most 16; a name has no more parts worth naming. */
  readonly words: readonly string[]
}

export const nameQuery = (query: string): NameQuery => {
  const exact = query.trim()
  return { exact, folded: foldCase(exact), words: [...new Set(partsOf(exact))].slice(0, 16) }
}

/**
 * Runs of three characters, by which the text index tells files that cannot hold a query. A run is a number of 16 bits, so that
 * whatever a file holds, its list has an end; what two runs share a number costs a look at a file, never a hit.
 */
const SPACE = 65_536
/** A longer query is told apart well enough by as many. */
const MAX_QUERY_GRAMS = 24

const hash = (a: number, b: number, c: number): number => {
  const mixed = Math.imul(Math.imul(Math.imul(a, 0x9e3779b1) ^ b, 0x85ebca6b) ^ c, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 15)) & (SPACE - 1)
}

/** Distinct runs of a text, in any order; runs do not cross lines. */
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

/** Runs that a file has to hold to hold the query, or null when it is too short to have one. */
export function queryGrams(query: string): number[] | null {
  const all = gramsOf(query)
  if (all.length === 0) return null
  const step = Math.max(1, all.length / MAX_QUERY_GRAMS)
  return Array.from({ length: Math.min(all.length, MAX_QUERY_GRAMS) }, (_, i) => all[Math.floor(i * step)] as number)
}

const IDENTIFIER = /[\p{L}\p{N}_$]+/gu

/** Code as it is read for words: the parts of a camelCase name stand behind it. Parts between `_` are words anyway. */
export const codeWords = (text: string): string =>
  text.replace(IDENTIFIER, (name) => {
    const parts = name.replace(HUMP, ' ')
    return parts === name ? name : `${name} ${parts}`
  })

/** How many words carry content. */
export const contentLength = (tokens: readonly Token[]): number =>
  tokens.reduce((count, { isStopWord }) => count + (isStopWord ? 0 : 1), 0)
