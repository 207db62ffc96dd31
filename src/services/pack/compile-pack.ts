import { type LaterFirst, type Listed, laterFirst, laterWords } from '../../domain/currency/later-first'
import { hasSubject, subjectOf } from '../../domain/currency/subject'
import { hasEnded } from '../../domain/currency/validity'
import { isWork } from '../../domain/entry/work'
import { type Caller, homesOf } from '../../domain/identity/scope'
import { omittedEntries, type Planned, packNotes, plan, remainingSize } from '../../domain/pack/budget'
import type { PackLink } from '../../domain/pack/candidate'
import { itemOf, minimalItem } from '../../domain/pack/item'
import { opponentsIn, successorsIn, withRelated } from '../../domain/pack/links'
import { packMarkdown } from '../../domain/pack/markdown'
import type { OmissionReason, Omitted, OmittedEntry, Pack, PackItem, PackSection } from '../../domain/pack/pack'
import { CONTENT, DEPTHS, type PackArguments, type PackRequest, readPackRequest } from '../../domain/pack/pack-request'
import { bestPlaces, completePassage, fitToBudget, learningsOf, type Passage } from '../../domain/pack/passages'
import { type Candidate, type RankedGoal, rankEntries } from '../../domain/pack/rank-entries'
import { SECTION_NAMES, SECTION_TITLES, sectionsOfIntent } from '../../domain/pack/sections'
import { type Selection, selectEntries } from '../../domain/pack/select-entries'
import { NOTHING_FITS } from '../../domain/recall/answer-confidence'
import { scheduler } from '../../domain/scheduler'
import type { Analyzer } from '../../domain/search/analysis'
import { codePointLength } from '../../domain/text'
import type { Clock } from '../../ports/clock'
import type { Finished, PackReads, PackScope, RequestedRange } from '../../ports/packs'
import type { Disagreements, FindDisagreements } from '../currency/disagreements'
import type { CatchUp } from '../maintenance/sync-vectors'
import { didYouMean } from '../searching/ranked/suggest-words'
import type { FindCandidates } from './find-candidates'

interface Piece {
  readonly chosen: Candidate
  readonly item: PackItem
  readonly passage: Passage
  /** Maximum code points of its content. */
  readonly most: number
  /** The text range that is still to be read. */
  readonly stretch: RequestedRange | null
}

const HINTS = {
  wake: 'Start from this pack; call context with layer recall for the working set of one goal.',
  recall: 'Work from this pack; store what you learn with remember, and call context with layer deep_search for more.',
  deep_search: 'Work from this pack; search for what is missing, and store what you learn with remember.',
  doubtful: `${NOTHING_FITS} in this pack: search before you treat it as unknown, and remember what you learn.`,
  nothing:
    'Nothing here is clearly about the goal: search before you treat it as unknown, and remember what you learn.',
} as const

/** End of the hint if a text is shown in part. */
const REST = '; read_context_range reads the rest of items with total_chars.'
const isPart = ({ metadata }: PackItem): boolean => metadata.total_chars !== undefined

/** Builds the usage hint: how to use the pack, how to read more, and which words may be meant. */
function hintOf(hint: string, sections: readonly PackSection[], meant: string | null): string {
  const full = sections.some(({ items }) => items.some(isPart)) ? `${hint.slice(0, -1)}${REST}` : hint
  return meant === null ? full : `${full.slice(0, -1)}; ${meant}`
}

/** Code points of open work that is shown whatever the goal is. */
const ANYWAY = 160
/** Code points that are read of a long text. */
const STRETCH = 1_500

/** Cost of comparing two memories, in characters for the scheduler. */
const WORK_OF_PAIR = 100

/** A pack, its text for prompts, and the entries that were found but left out. */
export interface Compiled {
  readonly pack: Pack
  /** The pack as Markdown with contents. */
  readonly text: string
  readonly leftOut: readonly OmittedEntry[]
  /** Returns the outcome for one entry. */
  readonly trace: (id: number) => PackTrace
}

/** The outcome for one entry in a pack: shown, or why it is not. */
export interface PackTrace {
  /** `absent`: no retriever found it, or it has ended. */
  readonly outcome: 'shown' | OmissionReason | 'cut' | 'doubt' | 'absent'
  /** Its place in the ranking, from 1; null where it is absent. */
  readonly place: number | null
  /** 0 to 1. */
  readonly score: number
  readonly best: ScoredPlace | null
  /** The last one that the goal, and not its state, brought into the pack. */
  readonly last: ScoredPlace | null
  /** The entry that it repeats. */
  readonly repeats: number | null
}

export interface ScoredPlace {
  readonly id: number
  readonly place: number
  readonly score: number
}

export type CompilePack = ReturnType<typeof createCompilePack>
/** Returns only the pack, for agents. */
export type ContextOf = (caller: Caller, given: PackArguments) => Promise<Pack>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createCompilePack({
  reads,
  findCandidates,
  analyzer,
  clock,
  findDisagreements,
  unfinished = async () => [],
  isApproved = false,
}: {
  readonly reads: PackReads
  readonly findCandidates: FindCandidates
  readonly analyzer: Analyzer
  readonly clock: Clock
  readonly findDisagreements: FindDisagreements
  /** Warnings while vectors are pending. */
  readonly unfinished?: CatchUp['warnings']
  /** Whether only entries count whose current version a person has approved. */
  readonly isApproved?: boolean
}) {
  /** Returns the rarest word of the goal that an entry contains after its preview. */
  function unseenWord({ entry, evidence }: Candidate): string {
    const seen = new Set<string>()
    analyzer.eachWord(entry.beginning, ({ word }) => seen.add(word))
    return evidence.matched.find((word) => !seen.has(word)) ?? ''
  }

  /** Returns the passage of an entry to show, or the range to read. */
  function passageOf(chosen: Candidate, ranked: RankedGoal, most: number): Pick<Piece, 'passage' | 'stretch'> {
    const { entry, nearest, evidence } = chosen
    const learnings = learningsIn(chosen)
    if (learnings !== null) return { passage: completePassage(learnings), stretch: null }
    const atHand = codePointLength(entry.beginning)
    const isBehind = evidence.matched.length === 0 && nearest !== null && nearest.start >= atHand
    if (entry.chars > atHand && (evidence.beyond || isBehind)) {
      const length = Math.min(STRETCH, entry.chars)
      const word = evidence.beyond ? unseenWord(chosen) : ''
      const stretch = { id: entry.id, start: nearest === null ? 0 : nearest.start, length, word }
      return { passage: completePassage('x'.repeat(Math.min(most, length))), stretch }
    }
    const at = atHand <= most ? [0] : bestPlaces(entry.beginning, ranked.rarity, analyzer, most)
    const goesOn = { before: false, after: entry.chars > atHand }
    return { passage: { text: entry.beginning, at, goesOn }, stretch: null }
  }

  const passageRead = (
    { passage, stretch, chosen, most }: Piece,
    { rarity }: RankedGoal,
    { ranges: stretches }: Finished,
  ): Passage => {
    if (stretch === null) return passage
    const { start, text } = stretches.get(stretch.id) ?? { start: 0, text: '' }
    const after = start + codePointLength(text) < chosen.entry.chars
    return { text, at: bestPlaces(text, rarity, analyzer, most), goesOn: { before: start > 0, after } }
  }

  /** Converts a candidate for the list in which the later of two entries on one subject comes first. */
  const listedOf = ({ entry, evidence, score }: Candidate): Listed => ({
    ...{ ...entry, score },
    subject: hasSubject(entry) && !entry.diary ? subjectOf(entry.title, entry.beginning, analyzer) : null,
    isNamed: evidence.titled || evidence.called.length > 0,
  })

  /** Compiles a pack: finds, ranks and chooses entries, and reads the rest of their texts. */
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
  async function compile(caller: Caller, given: PackArguments): Promise<Compiled> {
    const request = readPackRequest(caller, given)
    const homes = request.project === null ? [] : homesOf(caller, request.project)
    const sight: PackScope = {
      scope: request.project === null ? caller : { ...caller, projects: homes },
      diaryOf: request.agentId,
      isApproved,
    }
    const depth = DEPTHS[request.layer]
    const found = await findCandidates(sight, request)
    const present = found.entries.filter(
      (entry) =>
        (entry.status !== 'archived' || !isWork(entry.kind)) &&
        request.admits(entry) &&
        !hasEnded(entry.metadata, request.asOf ?? clock.now()),
    )
    const by = { analyzer }
    const ranked = await rankEntries(present, found, request, by)
    const links = { opponents: opponentsIn(found.links), successors: successorsIn(found.links) }
    const selection = await selectEntries(ranked, request, { links, ...by })
    const { chosen, anyway } = selection
    const { order, later } = laterFirst(chosen.map(listedOf))
    const shown = chosen.map(({ entry }) => entry)
    const judged = await findDisagreements(
      sight.scope,
      shown.map(({ id }) => id),
    )
    const otherwise = judged(shown)
    await scheduler.tick(chosen.length * chosen.length * WORK_OF_PAIR)
    const pieces = chosen.map((one): Piece => {
      const most = anyway.has(one) && !one.evidence.diary ? ANYWAY : CONTENT
      const item = withLater(itemOf(one), later.get(one.entry.id), otherwise.get(one.entry.id))
      return { chosen: one, item, most, ...passageOf(one, ranked, most) }
    })
    const planned = plan(pieces, request.maxJson, depth.ofSection)
    const isEmpty = chosen.every((one) => anyway.has(one))
    const omitted: Omitted = {
      limit: selection.beyond.length,
      budget: pieces.length - planned.length,
      duplicate: selection.duplicates.length,
      superseded: selection.superseded.length,
    }
    const meant = isEmpty || ranked.doubt !== 'none' ? didYouMean(found.suggestions) : null
    const finished = await reads.finish(caller, sight, {
      ids: planned.map(({ one }) => one.chosen.entry.id),
      ranges: planned.flatMap(({ one }) => (one.stretch === null ? [] : [one.stretch])),
      related: request.relatedLimit,
      steps: depth.steps,
      detail: {
        intent: request.intent,
        layer: request.layer,
        items: planned.length,
        ...(request.project === null ? {} : { project: request.project }),
      },
    })
    const ids = order.map((place) => chosen[place]?.entry.id as number)
    const byOrder = planned.toSorted((a, b) => ids.indexOf(idOf(a)) - ids.indexOf(idOf(b)))
    const sections = sectionsOf(byOrder, finished, ranked, { ...request, later, otherwise })
    const late = await unfinished(sight.scope, ['vectors'])
    const said = [
      ...packNotes(present, { ...request, homes }, { doubt: ranked.doubt, isEmpty, degraded: found.degraded }),
      ...(meant === null ? [] : [`No entry contains some words of the goal; ${meant}`]),
      ...late,
    ]
    const described = { ...request, sections, said }
    const hint = isEmpty ? 'nothing' : ranked.doubt === 'doubtful' ? 'doubtful' : request.layer
    const pack: Pack = {
      ...{ goal: request.goal, intent: request.intent, query: request.query },
      ...{ domain: request.domain, project: request.project, layer: request.layer },
      sections,
      total_items: planned.length,
      usage_hint: hintOf(HINTS[hint], sections, meant),
      markdown: packMarkdown(described, omitted, request.maxMarkdown),
      diagnostics: { degraded: found.degraded, modes: found.modes, omitted },
    }
    const fitting = new Set(planned.map(({ one }) => one))
    return {
      pack,
      text: packMarkdown(described, omitted, request.maxMarkdown, true),
      leftOut: [
        ...omittedEntries(
          'budget',
          pieces.filter((one) => !fitting.has(one)).map(({ chosen: one }) => one),
        ),
        ...omittedEntries('limit', selection.beyond),
        ...omittedEntries('duplicate', selection.duplicates),
        ...omittedEntries('superseded', selection.superseded),
        ...omittedEntries('cut', belowCut(selection)),
      ],
      trace: (id) => traceOf(id, selection, new Set(planned.map(idOf)), ranked.doubt === 'nothing'),
    }
  }

  /** Builds items with contents and linked entries, grouped into sections. */
  function sectionsOf(
    planned: readonly Planned<Piece>[],
    finished: Finished,
    ranked: RankedGoal,
    request: PackRequest & { readonly later: LaterFirst['later']; readonly otherwise: Disagreements },
  ): PackSection[] {
    const present = new Set(planned.map(idOf))
    const items = planned.map((given) => {
      const { one } = given
      const { entry } = one.chosen
      const { supersedes, contradicts } = finished
      const linked = itemOf(one.chosen, targets(supersedes, entry.id), opponents(contradicts, entry.id))
      const among = (ids: readonly number[] = []) => ids.filter((id) => present.has(id))
      const whole = withLater(linked, among(request.later.get(entry.id)), among(request.otherwise.get(entry.id)))
      const plain = given.bare ? minimalItem(whole) : whole
      const passage = passageRead(one, ranked, finished)
      const isCut = learningsIn(one.chosen) === null && entry.chars > one.most
      const item = isCut ? { ...plain, metadata: { ...plain.metadata, total_chars: entry.chars } } : plain
      return { ...item, content: fitToBudget(passage, one.most, remainingSize(given, item)) }
    })
    const standing = planned.filter(({ one }) => one.chosen.evidence.inProgress || one.chosen.evidence.diary)
    const inFlight = new Set(standing.map(({ one }) => one.item.id))
    const followed = { most: request.relatedLimit, steps: DEPTHS[request.layer].steps }
    return inSections(withRelated(items, finished.neighbors, followed, request.maxJson), request, inFlight)
  }

  return compile
}

const idOf = ({ one }: Planned<Piece>): number => one.chosen.entry.id

/** Results that are in no other list: their scores are below half of the best. */
function belowCut({ ranked, chosen, duplicates, beyond, superseded }: Selection): Candidate[] {
  const known = new Set([...chosen, ...duplicates, ...beyond, ...superseded].map(({ entry }) => entry.id))
  return ranked.filter(({ entry, score }) => score > 0 && !entry.superseded && !known.has(entry.id))
}

/** The outcome for one entry after the selection and the token budget. */
function traceOf(id: number, selection: Selection, shown: ReadonlySet<number>, isNothing: boolean): PackTrace {
  const { chosen, anyway, beyond, duplicates, repeats, places } = selection
  const list = selection.ranked.filter(({ entry }) => !entry.superseded || entry.id === id)
  const placeOf = ({ entry, score }: Candidate): ScoredPlace => ({
    ...{ id: entry.id, score },
    place: list.findIndex((one) => one.entry.id === entry.id) + 1,
  })
  const own = list.find(({ entry }) => entry.id === id)
  const isOwn = ({ entry }: Candidate): boolean => entry.id === id
  const best = list.find(({ entry }) => entry.id !== id)
  const listed = chosen.filter((one) => !anyway.has(one) && shown.has(one.entry.id))
  const last = listed.toSorted((a, b) => b.score - a.score).at(-1)
  const outcome = (): PackTrace['outcome'] => {
    if (shown.has(id)) return 'shown'
    if (own === undefined) return 'absent'
    if (own.entry.superseded) return 'superseded'
    if (chosen.some(isOwn)) return 'budget'
    if (duplicates.some(isOwn)) return 'duplicate'
    const behind = beyond.findIndex(isOwn)
    if (behind >= 0) return behind < places.withheld ? 'doubt' : 'limit'
    return isNothing ? 'doubt' : 'cut'
  }
  return {
    outcome: outcome(),
    place: own === undefined ? null : placeOf(own).place,
    score: own?.score ?? 0,
    best: best === undefined ? null : placeOf(best),
    last: last === undefined ? null : placeOf(last),
    repeats: repeats.get(id) ?? null,
  }
}

/** Adds the IDs of later memories on the subject to an item. */
function withLater(item: PackItem, later: readonly number[] = [], otherwise: readonly number[] = []): PackItem {
  const words = laterWords(later, otherwise)
  return words === '' ? item : { ...item, reason: `${item.reason}; ${words}` }
}

/** Returns the learnings in a completed task, if it has any. */
const learningsIn = ({ entry, facet }: Candidate): string | null =>
  facet === 'prior_art' ? learningsOf(entry.metadata) : null

const targets = (links: readonly PackLink[], id: number): number[] =>
  links.filter(({ from }) => from === id).map(({ to }) => to)

const opponents = (links: readonly PackLink[], id: number): number[] => [
  ...new Set(links.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []))),
]

/**
 * Groups items into sections, ordered by the best item of each; the intent breaks ties.
 *
 * In a section, open work and diary pages come first.
 */
function inSections(items: readonly PackItem[], { intent }: PackRequest, inFlight: ReadonlySet<string>): PackSection[] {
  const facets = [...new Set([...sectionsOfIntent(intent), ...SECTION_NAMES])].filter((facet) =>
    items.some((item) => item.facet === facet),
  )
  const best = new Map(
    facets.map((facet) => [facet, Math.max(...items.flatMap((item) => (item.facet === facet ? [item.score] : [])))]),
  )
  const leads = ({ id }: PackItem): number => (inFlight.has(id) ? 1 : 0)
  return facets
    .sort((a, b) => (best.get(b) as number) - (best.get(a) as number))
    .map((facet) => ({
      facet,
      title: SECTION_TITLES[facet],
      items: items.filter((item) => item.facet === facet).sort((a, b) => leads(b) - leads(a)),
    }))
}
