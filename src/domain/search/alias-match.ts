import type { Analyzer } from './analysis'

/** A name that a text contains completely. */
export interface MatchedName {
  readonly name: string
  /** Indexes of the words of the text that are part of the name. */
  readonly said: readonly number[]
}

/** The words of a goal or a query, for finding names. */
interface NamingText {
  readonly terms: readonly string[]
  /** The folded word of each term. */
  readonly spelled: readonly string[]
  /** Number of entries with each term in the scope, and number of entries. */
  readonly holding: readonly number[]
  readonly entries: number
  /** Whether the word at an index is a function word. */
  readonly isEmpty: (place: number) => boolean
}

/** Minimum rarity of all words of a name, as a fraction of that of a word in only one entry. */
const TELLS = 0.3
/** Minimum number of entries for rarity, so that it works in a small store. */
const SMALLEST_STORE = 20
/** Words of at least this length can differ from a name by one typo, if they start alike and no entry contains them. */
const SLIP = { shortest: 4, same: 2 } as const

const rarity = (df: number, entries: number): number => Math.log(1 + (entries - df + 0.5) / (df + 0.5))

/** Whether two words differ by one letter: replaced, missing, added or swapped with its neighbor. */
function isOneTypo(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++
  let [endA, endB] = [a.length, b.length]
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--
    endB--
  }
  const [left, right] = [endA - start, endB - start]
  if (left <= 1 && right <= 1) return true
  return left === 2 && right === 2 && a[start] === b[start + 1] && a[start + 1] === b[start]
}

/** Edit distance with swaps of two words. Stops at `most` and returns one more. */
export function typoDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const changed = (last[j - 1] as number) + (isSame ? 0 : 1)
      let slips = Math.min(changed, (last[j] as number) + 1, (row[j - 1] as number) + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        slips = Math.min(slips, (before[j - 2] as number) + 1)
      row.push(slips)
    }
    if (Math.min(...row) > most) return most + 1
    ;[before, last] = [last, row]
  }
  return Math.min(last[b.length] as number, most + 1)
}

/**
 * Finds the aliases of entries that a text contains completely. Titles are not compared, because their words can also
 * be about other entries. A name counts by the rarity of its words; a word that no entry contains can be a typo of one.
 */
export function aliasMatcher({ terms, spelled, holding, entries, isEmpty }: NamingText, analyzer: Analyzer) {
  const places = new Map(terms.map((term, i) => [term, i]))
  const store = Math.max(SMALLEST_STORE, entries, ...holding)
  const tells = terms.map((_, i) => (isEmpty(i) ? 0 : rarity(Math.max(holding[i] as number, 1), store)))
  const unknown = spelled.flatMap((word, i) => (holding[i] === 0 && word.length >= SLIP.shortest ? [{ word, i }] : []))
  const slipOf = (word: string): number | undefined => {
    const start = word.slice(0, SLIP.same)
    return unknown.find((one) => one.word.startsWith(start) && isOneTypo(one.word, word))?.i
  }

  /** Null where the text does not contain the complete name, or the name is too common. */
  function heldName(name: string): MatchedName | null {
    const said = new Set<number>()
    let rarities = 0
    for (const { term, word, isStopWord } of analyzer.tokenize(name)) {
      if (isStopWord) continue
      const place = places.get(term) ?? slipOf(word)
      if (place === undefined) return null
      said.add(place)
      rarities += tells[place] as number
    }
    return said.size > 0 && rarities >= TELLS * rarity(1, store) ? { name, said: [...said] } : null
  }

  return (names: readonly string[]): readonly MatchedName[] =>
    terms.length === 0 ? [] : names.flatMap((name) => heldName(name) ?? [])
}
