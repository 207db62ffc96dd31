import type { JsonValue, Metadata } from '../entry/metadata'
import { own } from '../entry/metadata'
import type { Analyzer } from '../search/analysis'
import { codePointLength, offsetAfter, offsetBefore } from '../text'

const shown = {
  /** Of a cut text, the share before the place that matched. */
  before: 0.2,
  /** A cut moves this far at most to stand between two words, in UTF-16 units; and over this share of the text, between sentences. */
  toASpace: 24,
  tail: 0.35,
  /** Hits that are checked. */
  hits: 400,
  /** Parts of a long text, at most, where the budget allows two sentences each; the weight of a word in a further part. */
  parts: 3,
  part: 200,
  saidBefore: 0.3,
} as const

/** What of a text is shown in a pack: all of it, or the part around what matched. */
const CUT = '…'

/** A text and where in it the goal is. */
export interface Passage {
  readonly text: string
  /** UTF-16 offsets of what matched, best first; one at least. */
  readonly at: readonly number[]
  /** The text is a part of a longer one, on this side. */
  readonly goesOn: { readonly before: boolean; readonly after: boolean }
}

export const wholeText = (text: string): Passage => ({ text, at: [0], goesOn: { before: false, after: false } })

/**
 * Where in a text the goal's words stand closest together, by how rare they are: the best place, then those that say most beside it, a part
 * away from each other; its beginning when none stands there.
 *
 * @param weights by term
 * @param room code points that are shown
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

/** Where a sentence or a line ends, with the white space behind it. */
const SENTENCE_END = /[.!?](?=\s)|\n/
const SENTENCE_ENDS = /[.!?](?=\s)|\n/g

/** The beginning of the first sentence that begins in a stretch; null when none does. */
function sentenceStart(text: string, from: number, to: number): number | null {
  const end = SENTENCE_END.exec(text.slice(from, to))
  if (end === null) return null
  const start = from + end.index + 1
  const white = /^\s+/.exec(text.slice(start, to))
  return start + (white?.[0].length ?? 0)
}

/** Behind the last sentence that ends in a stretch; null when none does. */
function sentenceEnd(text: string, from: number, to: number): number | null {
  let last: number | null = null
  for (const { index } of text.slice(from, to).matchAll(SENTENCE_ENDS)) last = from + index + 1
  return last
}

/** At most so many code points around what matched: whole sentences where there are any, else whole words. */
export function cutAround(passage: Passage, most: number): string {
  const { text, at, goesOn } = passage
  if (codePointLength(text) <= most) return `${goesOn.before ? CUT : ''}${text}${goesOn.after ? CUT : ''}`
  const places = at.slice(0, Math.max(1, Math.floor(most / shown.part))).sort((a, b) => a - b)
  const budget = Math.floor((most - places.length + 1) / places.length)
  return places.map((place) => part(passage, place, budget)).join('\n')
}

/** The part of a text around one place. */
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

/** Characters that a content takes of the JSON. */
export const sizeOf = (content: string): number => (content === '' ? 0 : JSON.stringify(content).length - 2)

const TRIES = 8

/** The largest cut of a text that takes no more characters of JSON; empty when there is hardly any. */
export function fitted(passage: Passage, most: number, budget: number): string {
  let wanted = Math.min(most, budget)
  // Two have room for a cut; less holds a text of one alone.
  for (let tries = 0; tries < TRIES && wanted >= Math.min(2, most); tries++) {
    const content = cutAround(passage, Math.floor(wanted))
    const fits = budget / Math.max(sizeOf(content), 1)
    if (fits >= 1) return content
    wanted = Math.min(wanted * fits * 0.98, wanted - 1)
  }
  return ''
}

/** What finished work has taught, where its metadata say so: a text, or a list of texts. */
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
