import type { Caller } from '../../domain/identity/scope'
import type { Pace } from '../../domain/pace'
import { type Planned, plan } from '../../domain/pack/budget'
import type { Neighbour, PackLink } from '../../domain/pack/candidate'
import { bestPlaces, fitted, learningsOf, type Passage, roomFor, wholeText } from '../../domain/pack/content'
import { OUTDATED } from '../../domain/pack/evidence'
import { FACET_TITLES, type Facet } from '../../domain/pack/facets'
import { identifiersIn } from '../../domain/pack/identifiers'
import { sectionOrder } from '../../domain/pack/intents'
import { itemOf } from '../../domain/pack/item'
import { opponentsIn } from '../../domain/pack/links'
import { frame, itemMarkdown, packMarkdown } from '../../domain/pack/markdown'
import type { Omitted, Pack, PackItem, PackRelated, PackSection } from '../../domain/pack/pack'
import { commonTerms } from '../../domain/pack/plain-words'
import { isOnlyTime } from '../../domain/pack/recency'
import { DEPTHS, type PackArguments, type PackRequest, readPackRequest } from '../../domain/pack/request'
import { comparedFor, FLOOR, type Selectable, select } from '../../domain/pack/selection'
import { type Candidate, contentWordsBy, counting, selectable, weigh } from '../../domain/pack/weighing'
import { type GoalWords, goalWords, weightsByTerm } from '../../domain/pack/words'
import { workAsked } from '../../domain/pack/work-asked'
import type { Analyzer } from '../../domain/search/analysis'
import { codePointLength } from '../../domain/text'
import type { Finished, PackReads, PackSight, WantedStretch } from '../../ports/packs'
import type { FindCandidates } from './find-candidates'

type Chosen = Candidate & Selectable

interface Piece {
  readonly chosen: Chosen
  readonly item: PackItem
  readonly passage: Passage
  /** Code points of its content. */
  readonly most: number
  readonly anyway: boolean
  /** The part of the text that is still to be read. */
  readonly stretch: WantedStretch | null
}

/** Code points of a long text that are read at least, to be cut around what matched. */
const STRETCH = 800
/** Of work that has nothing to do with the goal. */
const ANYWAY = 160
/** Words below which meaning says better where to look in a long text. */
const WEAK = 0.3

const HINTS = {
  wake: 'Start from this pack; ask context with layer recall for the working set of one goal.',
  recall: 'Work from this pack; store what you learn with remember, and ask context with layer deep_search for more.',
  deep_search: 'Work from this pack; search for what is missing, and store what you learn with remember.',
} as const

export type CompilePack = ReturnType<typeof createCompilePack>

export function createCompilePack({
  reads,
  findCandidates,
  analyzer,
  pace,
  now,
}: {
  readonly reads: PackReads
  readonly findCandidates: FindCandidates
  readonly analyzer: Analyzer
  readonly pace: Pace
  readonly now: () => number
}) {
  const contentWords = contentWordsBy(analyzer)
  const common = commonTerms(analyzer)

  /** What of an entry is shown, and where in it. */
  function passageOf(chosen: Chosen, words: GoalWords, most: number): Pick<Piece, 'passage' | 'stretch'> {
    const { entry, nearest, evidence } = chosen
    const learnings = learningsIn(chosen)
    if (learnings !== null) return { passage: wholeText(learnings), stretch: null }
    const atHand = codePointLength(entry.beginning)
    if (
      entry.chars > atHand &&
      (evidence.beyond || (nearest !== null && nearest.start >= atHand && evidence.words < WEAK))
    ) {
      const length = Math.min(Math.max(most, STRETCH), entry.chars)
      const word = evidence.beyond ? unseenWord(words, entry.beginning) : ''
      const stretch = { id: entry.id, start: nearest === null ? 0 : nearest.start, length, word }
      return { passage: wholeText('x'.repeat(Math.min(most, length))), stretch }
    }
    const at = atHand <= most ? [0] : bestPlaces(entry.beginning, weightsByTerm(words), analyzer, most)
    const goesOn = { before: false, after: entry.chars > atHand }
    return { passage: { text: entry.beginning, at, goesOn }, stretch: null }
  }

  /** The rarest word of the goal that the beginning of a text does not hold: it stands further behind. */
  function unseenWord({ terms, weights }: GoalWords, beginning: string): string {
    const { counts } = counting(analyzer, terms)(beginning)
    let rarest = -1
    for (const [i, weight] of weights.entries())
      if (counts[i] === 0 && weight > (rarest < 0 ? 0 : (weights[rarest] as number))) rarest = i
    return terms[rarest]?.term ?? ''
  }

  const passageRead = (
    { passage, stretch, chosen, most }: Piece,
    words: GoalWords,
    { stretches }: Finished,
  ): Passage => {
    if (stretch === null) return passage
    const { start, text } = stretches.get(stretch.id) ?? { start: 0, text: '' }
    const after = start + codePointLength(text) < chosen.entry.chars
    const at = bestPlaces(text, weightsByTerm(words), analyzer, most)
    return { text, at, goesOn: { before: start > 0, after } }
  }

  /** Chooses, gives room, reads the rest and puts the pack together. */
  async function compile(caller: Caller, request: PackRequest): Promise<Pack> {
    const sight: PackSight = {
      scope: request.project === null ? caller : { ...caller, projects: [request.project] },
      diaryOf: request.agentId,
    }
    const depth = DEPTHS[request.layer]
    const found = await findCandidates(sight, request, now())
    const words = goalWords(found.terms, found, analyzer.tokens(request.query), common)
    const goal = {
      words,
      identifiers: identifiersIn(request.query),
      query: found.query,
      held: found.held,
      asked: workAsked(request.query),
      ofKind: new Set(found.standing.ofKind),
      diary: new Set(found.standing.diary),
      recent: { ids: new Set(found.standing.recent), only: isOnlyTime(request.query) },
    }
    const present = found.entries.filter(({ status }) => status !== 'archived')
    const weighed = await weigh(present, found, goal, request, {
      ...{ steps: depth.steps, count: counting(analyzer, words.terms), contentWords, pace },
    })
    const standing = weighed.filter(({ entry }) => !entry.superseded)
    const good = new Set(standing.filter(({ score }) => score >= FLOOR).map(({ entry }) => entry.id))
    const opponents = opponentsIn(found.links)
    const isOutdated = ({ entry, evidence: { later } }: Candidate) =>
      later?.holds === true && good.has(later.id) && !opponents(entry.id).has(later.id)
    const current = standing
      .filter((one) => !isOutdated(one))
      .sort((a, b) => b.worth - a.worth || b.entry.id - a.entry.id)
    const most = comparedFor(request.limit)
    const best = current.filter(({ evidence }, i) => i < most || evidence.inProgress || evidence.diary)
    const shaped: Chosen[] = best.map((candidate) => selectable(candidate, analyzer))
    const selection = await select(shaped, { ...request, familiar: words.familiar }, opponents, pace)
    const chosen = selection.chosen as readonly Chosen[]
    const highest = Math.max(0, ...chosen.map(({ score }) => score))
    const pieces = chosen.map((one): Piece => {
      const anyway = selection.aside.has(one)
      const learnings = learningsIn(one)
      const chars = learnings === null ? one.entry.chars : codePointLength(learnings)
      const most = anyway
        ? Math.min(ANYWAY, request.maxContent)
        : roomFor(chars, one.score / highest, request.maxContent)
      return { chosen: one, item: itemOf(one), most, anyway, ...passageOf(one, words, most) }
    })
    const omitted: Omitted = {
      limit: selection.beyond,
      budget: 0,
      duplicate: selection.duplicates,
      superseded: weighed.filter(
        (one) => (one.entry.superseded && one.score >= FLOOR) || (isOutdated(one) && one.score >= FLOOR * OUTDATED),
      ).length,
    }
    const unrelated = pieces.every(({ anyway }) => anyway)
    const { head, foot } = frame({ ...request, unrelated }, { ...omitted, budget: 99 })
    const total = { json: request.maxJson, markdown: request.maxMarkdown - head.length - foot.length - 4 }
    const planned = plan(pieces, total, request.relatedLimit > 0)
    const left = { ...omitted, budget: pieces.length - planned.length }
    const finished = await reads.finish(caller, sight, {
      ids: planned.map(({ one }) => one.chosen.entry.id),
      stretches: planned.flatMap(({ one }) => (one.stretch === null ? [] : [one.stretch])),
      related: request.relatedLimit,
      steps: depth.steps,
      detail: {
        intent: request.intent,
        layer: request.layer,
        items: planned.length,
        ...(request.project === null ? {} : { project: request.project }),
      },
    })
    const sections = sectionsOf(planned, finished, words, request, total)
    const described = { ...request, sections, unrelated }
    return {
      goal: request.goal,
      intent: request.intent,
      query: request.query,
      domain: request.domain,
      project: request.project,
      layer: request.layer,
      sections,
      total_items: planned.length,
      usage_hint: HINTS[request.layer],
      markdown: packMarkdown(described, left, request.maxMarkdown),
      diagnostics: { degraded: found.degraded, modes: found.modes, omitted: left },
    }
  }

  /** Items with their contents and neighbours, in their sections. */
  function sectionsOf(
    planned: readonly Planned<Piece>[],
    finished: Finished,
    words: GoalWords,
    request: PackRequest,
    total: { readonly json: number; readonly markdown: number },
  ): PackSection[] {
    const items = planned.map(({ one, room }) => {
      const { entry } = one.chosen
      const { supersedes, contradicts } = finished
      const item = itemOf(one.chosen, targets(supersedes, entry.id), opponents(contradicts, entry.id))
      return { ...item, content: fitted(passageRead(one, words, finished), one.most, room) }
    })
    const standing = planned.filter(({ one }) => one.chosen.evidence.inProgress || one.chosen.evidence.diary)
    const inFlight = new Set(standing.map(({ one }) => one.item.id))
    return inSections(withRelated(items, finished.neighbours, request.relatedLimit, total), request, inFlight)
  }

  return async (caller: Caller, given: PackArguments): Promise<Pack> => compile(caller, readPackRequest(caller, given))
}

/** What is shown of finished work that has taught something. */
const learningsIn = ({ entry, facet }: Chosen): string | null =>
  facet === 'prior_art' ? learningsOf(entry.metadata) : null

const targets = (links: readonly PackLink[], id: number): number[] =>
  links.filter(({ from }) => from === id).map(({ to }) => to)

const opponents = (links: readonly PackLink[], id: number): number[] => [
  ...new Set(links.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []))),
]

/** Groups items into sections, in the order of the intent; work in progress and the diary lead, then the best. */
function inSections(items: readonly PackItem[], { intent }: PackRequest, inFlight: ReadonlySet<string>): PackSection[] {
  const best = new Map<Facet, number>()
  for (const { facet, score } of items) best.set(facet, Math.max(best.get(facet) ?? 0, score))
  const leads = ({ id }: PackItem): number => (inFlight.has(id) ? 1 : 0)
  return sectionOrder(intent, best).map((facet) => ({
    facet,
    title: FACET_TITLES[facet],
    items: items
      .filter((item) => item.facet === facet)
      .sort((a, b) => leads(b) - leads(a) || b.score - a.score || Number(b.id) - Number(a.id)),
  }))
}

/** The neighbours of an item: its own first, then those of its neighbours. */
function neighboursOf(id: number, all: readonly Neighbour[]): PackRelated[] {
  const known = new Set([id])
  const related: PackRelated[] = []
  const add = ({ id: other, kind, name, relation, direction }: Neighbour, distance: number) => {
    if (known.has(other)) return
    known.add(other)
    related.push({ id: String(other), type: kind, name, relationship: relation, direction, distance })
  }
  const first = all.filter(({ of }) => of === id)
  for (const one of first) add(one, 1)
  for (const { id: next } of first) for (const one of all) if (one.of === next) add(one, 2)
  return related
}

/** Gives the items their neighbours as far as there is room, one each before anyone gets a second. */
function withRelated(
  items: readonly PackItem[],
  neighbours: readonly Neighbour[],
  most: number,
  total: { readonly json: number; readonly markdown: number },
): PackItem[] {
  if (most === 0) return [...items]
  const all = items.map((item) => neighboursOf(Number(item.id), neighbours).slice(0, most))
  const given = items.map((item) => ({ ...item, related: [] as PackRelated[] }))
  const facets = new Set(items.map(({ facet }) => facet))
  let json = given.reduce((sum, item) => sum + JSON.stringify(item).length + 1, facets.size * 80)
  let markdown = given.reduce((sum, item) => sum + itemMarkdown(item).length + 2, facets.size * 30)
  for (let nth = 0; nth < most; nth++)
    for (const [i, item] of given.entries()) {
      const related = all[i]?.[nth]
      if (related === undefined) continue
      const before = itemMarkdown(item).length
      item.related.push(related)
      const more = { json: JSON.stringify(related).length + 1, markdown: itemMarkdown(item).length - before }
      if (json + more.json > total.json || markdown + more.markdown > total.markdown) item.related.pop()
      else {
        json += more.json
        markdown += more.markdown
      }
    }
  return given
}
