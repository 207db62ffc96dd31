import { firstCodePoints } from '../text'
import type { PackEntry } from './candidate'

/** Introduces what is replaced. */
const REPLACES =
  /(?<![\p{L}\d])(?:supersed(?:es?|ing)|replac(?:es?|ing)|ersetz(?:t|en)|remplace|sustituye|reemplaza)(?![\p{L}\d])/giu
/** Where what is replaced ends, and what replaces it or why begins. */
const REPLACED_ENDS =
  /[.,;:!?\n]|(?<![\p{L}\d])(?:by|with|for|in|because|since|durch|mit|für|weil|par|avec|pour|por|con|para)(?![\p{L}\d])/iu
/** Code points of a text that are read, UTF-16 units behind such a word, and words besides the name. */
const [LOOKED_AT, NAMED, BESIDE] = [1_000, 160, 2]

/** What a text says it takes the place of, in its own words: "supersedes the rule Branch names", "ersetzt [12]". */

/** What is named behind such a word. */
export interface Replaced {
  readonly named: string
  /** Those that carry content. */
  readonly words: ReadonlySet<string>
}

/** All that an entry says it takes the place of. */
export function replacedIn(
  { title, beginning }: Pick<PackEntry, 'title' | 'beginning'>,
  wordsOf: (text: string) => ReadonlySet<string>,
): Replaced[] {
  const text = firstCodePoints(`${title ?? ''}\n${beginning}`, LOOKED_AT)
  return [...text.matchAll(REPLACES)].map(({ 0: said, index }) => {
    const behind = text.slice(index + said.length, index + said.length + NAMED)
    const end = behind.search(REPLACED_ENDS)
    const named = end < 0 ? behind : behind.slice(0, end)
    return { named, words: wordsOf(named) }
  })
}

/**
 * Whether one of these is an entry: it is named by its title, or by its id in brackets or behind `#`.
 *
 * @param title its words that carry content
 */
export const isReplaced = (replaced: readonly Replaced[], id: number, title: ReadonlySet<string>): boolean =>
  replaced.some(({ named, words }) => {
    if (named.includes(`[${id}]`) || named.split(/\s/).includes(`#${id}`)) return true
    return title.size > 0 && words.size <= title.size + BESIDE && [...title].every((word) => words.has(word))
  })
