import { isWork } from '../../domain/entry/work'
import type { Caller } from '../../domain/identity/scope'
import { withoutAsides } from '../../domain/pack/asides'
import { bareOf } from '../../domain/pack/bare-item'
import { type Planned, plan, sizeLeft } from '../../domain/pack/budget'
import type { PackEntry, PackLink } from '../../domain/pack/candidate'
import { bestPlaces, contentBudget, fitted, learningsOf, type Passage, wholeText } from '../../domain/pack/content'
import type { Weighed } from '../../domain/pack/evidence'
import { FACET_TITLES, type Facet } from '../../domain/pack/facets'
import { identifiersIn } from '../../domain/pack/identifiers'
import { sectionOrder } from '../../domain/pack/intents'
import { itemOf } from '../../domain/pack/item'
import { leftOut } from '../../domain/pack/left-out'
import { shapeOf } from '../../domain/pack/likeness'
import { opponentsIn } from '../../domain/pack/links'
import { frame, packMarkdown } from '../../domain/pack/markdown'
import { namesIn } from '../../domain/pack/names'
import { withoutOwnName } from '../../domain/pack/own-name'
import type { LeftOut, Omitted, Pack, PackItem, PackSection } from '../../domain/pack/pack'
import { plainTerms } from '../../domain/pack/plain-words'
import { isOnlyTime } from '../../domain/pack/recency'
import { withRelated } from '../../domain/pack/related'
import { DEPTHS, type PackArguments, type PackRequest, readPackRequest } from '../../domain/pack/request'
import { saidLater } from '../../domain/pack/said-later'
import { saidOfPack } from '../../domain/pack/said-of-pack'
import { candidatesFor, type Selectable, select } from '../../domain/pack/selection'
import { type Candidate, contentWordsBy, selectable, weigh } from '../../domain/pack/weighing'
import { WEIGHTS, type Weights } from '../../domain/pack/weights'
import { type GoalWords, goalWords, weightsByTerm } from '../../domain/pack/words'
import { resumes, workAsked } from '../../domain/pack/work-asked'
import { UNSCALED } from '../../domain/recall/similarity'
import type { Analyzer } from '../../domain/search/analysis'
import { counting } from '../../domain/search/counting'
import { codePointLength } from '../../domain/text'
import type { Yielder } from '../../domain/yielder'
import type { Finished, PackReads, PackSight, WantedStretch } from '../../ports/packs'
import type { CatchUp } from '../keeping/catch-up'
import type { FindCandidates } from './find-candidates'

type Chosen = Candidate & Selectable
type Entries = ReadonlyMap<number, PackEntry>

interface Piece {
  readonly chosen: Chosen
  /** With what was said after it. */
  readonly weighed: Weighed
  readonly item: PackItem
  readonly passage: Passage
  /** Code points of its content. */
  readonly most: number
  readonly anyway: boolean
  /** The part of the text that is still to be read. */
  readonly stretch: WantedStretch | null
}

const HINTS = {
  wake: 'Start from this pack; ask context with layer recall for the working set of one goal.',
  recall: 'Work from this pack; store what you learn with remember, and ask context with layer deep_search for more.',
  deep_search: 'Work from this pack; search for what is missing, and store what you learn with remember.',
  nothing:
    'Nothing here is clearly about the goal: search before you take it for unknown, and remember what you learn.',
} as const

/** A pack, and what of what was found stands in none. */
export interface Compiled {
  readonly pack: Pack
  readonly leftOut: readonly LeftOut[]
}

export type CompilePack = ReturnType<typeof createCompilePack>
export type ContextOf = (caller: Caller, given: PackArguments) => Promise<Pack>

/** What agents are given: the pack alone. */
export const contextOf =
  (compile: CompilePack): ContextOf =>
  async (caller, given) =>
    (await compile(caller, given)).pack

export function createCompilePack({
  reads,
  findCandidates,
  analyzer,
  yielder,
  now,
  unfinished = async () => [],
  weights = WEIGHTS,
}: {
  readonly reads: PackReads
  readonly findCandidates: FindCandidates
  readonly analyzer: Analyzer
  readonly yielder: Yielder
  readonly now: () => number
  /** Warnings while vectors are still to be made. */
  readonly unfinished?: CatchUp['warnings']
  /** For benches that turn a rule off. */
  readonly weights?: Weights
}) {
  const contentWords = contentWordsBy(analyzer)

  /** What of an entry is shown, and where in it. */
  function passageOf(chosen: Chosen, words: GoalWords, most: number): Pick<Piece, 'passage' | 'stretch'> {
    const { entry, nearest, evidence } = chosen
    const learnings = learningsIn(chosen)
    if (learnings !== null) return { passage: wholeText(learnings), stretch: null }
    const atHand = codePointLength(entry.beginning)
    if (
      entry.chars > atHand &&
      (evidence.beyond || (nearest !== null && nearest.start >= atHand && evidence.words < weights.shown.weakWords))
    ) {
      const length = Math.min(Math.max(most, weights.shown.stretch), entry.chars)
      const word = evidence.beyond ? unseenWord(words, entry.beginning) : ''
      const stretch = { id: entry.id, start: nearest === null ? 0 : nearest.start, length, word }
      return { passage: wholeText('x'.repeat(Math.min(most, length))), stretch }
    }
    const at = atHand <= most ? [0] : bestPlaces(entry.beginning, weightsByTerm(words), analyzer, most)
    const goesOn = { before: false, after: entry.chars > atHand }
    return { passage: { text: entry.beginning, at, goesOn }, stretch: null }
  }

  /** Whoever reads what may hold no more reads beside it what was said later about the goal. */
  function withLater({ entry, facet, evidence, score, worth }: Chosen, entries: Entries, words: GoalWords): Weighed {
    const weighed = { entry, facet, evidence, score, worth }
    const newest = evidence.later?.holds === false ? entries.get(evidence.later.id) : undefined
    if (evidence.later === null || newest === undefined) return weighed
    const says = saidLater(entry, newest, words, analyzer)
    return says === null ? weighed : { ...weighed, evidence: { ...evidence, later: { ...evidence.later, says } } }
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
  async function compile(caller: Caller, given: PackArguments): Promise<Compiled> {
    const asked = readPackRequest(caller, given)
    const request = { ...asked, query: withoutAsides(withoutOwnName(asked.query, asked.project, analyzer), analyzer) }
    const sight: PackSight = {
      scope: request.project === null ? caller : { ...caller, projects: [request.project] },
      diaryOf: request.agentId,
    }
    const depth = DEPTHS[request.layer]
    const found = await findCandidates(sight, request, now())
    const plain = plainTerms(request.query, analyzer, request.domain)
    const words = goalWords(found.terms, found, analyzer.tokens(request.query), plain, weights)
    const goal = {
      words,
      identifiers: identifiersIn(request.query),
      query: found.query,
      rescale: found.rescale ?? UNSCALED,
      held: found.held,
      asked: workAsked(request.query, weights),
      resumes: resumes(request.query),
      ofKind: new Set(found.standing.ofKind),
      diary: new Set(found.standing.diary),
      recent: { ids: new Set(found.standing.recent), only: isOnlyTime(request.query) },
    }
    const present = found.entries.filter(({ status, kind }) => status !== 'archived' || !isWork(kind))
    const weighed = await weigh(present, found, goal, request, {
      ...{ steps: depth.steps, count: counting(analyzer, words.terms), contentWords, yielder, weights },
      namesOf: namesIn(words, analyzer),
      shapeOf: (text) => shapeOf(text, analyzer),
    })
    const standing = weighed.filter(({ entry }) => !entry.superseded)
    const opponents = opponentsIn(found.links)
    const best = candidatesFor(standing, request.limit, weights)
    const shaped: Chosen[] = best.map((candidate) => selectable(candidate, analyzer))
    const selection = await select(
      shaped,
      { ...request, ...words, entries: words.counted.entries },
      opponents,
      yielder,
      weights,
    )
    const chosen = selection.chosen as readonly Chosen[]
    const highest = Math.max(0, ...chosen.map(({ score }) => score))
    const entries = new Map(present.map((entry) => [entry.id, entry]))
    const pieces = chosen.map((one): Piece => {
      const weighed = withLater(one, entries, words)
      const anyway = selection.unrelated.has(one)
      const learnings = learningsIn(one)
      const chars = learnings === null ? one.entry.chars : codePointLength(learnings)
      const most = anyway
        ? Math.min(weights.shown.anyway, request.maxContent)
        : selection.fillers.has(one)
          ? Math.min(weights.shown.twoLines, request.maxContent)
          : contentBudget(chars, one.score / highest, request.maxContent, weights)
      return { chosen: one, weighed, item: itemOf(weighed), most, anyway, ...passageOf(one, words, most) }
    })
    const superseded = weighed.filter(({ entry, score }) => entry.superseded && score >= weights.floors.floor)
    const omitted: Omitted = {
      limit: selection.beyond.length,
      budget: 0,
      duplicate: selection.duplicates.length,
      superseded: superseded.length,
    }
    const unrelated = pieces.every(({ anyway }) => anyway)
    const late = await unfinished(sight.scope, ['vectors'])
    const said = [...saidOfPack(standing, request, { unrelated, degraded: found.degraded }, weights), ...late]
    const { head, foot } = frame({ ...request, said }, { ...omitted, budget: 99 }, request.maxMarkdown)
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
    const described = { ...request, sections, said }
    const pack: Pack = {
      ...{ goal: request.goal, intent: request.intent, query: asked.query },
      ...{ domain: request.domain, project: request.project, layer: request.layer },
      sections,
      total_items: planned.length,
      usage_hint: HINTS[unrelated ? 'nothing' : request.layer],
      markdown: packMarkdown(described, left, request.maxMarkdown),
      diagnostics: { degraded: found.degraded, modes: found.modes, omitted: left },
    }
    const shown = new Set(planned.map(({ one }) => one))
    return {
      pack,
      leftOut: [
        ...leftOut(
          'budget',
          pieces.filter((one) => !shown.has(one)).map(({ chosen: one }) => one),
        ),
        ...leftOut('limit', selection.beyond),
        ...leftOut('duplicate', selection.duplicates),
        ...leftOut('superseded', superseded),
      ],
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
    const items = planned.map((given) => {
      const { one } = given
      const { entry } = one.chosen
      const { supersedes, contradicts } = finished
      const whole = itemOf(one.weighed, targets(supersedes, entry.id), opponents(contradicts, entry.id))
      const item = given.bare ? bareOf(whole) : whole
      return { ...item, content: fitted(passageRead(one, words, finished), one.most, sizeLeft(given, item)) }
    })
    const standing = planned.filter(({ one }) => one.chosen.evidence.inProgress || one.chosen.evidence.diary)
    const inFlight = new Set(standing.map(({ one }) => one.item.id))
    const followed = { most: request.relatedLimit, steps: DEPTHS[request.layer].steps }
    return inSections(withRelated(items, finished.neighbours, followed, total), request, inFlight)
  }

  return compile
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
