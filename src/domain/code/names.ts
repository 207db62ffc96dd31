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
