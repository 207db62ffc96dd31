import type { Analyzer } from './analysis'

/** A name that a text holds whole. */
export interface HeldName {
  readonly name: string
  /** The words of the text that say it, by their places among its terms. */
  readonly said: readonly number[]
}

/** The words of a goal or a query, as far as names are found by them. */
interface NamingText {
  readonly terms: readonly string[]
  /** The word that each term comes from, folded. */
  readonly spelled: readonly string[]
  /** In how many entries each term stands, where the caller looks, of how many. */
  readonly holding: readonly number[]
  readonly entries: number
  /** Words that only hold sentences together, by their places. */
  readonly isEmpty: (place: number) => boolean
}

/** Together the words of a name tell this share of what a word tells that stands in one entry alone. */
const TELLS = 0.3
/** Entries that a store is taken to have at least, so that rarity means something in a small one. */
const SMALLEST_STORE = 20
/** One letter of a word that no entry holds may be a slip, in words of so many letters, which begin alike. */
const SLIP = { shortest: 4, same: 2 } as const

const rarity = (df: number, entries: number): number => Math.log(1 + (entries - df + 0.5) / (df + 0.5))

/** Whether two words differ by one letter that is another, missing, added or changed places with its neighbour. */
export function isOneSlip(a: string, b: string): boolean {
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

/**
 * How many letters of two words differ: are another, missing, added or changed places with their neighbor. Stops at `most`, and returns
 * one more.
 */
export function slipsBetween(a: string, b: string, most: number): number {
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
 * Which of some names a text holds whole. Names are what an entry is said to be called, its aliases: a title is a heading, and a word
 * that is the heading of one entry is as well what others are about. A name tells by how rare its words are where the caller looks; a word
 * that no entry holds may be a slip of the pen for one of a name.
 */
export function namesHeldBy({ terms, spelled, holding, entries, isEmpty }: NamingText, analyzer: Analyzer) {
  const places = new Map(terms.map((term, i) => [term, i]))
  const store = Math.max(SMALLEST_STORE, entries, ...holding)
  const tells = terms.map((_, i) => (isEmpty(i) ? 0 : rarity(Math.max(holding[i] as number, 1), store)))
  const unknown = spelled.flatMap((word, i) => (holding[i] === 0 && word.length >= SLIP.shortest ? [{ word, i }] : []))
  const slipOf = (word: string): number | undefined => {
    const start = word.slice(0, SLIP.same)
    return unknown.find((one) => one.word.startsWith(start) && isOneSlip(one.word, word))?.i
  }

  /** Null where the text does not hold all of it, or what it holds tells nothing. */
  function heldName(name: string): HeldName | null {
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

  return (names: readonly string[]): readonly HeldName[] =>
    terms.length === 0 ? [] : names.flatMap((name) => heldName(name) ?? [])
}
