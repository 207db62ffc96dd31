import { type Listed, laterFirst } from '../../../domain/currency/later-first'
import { hasSubject, SUBJECT, subjectOf } from '../../../domain/currency/subject'
import type { EntryPreview } from '../../../domain/entry/entry'
import { domainOf } from '../../../domain/entry/lifted-metadata'
import type { Scope } from '../../../domain/identity/scope'
import { bestPlaces, cutAround } from '../../../domain/pack/content'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import type { Filter } from '../../../domain/search/filter'
import { highlight } from '../../../domain/search/highlight'
import { LOOKED_AT, MAX_PASSAGE, passageAround, successorsFirst } from '../../../domain/search/hits'
import { RANK_DEPTH, type Window } from '../../../domain/search/window'
import { codePointLength, offsetAfter } from '../../../domain/text'
import type { EntryStore, TextRange } from '../../../ports/entry-store'
import type { Reranker } from '../../../ports/models'
import { type Disagreements, type FindDisagreements, WITHOUT_DISAGREEMENTS } from '../../currency/disagreements'
import { attempt } from '../../outcome'
import type { SemanticHit } from './search-semantic'
import type { FoundBy } from './search-text'

/** What the three ranked searches have in common: one ordering of at most 100 entries a query, cut into pages. */
export interface RankedRequest extends Window {
  readonly query: string
  readonly filter: Filter
  /** Code points of text to bring with each result. */
  readonly previewLength: number
  /** Code points of the excerpt around the match, in each result; absent for none. */
  readonly excerpt?: number
  /** Whether results on one subject are next to each other, the later one first. */
  readonly laterFirst?: boolean
}

export interface RankedResult {
  readonly entry: EntryPreview
  readonly ftsScore: number | null
  readonly ftsRank: number | null
  readonly distance: number | null
  readonly semanticRank: number | null
  /** What the order of a hybrid search is made by. */
  readonly fused: number | null
  readonly rrf: number | null
  readonly rerankScore: number | null
  /** Null when not asked for, or when the text itself holds no hit. */
  readonly highlighted: string | null
  /** The part of the text that matches, between `…` where it is cut; null when not asked for. */
  readonly excerpt: string | null
  /** IDs of later results on the same subject, the latest first. */
  readonly later: readonly number[]
  /** IDs of later results that a model judged to say otherwise. */
  readonly otherwise: readonly number[]
}

export interface RankedPage {
  readonly results: readonly RankedResult[]
  /** Matches, counted up to the rank depth. */
  readonly total: number
  /** The complete ordering that the page is cut from, best first. */
  readonly ordering: readonly Scored[]
  readonly warnings: readonly string[]
}

/** An entry in an ordering, before it has been read. */
export type Scored = Omit<RankedResult, 'entry' | 'highlighted' | 'excerpt' | 'later' | 'otherwise'> & {
  readonly id: number
  /** The query is its title. */
  readonly isTitled: boolean
  /** The chunk that is nearest in meaning, where meaning found it. */
  readonly chunk: SemanticHit | null
}

const RERANK_FAILED = 'Reranking failed; results are in their first order'

/** One more than is looked at, so that it shows whether the text goes on. */
const wordsOf = (id: number): TextRange => ({ id, start: 0, length: LOOKED_AT + 1 })

/** The part of an entry that an excerpt is cut from: its beginning, or the stretch around its nearest chunk where that is behind it. */
const excerptStretch = ({ id, chunk }: Pick<Scored, 'id' | 'chunk'>): TextRange =>
  chunk !== null && chunk.start >= LOOKED_AT
    ? { id, start: chunk.start - MAX_PASSAGE, length: LOOKED_AT + 1 }
    : wordsOf(id)

/** The part of an entry that a reranker reads it by: its nearest chunk, else where its words are looked for. */
const passageOf = ({ id, chunk }: Scored): TextRange =>
  chunk === null ? wordsOf(id) : { id, start: chunk.start, length: Math.min(chunk.length, MAX_PASSAGE) }

/** The score that a search has ordered its results by. */
export const orderedBy = ({
  rerankScore,
  fused,
  ftsScore,
  distance,
}: Pick<RankedResult, 'rerankScore' | 'fused' | 'ftsScore' | 'distance'>): number =>
  rerankScore ?? fused ?? ftsScore ?? (distance === null ? 0 : 1 - distance)

/** The part of an entry that shows its subject. */
const subjectStretch = ({ id }: Pick<Scored, 'id'>): TextRange => ({ id, start: 0, length: SUBJECT.codePoints })

/**
 * Cuts pages out of orderings and reads their entries, with scope and filter once more; never a whole text. With a reranker the
 * whole ordering is read, once, and the page comes from what it makes of it. One round trip; a second where what stands beside
 * reranked texts is more than a result holds.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createRankedPage({
  entries,
  analyzer,
  reranker,
  findDisagreements,
}: {
  readonly entries: Pick<EntryStore, 'previews' | 'stretches'>
  readonly analyzer: Analyzer
  readonly reranker: Reranker | null
  readonly findDisagreements: FindDisagreements
}) {
  /** The ordering by the cross-encoder, or as it was, with a warning, when that fails. */
  async function rerank(
    by: Reranker,
    query: string,
    ordering: readonly Scored[],
    texts: ReadonlyMap<number, string>,
    words: FoundBy,
  ) {
    const present = ordering.filter(({ id }) => texts.has(id))
    const passages: string[] = []
    for (const { id, chunk } of present) {
      const text = texts.get(id) as string
      passages.push(chunk === null ? passageAround(text, words.units, analyzer) : text)
      await scheduler.tick(text.length)
    }
    const outcome = await attempt(() => by.rerank(query, passages))
    if (!outcome.ok) return { ordering, warnings: [RERANK_FAILED] }
    const scored = present.map((one, i) => ({ ...one, rerankScore: outcome.value[i] as number }))
    return { ordering: scored.sort((a, b) => b.rerankScore - a.rerankScore), warnings: [] }
  }

  /** The part of a text that holds the rarest words of the query closest together, else the chunk that is nearest in meaning. */
  function excerpt(
    { id, chunk }: Pick<Scored, 'id' | 'chunk'>,
    text: string,
    entry: EntryPreview,
    words: FoundBy,
    most: number,
  ): string {
    const { start } = excerptStretch({ id, chunk })
    const places = bestPlaces(text, words.rarity, analyzer, most)
    const isFound = places.length > 1 || places[0] !== 0
    const nearest = chunk === null ? 0 : offsetAfter(text, 0, Math.max(0, chunk.start - start))
    const goesOn = { before: start > 0, after: start + codePointLength(text) < entry.chars }
    return cutAround({ text, at: isFound ? places : [nearest], goesOn }, most)
  }

  return async (
    scope: Scope,
    request: RankedRequest,
    all: readonly Scored[],
    words: FoundBy,
    highlighting = false,
  ): Promise<RankedPage> => {
    const { query, filter, previewLength } = request
    const cut = all.slice(0, RANK_DEPTH)
    const pageOf = (ordering: readonly Scored[]) => ordering.slice(request.offset, request.offset + request.limit)
    const wanted = reranker ? cut : pageOf(cut)
    const stretches = reranker
      ? wanted.map(passageOf)
      : highlighting
        ? wanted.map(({ id }) => wordsOf(id))
        : request.excerpt === undefined
          ? []
          : wanted.map(excerptStretch)
    const compares = request.laterFirst === true
    // Asked for in the same moment, so that they share a round trip.
    const [previews, read, compared, disagreements] = await Promise.all([
      entries.previews(
        scope,
        filter,
        wanted.map(({ id }) => id),
        previewLength,
      ),
      entries.stretches(scope, filter, stretches),
      compares && reranker === null ? entries.stretches(scope, filter, wanted.map(subjectStretch)) : [],
      (compares ? findDisagreements : WITHOUT_DISAGREEMENTS)(
        scope,
        wanted.map(({ id }) => id),
      ),
    ])
    const byId = new Map(previews.map((entry): [number, EntryPreview] => [entry.id, entry]))
    const texts = new Map(read.map(({ id, text }) => [id, text]))
    const { ordering, warnings } =
      reranker && byId.size > 0 ? await rerank(reranker, query, cut, texts, words) : { ordering: cut, warnings: [] }
    const page = pageOf(ordering)
    // What fits was counted in the order before reranking: then the page is read once more, in its own.
    if (reranker && page.some(({ id }) => byId.get(id)?.bare)) {
      const ids = page.map(({ id }) => id)
      for (const entry of await entries.previews(scope, filter, ids, previewLength)) byId.set(entry.id, entry)
    }
    const results: RankedResult[] = []
    const shown =
      request.excerpt !== undefined && (reranker !== null || highlighting)
        ? new Map((await entries.stretches(scope, filter, page.map(excerptStretch))).map(({ id, text }) => [id, text]))
        : texts
    for (const one of page) {
      const { id, chunk: _, isTitled: __, ...scores } = one
      const entry = byId.get(id)
      if (entry === undefined) continue
      const text = texts.get(id) ?? ''
      const most = request.excerpt
      results.push({
        entry,
        ...scores,
        highlighted: highlighting ? highlight(text, words.units, analyzer) : null,
        excerpt: most === undefined ? null : excerpt(one, shown.get(id) ?? '', entry, words, most),
        later: [],
        otherwise: [],
      })
      if (highlighting || most !== undefined) await scheduler.tick(text.length)
    }
    const ordered = successorsFirst(results, ({ entry }) => entry)
    if (!compares || ordered.length < 2) return { results: ordered, total: cut.length, ordering, warnings }
    const begun = reranker ? await entries.stretches(scope, filter, page.map(subjectStretch)) : compared
    const named = new Set(page.flatMap(({ id, isTitled }) => (isTitled ? [id] : [])))
    await scheduler.tick(ordered.length * SUBJECT.codePoints)
    return {
      results: withLater(
        ordered,
        new Map(begun.map(({ id, text }) => [id, text])),
        named,
        disagreements(ordered.map(({ entry }) => entry)),
      ),
      total: cut.length,
      ordering,
      warnings,
    }
  }

  /**
   * Results on one subject next to each other, the later one first.
   *
   * @param texts the beginning of each
   * @param named IDs of those whose title the query is
   */
  function withLater(
    results: readonly RankedResult[],
    texts: ReadonlyMap<number, string>,
    named: ReadonlySet<number>,
    otherwise: Disagreements,
  ): RankedResult[] {
    const shown = new Set(results.map(({ entry }) => entry.id))
    const isReplaced = ({ supersededBy }: EntryPreview): boolean =>
      supersededBy !== undefined && shown.has(supersededBy)
    const { order, later } = laterFirst(
      results.map((result): Listed => {
        const { entry } = result
        const compares = hasSubject(entry) && !isReplaced(entry)
        const subject = compares ? subjectOf(entry.title, texts.get(entry.id) ?? entry.text, analyzer) : null
        return {
          ...entry,
          domain: domainOf(entry.metadata),
          score: orderedBy(result),
          subject,
          isNamed: named.has(entry.id),
        }
      }),
    )
    return order.map((place) => {
      const result = results[place] as RankedResult
      const { id } = result.entry
      return { ...result, later: later.get(id) ?? [], otherwise: otherwise.get(id) ?? [] }
    })
  }
}
