import { ces, dan, deu, eng, fin, fra, hrv, ita, nld, nob, pol, por, rus, spa, swe, tur } from 'stopword'
import { KINDS } from '../entry/kind'
import { type Analyzer, fold } from '../search/analysis'
import { COMMON_WORDS } from '../search/common-words'
import { codesIn } from './identifiers'
import { INTENTS } from './intents'

/** Words of a goal that say little about what it is about. */
const LISTS = [eng, deu, fra, spa, ita, por, nld, swe, dan, nob, fin, pol, ces, hrv, rus, tur]
/** Words of a language that a goal has to have before it is taken to be written in it: `die` and `man` are English too. */
const ENOUGH = 2

let folded: readonly ReadonlySet<string>[] | null = null
const lists = (): readonly ReadonlySet<string>[] => {
  folded ??= LISTS.map((list) => new Set(list.map(fold)))
  return folded
}

/**
 * Those of a goal's words that hold sentences together in the language that it is written in: the one with most of them, English
 * where none has two.
 *
 * @param words folded
 */
export function emptyWords(words: readonly string[]): ReadonlySet<string> {
  let [best, most] = [lists()[0] as ReadonlySet<string>, ENOUGH - 1]
  for (const list of lists()) {
    const held = words.filter((word) => list.has(word)).length
    if (held > most) [best, most] = [list, held]
  }
  return new Set(words.filter((word) => best.has(word)))
}

const common = new WeakMap<Analyzer, ReadonlySet<string>>()

/**
 * Terms that are frequent in any prose and in talk about software, and what memories and goals are called: whoever asks for the plan of a
 * tour looks for the tour. Read once for each analyzer.
 */
export function commonTerms(analyzer: Analyzer): ReadonlySet<string> {
  const known = common.get(analyzer)
  if (known !== undefined) return known
  const terms = new Set(analyzer.tokenize([COMMON_WORDS, ...KINDS, ...INTENTS].join(' ')).map(({ term }) => term))
  common.set(analyzer, terms)
  return terms
}

/** Terms that stand in the codes of a goal and nowhere else in it. */
export function termsInCodes(goal: string, analyzer: Analyzer): ReadonlySet<string> {
  const codes = codesIn(goal)
  if (codes.length === 0) return new Set()
  const termsOf = (text: string): string[] => analyzer.tokenize(text).map(({ term }) => term)
  const beside = new Set(termsOf(codes.reduce((text, code) => text.replaceAll(code, ' '), goal)))
  return new Set(termsOf(codes.join(' ')).filter((term) => !beside.has(term)))
}
