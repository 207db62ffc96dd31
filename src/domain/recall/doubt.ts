import { doubtLevel, type Levels, meaningOf, shareOf } from './similarity'

/** Whether anything that is stored answers a question, told by absolute numbers: places in an order say nothing of it. */
export type Doubt = 'none' | 'doubtful' | 'nothing'

/** The first words of a doubtful answer, in packs and searches. */
export const NOTHING_FITS = 'Nothing clearly fits; the nearest are'

/** Words of a question in a scope. */
export interface FoundWords {
  readonly entries: number
  /** How many entries hold each word. */
  readonly holding: readonly number[]
  /** Places of words that entries hold by parts alone: they count half. */
  readonly partly?: readonly number[]
}

interface Signal {
  /** Of the most similar chunk; null when meaning was not searched. */
  readonly cosine: number | null
  readonly levels: Levels | null
  /** Null when words were not searched. */
  readonly words: FoundWords | null
}

/** Weight of the share of words that are found; the similarity has 1. */
const WORDS = 0.5
/** Without a model a question is doubtful where less of its words is found, by their rarity. */
const WORDS_ALONE = 0.5
/** Without any word that is found, a similarity below this share of that of usual answers finds nothing. */
const FLOOR = 0.5

function shareFound({ entries, holding, partly = [] }: FoundWords, found: readonly number[]): number {
  const share = shareOf(entries, holding)
  if (partly.length === 0) return share(found)
  return (share(found) + share(found.filter((place) => !partly.includes(place)))) / 2
}

/** The doubt about the best that was found, and a confidence from 0 to 1. */
export function doubtOf({ cosine, levels, words }: Signal): { readonly doubt: Doubt; readonly confidence: number } {
  const found = words === null ? [] : words.holding.flatMap((n, place) => (n > 0 ? [place] : []))
  const share = words === null ? null : shareFound(words, found)
  if (cosine === null || levels === null) {
    if (share === null) return { doubt: 'none', confidence: 1 }
    return { doubt: share === 0 ? 'nothing' : share < WORDS_ALONE ? 'doubtful' : 'none', confidence: share }
  }
  if (share === 0 && meaningOf(cosine, levels) < FLOOR) return { doubt: 'nothing', confidence: 0 }
  const signal = cosine + WORDS * (share ?? 1)
  const confidence = Math.max(0, Math.min(1, signal / (levels.answer + WORDS)))
  return { doubt: signal < doubtLevel(levels) ? 'doubtful' : 'none', confidence }
}
