import type { Token } from '../search/analysis'
import type { ScoredTerm, TermStatistics } from '../search/score'
import { emptyWords } from './plain-words'

/** How much of a goal's words a text holds, on a scale that is the same for every goal. */
export interface GoalWords {
  readonly terms: readonly ScoredTerm[]
  /** Of the entries where the caller looks: how many there are, and how many hold each term. */
  readonly counted: Pick<TermStatistics, 'entries' | 'entriesWithTerm'>
  /** Of each term: how rare it is where the caller looks. */
  readonly weights: readonly number[]
  /** Of each term: it names what the goal is about, however many entries are about it. */
  readonly subject: readonly boolean[]
  /** The word of the goal that a term comes from. */
  readonly spelled: readonly string[]
  /** Of the words that some entry holds: how rare they are. */
  readonly known: readonly number[]
  /** Of each term: few entries hold it, and it is no common word. */
  readonly rare: readonly boolean[]
  /** 0 to 1: how much of what it says are codes. */
  readonly named: number
  /** 0 to 1: how much of what it says stands in some entry. */
  readonly familiar: number
  /** What a text holds that has as much of the goal as one text can be expected to. */
  readonly whole: number
}

/** A text that holds this many of the rarest words of a long goal holds all that one memory can. */
const EXPECTED = 7
/** Entries that a store is taken to have at least, so that rarity means something in a small one; of one that nobody has counted. */
const SMALLEST_STORE = 20
const UNCOUNTED = 1_000
/** Words from which a text begins to hold words by accident. */
const LONG = 150
const LENGTH_COST = 0.12
const LONGEST_COST = 1.4
/** What a title adds to the words that it holds. */
const IN_TITLE = 0.25

/** A number of a clock or a list, or a single letter, stands in many texts that have nothing to do with each other. */
const HARDLY_A_WORD = /^(?:\d{1,2}|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])$/u
const HARDLY = 0.15
/** What a word that is frequent in any prose says, beside a rare one; one that only holds a sentence together says nothing. */
const COMMON = 0.3

/** A word of a code (`BOOK` of `BOOK-410-HOLD`) says little without the rest of it. */
const PART_OF_CODE = 0.3

/** A word is rare that tells this share of what one tells which stands in one entry alone. */
const RARE = 0.5
/** Words that together tell less than this share of what the rarest one tells that some entry holds are there by accident. */
const FAR_RARER = 0.5
const ACCIDENT = 0.5

/**
 * Who holds every word that names what the goal is about has to do with it, also where all entries do, so that none of these words is
 * rare: in a store about one subject.
 */
const ALL_OF_SUBJECT = 0.45

/** Of the words that an entry holds, those are named that say this share of what the rarest says. */
const TELLING = 0.4

/** What the length of a text takes from the words that it holds. */
const longCost = (length: number): number =>
  Math.min(LONGEST_COST, 1 + LENGTH_COST * Math.log(Math.max(1, length / LONG)))

const sumOf = (weights: readonly number[]): number => weights.reduce((sum, weight) => sum + weight, 0)

const rarity = (df: number, entries: number): number => Math.log(1 + (entries - df + 0.5) / (df + 0.5))

/**
 * @param inScope entries that the caller's scope admits; null when nobody counted
 * @param common terms that are frequent in any prose
 * @param inCodes terms of the goal that stand in its codes and nowhere else
 */
export function goalWords(
  terms: readonly ScoredTerm[],
  { statistics, inScope }: { readonly statistics: TermStatistics | null; readonly inScope: number | null },
  query: Iterable<Token>,
  { common, inCodes }: { readonly common: ReadonlySet<string>; readonly inCodes: ReadonlySet<string> },
): GoalWords {
  const known = statistics?.entries || Math.max(inScope ?? UNCOUNTED, ...(statistics?.entriesWithTerm ?? []))
  const entries = Math.max(SMALLEST_STORE, known)
  const words = new Map<string, string>()
  for (const { term, word } of query) if (!words.has(term)) words.set(term, word)
  const empty = emptyWords([...words.values()])
  const shareOf = (term: string): number =>
    empty.has(words.get(term) ?? '') ? 0 : HARDLY_A_WORD.test(term) ? HARDLY : common.has(term) ? COMMON : 1
  const alone = terms.map(({ term }, i) => {
    const df = Math.min(statistics?.entriesWithTerm[i] ?? 0, entries)
    return rarity(Math.max(df, 1), entries) * shareOf(term)
  })
  const isInCode = terms.map(({ term }) => inCodes.has(term))
  const weights = alone.map((weight, i) => (isInCode[i] ? PART_OF_CODE * weight : weight))
  const heldBySome = weights.filter((_, i) => (statistics?.entriesWithTerm[i] ?? 1) > 0)
  const all = sumOf(weights)
  const strongest = [...weights].sort((a, b) => b - a).slice(0, EXPECTED)
  return {
    terms,
    counted: { entries, entriesWithTerm: terms.map((_, i) => statistics?.entriesWithTerm[i] ?? 0) },
    weights,
    known: heldBySome,
    named: all === 0 ? 0 : sumOf(alone.filter((_, i) => isInCode[i])) / sumOf(alone),
    familiar: all === 0 ? 1 : sumOf(heldBySome) / all,
    subject: terms.map(({ term }) => shareOf(term) === 1),
    rare: weights.map((weight) => weight >= RARE * rarity(1, entries)),
    spelled: terms.map(({ term }) => words.get(term) ?? term),
    whole: Math.max(rarity(1, entries), sumOf(strongest)),
  }
}

export interface WordEvidence {
  readonly share: number
  /** Those that tell something, rarest first. */
  readonly matched: readonly string[]
  /** All that say anything, by their places among the terms. */
  readonly held: readonly number[]
}

/**
 * @param inTitle,inText how often each term stands there
 * @param length content words of the text
 */
export function wordEvidence(
  { terms, weights, known, subject, spelled, whole }: GoalWords,
  inTitle: readonly number[],
  inText: readonly number[],
  length: number,
): WordEvidence {
  if (whole === 0) return { share: 0, matched: [], held: [] }
  let sum = 0
  const matched: number[] = []
  for (let i = 0; i < terms.length; i++) {
    const title = inTitle[i] as number
    const text = inText[i] as number
    if (title + text === 0 || weights[i] === 0) continue
    matched.push(i)
    sum += (weights[i] as number) * (1 + (title > 0 ? IN_TITLE : 0))
  }
  matched.sort((a, b) => (weights[b] as number) - (weights[a] as number) || a - b)
  const telling = matched.filter((i) => (weights[i] as number) >= TELLING * (weights[matched[0] as number] as number))
  const said = matched.reduce((all, i) => all + (weights[i] as number), 0)
  const byAccident = said < FAR_RARER * Math.max(...known)
  const holds = (i: number): boolean => (inTitle[i] as number) + (inText[i] as number) > 0
  const holdsSubject = subject.includes(true) && subject.every((named, i) => !named || holds(i))
  const told = Math.max(((byAccident ? ACCIDENT : 1) * sum) / whole, holdsSubject ? ALL_OF_SUBJECT : 0)
  return {
    share: Math.min(1, told / longCost(length)),
    held: matched,
    matched: [...new Set(telling.map((i) => spelled[i] as string))],
  }
}

/** Of a text that is longer than what is looked at: the share that the number of words which it holds somewhere makes likely. */
export function shareOfHeld({ known, whole }: GoalWords, held: number, length: number): number {
  if (whole === 0 || known.length === 0) return 0
  const mean = known.reduce((sum, weight) => sum + weight, 0) / known.length
  return Math.min(1, (held * mean) / whole / longCost(length))
}

/** By term, for finding the place where they stand together. */
export const weightsByTerm = ({ terms, weights }: GoalWords): ReadonlyMap<string, number> =>
  new Map(terms.map(({ term }, i) => [term, weights[i] as number]))
