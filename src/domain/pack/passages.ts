import { type JsonValue, type Metadata, own } from '../entry/metadata'
import type { Analyzer } from '../search/analysis'
import { codePointLength, offsetAfter, offsetBefore } from '../text'

const shown = {
  /** Fraction of a cut text before the match. */
  before: 0.2,
  /**
   * Maximum distance in UTF-16 units that a cut moves to a space, and fraction of the text for a cut between sentences.
   */
  toASpace: 24,
  tail: 0.35,
  /** Maximum number of hits that are checked. */
  hits: 400,
  /** Maximum parts of a long text, minimum size of a part, and weight of a word that an earlier part contains. */
  parts: 3,
  part: 200,
  saidBefore: 0.3,
} as const

/** Selects the part of a text that a pack shows: all of it, or the parts around matches. */
const CUT = '…'

/** A text and the positions of matches in it. */
export interface Passage {
  readonly text: string
  /** UTF-16 offsets of the matches, best first; at least one. */
  readonly at: readonly number[]
  /** Whether the text is a part of a longer one, on each side. */
  readonly goesOn: { readonly before: boolean; readonly after: boolean }
}

export const completePassage = (text: string): Passage => ({ text, at: [0], goesOn: { before: false, after: false } })

/**
 * Finds the densest groups of goal words in a text, weighted by rarity: the best position, then others with further
 * words. The start of the text without a match.
 * @param weights weight by term
 * @param budget code points that are shown
 */
export function bestPlaces(
  text: string,
  weights: ReadonlyMap<string, number>,
  analyzer: Analyzer,
  budget: number,
): number[] {
  const hits: { readonly term: string; readonly start: number }[] = []
  for (const { term, start } of analyzer.tokens(text)) {
    if (weights.has(term)) hits.push({ term, start })
    if (hits.length === shown.hits) break
  }
  const parts = Math.max(1, Math.min(shown.parts, Math.floor(budget / shown.part)))
  const window = (budget / parts) * (1 - shown.before)
  const remaining = new Map(weights)
  const places: number[] = []
  while (places.length < parts) {
    let best = { start: 0, worth: 0, terms: new Set<string>() }
    for (const [i, { start }] of hits.entries()) {
      if (places.some((place) => Math.abs(place - start) < budget / parts)) continue
      const terms = new Set<string>()
      for (let j = i; j < hits.length && (hits[j]?.start as number) < start + window; j++)
        terms.add(hits[j]?.term as string)
      let worth = 0
      for (const term of terms) worth += remaining.get(term) as number
      if (worth > best.worth + 1e-9) best = { start, worth, terms }
    }
    if (best.worth === 0) break
    places.push(best.start)
    for (const term of best.terms) remaining.set(term, shown.saidBefore * (remaining.get(term) as number))
  }
  return places.length === 0 ? [0] : places
}

/** The end of a sentence or line. */
const SENTENCE_END = /[.!?](?=\s)|\n/
const SENTENCE_ENDS = /[.!?](?=\s)|\n/g

/** The start of the first sentence in a range; null without one. */
function sentenceStart(text: string, from: number, to: number): number | null {
  const end = SENTENCE_END.exec(text.slice(from, to))
  if (end === null) return null
  const start = from + end.index + 1
  const white = /^\s+/.exec(text.slice(start, to))
  return start + (white?.[0].length ?? 0)
}

/** The offset after the last sentence in a range; null without one. */
function sentenceEnd(text: string, from: number, to: number): number | null {
  let last: number | null = null
  for (const { index } of text.slice(from, to).matchAll(SENTENCE_ENDS)) last = from + index + 1
  return last
}

/** At most `most` code points around the matches: complete sentences if possible, else complete words. */
export function cutAround(passage: Passage, most: number): string {
  const { text, at, goesOn } = passage
  if (codePointLength(text) <= most) return `${goesOn.before ? CUT : ''}${text}${goesOn.after ? CUT : ''}`
  const places = at.slice(0, Math.max(1, Math.floor(most / shown.part))).sort((a, b) => a - b)
  const budget = Math.floor((most - places.length + 1) / places.length)
  return places.map((place) => part(passage, place, budget)).join('\n')
}

/** The part of a text around one match. */
function part({ text, goesOn }: Passage, at: number, most: number): string {
  const budget = Math.max(0, most - 2)
  let from = offsetBefore(text, at, Math.floor(budget * shown.before))
  let to = offsetAfter(text, from, budget)
  if (to === text.length) from = offsetBefore(text, to, budget)
  if (from > 0) {
    const space = text.indexOf(' ', from)
    const word = space >= 0 && space < Math.min(at, from + shown.toASpace) ? space + 1 : from
    from = sentenceStart(text, from, Math.min(at, from + Math.floor((to - from) * shown.tail))) ?? word
  }
  if (to < text.length) {
    const space = text.lastIndexOf(' ', to)
    const word = space > to - shown.toASpace && space > from ? space : to
    to = sentenceEnd(text, Math.max(at, to - Math.floor((to - from) * shown.tail)), to) ?? word
  }
  const before = from > 0 || goesOn.before
  const after = to < text.length || goesOn.after
  return `${before ? CUT : ''}${text.slice(from, to)}${after ? CUT : ''}`
}

/** Characters of a content in JSON. */
export const sizeOf = (content: string): number => (content === '' ? 0 : JSON.stringify(content).length - 2)

const TRIES = 8

/** The largest cut of a text whose JSON fits into the budget; empty when there is hardly any budget. */
export function fitToBudget(passage: Passage, most: number, budget: number): string {
  let wanted = Math.min(most, budget)
  // A budget of two fits a cut; a smaller one only a text of one character.
  for (let tries = 0; tries < TRIES && wanted >= Math.min(2, most); tries++) {
    const content = cutAround(passage, Math.floor(wanted))
    const fits = budget / Math.max(sizeOf(content), 1)
    if (fits >= 1) return content
    wanted = Math.min(wanted * fits * 0.98, wanted - 1)
  }
  return ''
}

/** The learnings of finished work, from its metadata: a text, or a list of texts. */
export function learningsOf(metadata: Metadata | null): string | null {
  const value = own(metadata, 'learnings')
  const texts = (Array.isArray(value) ? value : [value]).filter(
    (one: JsonValue | undefined): one is string => typeof one === 'string' && one.trim() !== '',
  )
  return texts.length === 0
    ? null
    : texts.length === 1
      ? (texts[0] as string)
      : texts.map((one) => `- ${one}`).join('\n')
}
