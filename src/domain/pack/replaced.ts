import { firstCodePoints } from '../text'
import type { PackEntry } from './candidate'
import { REPLACED_ENDS, REPLACES } from './sayings'
import { WEIGHTS } from './weights'

const { lookedAt, named: NAMED, beside: BESIDE } = WEIGHTS.anew.replacing

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
  const text = firstCodePoints(`${title ?? ''}\n${beginning}`, lookedAt)
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
