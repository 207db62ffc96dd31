import { scheduler } from '../scheduler'
import type { Analyzer } from '../search/analysis'
import { firstCodePoints } from '../text'
import { isLater, type PackEntry } from './candidate'
import type { Opponents } from './links'
import { isNearDuplicate, type Shape, shapeOf } from './near-duplicates'
import type { Candidate, RankedGoal, RankingFeatures } from './rank-entries'
import { type Intent, sectionsOfIntent } from './sections'

/** Matches the words that introduce a replaced entry. */
const REPLACES =
  /(?<![\p{L}\d])(?:supersed(?:es?|ing)|replac(?:es?|ing)|ersetz(?:t|en)|remplace|sustituye|reemplaza)(?![\p{L}\d])/giu
/** The end of the replaced entry's name. */
const REPLACED_ENDS =
  /[.,;:!?\n]|(?<![\p{L}\d])(?:by|with|for|in|because|since|durch|mit|für|weil|par|avec|pour|por|con|para)(?![\p{L}\d])/iu
/**
 * Code points of a text that are searched, UTF-16 units after such a word, and extra words allowed in addition to the
 * name.
 */
const [LOOKED_AT, NAMED, BESIDE] = [1_000, 160, 2]

/**
 * Selects the entries of a pack. First: entries that a text says it replaces, such as "supersedes the rule Branch
 * names", "ersetzt [12]".
 */

/** The name after such a word. */
export interface Replaced {
  readonly named: string
  /** Its content words. */
  readonly words: ReadonlySet<string>
}

/** All entries that an entry says it replaces. */
function replacedIn(
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
 * Whether one of these names an entry: by its title, or by its ID in brackets or after `#`.
 * @param title content words of the title
 */
export const isReplaced = (replaced: readonly Replaced[], id: number, title: ReadonlySet<string>): boolean =>
  replaced.some(({ named, words }) => {
    if (named.includes(`[${id}]`) || named.split(/\s/).includes(`#${id}`)) return true
    return title.size > 0 && words.size <= title.size + BESIDE && [...title].every((word) => words.has(word))
  })

/** The entries that a pack shows (packs contract): ranked entries down to half of the first score. */
export interface Selection {
  /** Best first. */
  readonly chosen: readonly Candidate[]
  /** Shown regardless of the goal: work in flight and diary pages. */
  readonly anyway: ReadonlySet<Candidate>
  /** Entries that repeat a chosen one. */
  readonly duplicates: readonly Candidate[]
  /** Good entries beyond the limit. */
  readonly beyond: readonly Candidate[]
  readonly superseded: readonly Candidate[]
  /** Everything that was found, best first, with its score. */
  readonly ranked: readonly Candidate[]
  /** By the ID of a duplicate: the chosen entry that it repeats. */
  readonly repeats: ReadonlyMap<number, number>
  /** Places of the list, and how many of them a doubtful list leaves empty. */
  readonly places: { readonly list: number; readonly withheld: number }
}

/** Minimum fraction of the first entry's key. */
const CUT = 0.5
/** Maximum number of entries for a doubtful goal. */
const DOUBTFUL = 5
/** Fraction and maximum number of places for work in flight that the goal does not name. */
const IN_FLIGHT = { share: 0.25, most: 3 } as const
/** Maximum number of entries that are compared with each other. */
const COMPARED = 100

interface Wanted {
  readonly limit: number
  readonly intent: Intent
}

interface By {
  readonly links: { readonly opponents: Opponents; readonly successors: ReadonlyMap<number, readonly number[]> }
  readonly analyzer: Analyzer
}

const withEvidence = (one: Candidate, more: Partial<RankingFeatures>): Candidate => ({
  ...one,
  evidence: { ...one.evidence, ...more },
})

/** Sorts by key; the intent, then the newer ID, break ties. */
function ordered(candidates: readonly Candidate[], intent: Intent): Candidate[] {
  const facets = sectionsOfIntent(intent)
  const place = ({ facet }: Candidate): number => (facets.includes(facet) ? facets.indexOf(facet) : facets.length)
  return [...candidates].sort((a, b) => b.key - a.key || place(a) - place(b) || b.entry.id - a.entry.id)
}

/** Raises the successor of an entry to at least the key of that entry. */
function withSuccessors(candidates: readonly Candidate[], successors: By['links']['successors']): Candidate[] {
  const byId = new Map(candidates.map((one) => [one.entry.id, one]))
  const raise = (id: number, seen: ReadonlySet<number>): void => {
    const one = byId.get(id) as Candidate
    for (const next of successors.get(id) ?? []) {
      const other = byId.get(next)
      if (other === undefined || seen.has(next)) continue
      if (other.key < one.key)
        byId.set(next, withEvidence({ ...other, key: one.key }, { via: { id, relation: 'supersedes' } }))
      raise(next, new Set([...seen, next]))
    }
  }
  for (const { entry } of candidates) if (entry.superseded) raise(entry.id, new Set([entry.id]))
  return [...byId.values()]
}

/** Puts entries first whose title or alias the goal contains. */
function namedFirst(candidates: readonly Candidate[]): Candidate[] {
  const highest = Math.max(0, ...candidates.map(({ key }) => key))
  return candidates.map((one) => (isNamed(one) ? { ...one, key: highest + one.key / (highest + 1) } : one))
}

/** Moves an entry behind a later one of its project that says it replaces it. */
function replacedLast(candidates: readonly Candidate[], analyzer: Analyzer): Candidate[] {
  const wordsOf = (text: string): ReadonlySet<string> =>
    new Set(analyzer.tokenize(text).flatMap(({ term, isStopWord }) => (isStopWord ? [] : [term])))
  const replacing = candidates.flatMap((one): { readonly one: Candidate; readonly replaced: readonly Replaced[] }[] => {
    const replaced = replacedIn(one.entry, wordsOf)
    return replaced.length === 0 ? [] : [{ one, replaced }]
  })
  if (replacing.length === 0) return [...candidates]
  return candidates.map((older) => {
    const title = wordsOf(older.entry.title ?? '')
    const newer = replacing.find(
      ({ one, replaced }) =>
        isLater(one.entry, older.entry) &&
        one.entry.project === older.entry.project &&
        isReplaced(replaced, older.entry.id, title),
    )?.one
    if (newer === undefined) return older
    return withEvidence({ ...older, key: Math.min(older.key, newer.key) }, { replacedBy: newer.entry.id })
  })
}

/**
 * Removes near-duplicates, except for entries that contradict each other. Of two in one project the later one remains,
 * at the place of the better one, because it contains what changed.
 */
async function distinctOf(list: readonly Candidate[], { links, analyzer }: By) {
  const distinct: { readonly one: Candidate; readonly shape: Shape }[] = []
  const duplicates: Candidate[] = []
  const repeats = new Map<number, number>()
  for (const one of list) {
    const shape = shapeOf(`${one.entry.title ?? ''}\n${one.entry.beginning}`, analyzer)
    const same = distinct.findIndex(
      (other) => isNearDuplicate(shape, other.shape) && !links.opponents(one.entry.id).has(other.one.entry.id),
    )
    const better = distinct[same]?.one
    if (better === undefined) distinct.push({ one, shape })
    else if (isNamed(better) || one.entry.project !== better.entry.project || !isLater(one.entry, better.entry)) {
      duplicates.push(one)
      repeats.set(one.entry.id, better.entry.id)
    } else {
      distinct[same] = { one: { ...one, key: better.key, score: better.score }, shape }
      duplicates.push(better)
      repeats.set(better.entry.id, one.entry.id)
    }
    await scheduler.tick(shape.text.length * distinct.length)
  }
  return { distinct: distinct.map(({ one }) => one), duplicates, repeats }
}

const isNamed = ({ evidence }: Candidate): boolean => evidence.titled || evidence.called.length > 0

const standsAnyway = ({ evidence }: Candidate): boolean => evidence.inProgress || evidence.diary || evidence.newest

/** Selects the entries of a pack. */
export async function selectEntries(ranked: RankedGoal, { limit, intent }: Wanted, by: By): Promise<Selection> {
  const { opponents, successors } = by.links
  const candidates = namedFirst(withSuccessors(ranked.candidates, successors))
  const first = Math.max(0, ...candidates.flatMap(({ entry, key }) => (entry.superseded ? [] : [key])))
  const isGood = ({ key }: Candidate): boolean => ranked.doubt !== 'nothing' && key > 0 && key >= CUT * first
  const score = (one: Candidate): Candidate => ({
    ...one,
    score: first === 0 ? 0 : Math.min(1, ranked.confidence * Math.min(1, one.key / first)),
  })
  const scored = ordered(candidates, intent).map(score)
  const good = scored.filter((one) => isGood(one) && !one.entry.superseded)
  const listed = ordered(replacedLast(good.slice(0, COMPARED), by.analyzer), intent)
  const { distinct, duplicates, repeats } = await distinctOf(listed, by)

  const byId = new Map(scored.map((one) => [one.entry.id, one]))
  const known = new Set(listed.map(({ entry }) => entry.id))
  const aside = scored.filter((one) => standsAnyway(one) && !one.entry.superseded && !known.has(one.entry.id))
  const inFlight = limit === 1 ? 0 : Math.min(IN_FLIGHT.most, Math.floor(limit * IN_FLIGHT.share))
  const pages = aside.filter(({ evidence }) => evidence.diary)
  const works = aside.filter(({ evidence }) => evidence.inProgress && !evidence.diary)
  // At most half of the places, so that the rest are for the goal.
  const newest = aside.filter(({ evidence }) => evidence.newest && !evidence.diary && !evidence.inProgress)
  const anyway = [...pages, ...works.slice(0, inFlight), ...newest.slice(0, Math.floor(limit / 2))].slice(0, limit)
  const free = limit - anyway.length
  const places = Math.min(free, ranked.doubt === 'doubtful' ? DOUBTFUL : limit)

  const chosen = new Map<number, Candidate>()
  const take = (one: Candidate): void => {
    if (chosen.size >= places || chosen.has(one.entry.id)) return
    chosen.set(one.entry.id, one)
    for (const id of opponents(one.entry.id)) {
      const other = byId.get(id)
      if (other !== undefined && !other.entry.superseded && !chosen.has(id))
        take(isGood(other) ? other : withEvidence(other, { via: { id: one.entry.id, relation: 'contradicts' } }))
    }
  }
  for (const one of distinct) take(one)
  return {
    chosen: [...chosen.values(), ...anyway.filter(({ entry }) => !chosen.has(entry.id))],
    anyway: new Set(anyway),
    duplicates,
    beyond: [
      ...distinct.filter(({ entry }) => !chosen.has(entry.id)),
      ...works.slice(inFlight),
      ...good.slice(COMPARED),
    ],
    superseded: scored.filter((one) => one.entry.superseded && isGood(one)),
    ranked: scored,
    repeats,
    places: { list: places, withheld: free - places },
  }
}
