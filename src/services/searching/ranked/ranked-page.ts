import { type Listed, laterFirst } from '../../../domain/currency/later-first'
import { hasSubject, SUBJECT, subjectOf } from '../../../domain/currency/subject'
import type { EntryPreview } from '../../../domain/entry/entry'
import { domainOf } from '../../../domain/entry/extracted-metadata'
import type { Scope } from '../../../domain/identity/scope'
import { bestPlaces, cutAround } from '../../../domain/pack/passages'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import type { Filter } from '../../../domain/search/filter'
import { highlight } from '../../../domain/search/highlight'
import { HIGHLIGHT_LIMIT, MAX_PASSAGE, passageAround, successorsFirst } from '../../../domain/search/hits'
import { RANK_DEPTH, type Window } from '../../../domain/search/window'
import { codePointLength, offsetAfter } from '../../../domain/text'
import type { EntryStore, TextRange } from '../../../ports/entry-store'
import type { Reranker } from '../../../ports/models'
import { type Disagreements, type FindDisagreements, WITHOUT_DISAGREEMENTS } from '../../currency/disagreements'
import { attempt } from '../../outcome'
import type { SemanticHit } from './search-semantic'
import type { FoundBy } from './search-text'

/** A request that all ranked searches share: one order of at most 100 entries per query, cut into pages. */
export interface RankedRequest extends Window {
  readonly query: string
  readonly filter: Filter
  /** Code points of the text in each result. */
  readonly previewLength: number
  /** Code points of the excerpt around the match; absent for none. */
  readonly excerpt?: number
  /** Whether results on one subject are adjacent, the later one first. */
  readonly laterFirst?: boolean
}

export interface RankedResult {
  readonly entry: EntryPreview
  readonly ftsScore: number | null
  readonly ftsRank: number | null
  readonly distance: number | null
  readonly semanticRank: number | null
  /** Score of a hybrid search; null for others. */
  readonly fused: number | null
  readonly rrf: number | null
  readonly rerankScore: number | null
  /** Null if not requested, or if the text itself has no match. */
  readonly highlighted: string | null
  /** The matching part of the text, with `…` where it is cut; null if not requested. */
  readonly excerpt: string | null
  /** IDs of later results on the same subject, latest first. */
  readonly later: readonly number[]
  /** IDs of later results that a model judged to contradict this one. */
  readonly otherwise: readonly number[]
}

export interface RankedPage {
  readonly results: readonly RankedResult[]
  /** Number of matches, at most the rank depth. */
  readonly total: number
  /** The complete ordering that the page is cut from, best first. */
  readonly ordering: readonly Scored[]
  readonly warnings: readonly string[]
}

/** A ranked entry before it is read. */
export type Scored = Omit<RankedResult, 'entry' | 'highlighted' | 'excerpt' | 'later' | 'otherwise'> & {
  readonly id: number
  /** Whether the query is its title. */
  readonly isTitled: boolean
  /** The closest chunk, if the entry was found by meaning. */
  readonly chunk: SemanticHit | null
}

const RERANK_FAILED = 'Reranking failed; results are in their first order'

/** Reads one character more than shown, to detect whether the text continues. */
const wordsOf = (id: number): TextRange => ({ id, start: 0, length: HIGHLIGHT_LIMIT + 1 })

/** Returns the range of an entry for its excerpt: its start, or the surroundings of its closest chunk. */
const excerptStretch = ({ id, chunk }: Pick<Scored, 'id' | 'chunk'>): TextRange =>
  chunk !== null && chunk.start >= HIGHLIGHT_LIMIT
    ? { id, start: chunk.start - MAX_PASSAGE, length: HIGHLIGHT_LIMIT + 1 }
    : wordsOf(id)

/** Returns the passage of an entry for a reranker: its closest chunk, else its start. */
const passageOf = ({ id, chunk }: Scored): TextRange =>
  chunk === null ? wordsOf(id) : { id, start: chunk.start, length: Math.min(chunk.length, MAX_PASSAGE) }

/** Returns the score by which the results are ordered. */
export const orderedBy = ({
  rerankScore,
  fused,
  ftsScore,
  distance,
}: Pick<RankedResult, 'rerankScore' | 'fused' | 'ftsScore' | 'distance'>): number =>
  rerankScore ?? fused ?? ftsScore ?? (distance === null ? 0 : 1 - distance)

/** Returns the range of an entry that shows its subject. */
const subjectStretch = ({ id }: Pick<Scored, 'id'>): TextRange => ({ id, start: 0, length: SUBJECT.codePoints })

/**
 * Cuts pages out of rankings and reads their entries, with scope and filter applied again; never reads a complete text.
 *
 * With a reranker, the complete ranking is read once and reordered. Usually takes one round trip; a second if reranked results
 * exceed the size of a result.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createRankedPage({
  entries,
  analyzer,
  reranker,
  findDisagreements,
}: {
  readonly entries: Pick<EntryStore, 'previews' | 'textRanges'>
  readonly analyzer: Analyzer
  readonly reranker: Reranker | null
  readonly findDisagreements: FindDisagreements
}) {
  /** Orders results by the reranker. If it fails, keeps the order and adds a warning. */
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

  /** Returns the part of a text with the rarest words of the query closest together, else its closest chunk. */
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
    // All queries start together to share a round trip.
    const [previews, read, compared, disagreements] = await Promise.all([
      entries.previews(
        scope,
        filter,
        wanted.map(({ id }) => id),
        previewLength,
      ),
      entries.textRanges(scope, filter, stretches),
      compares && reranker === null ? entries.textRanges(scope, filter, wanted.map(subjectStretch)) : [],
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
    // The size was counted in the order before reranking, so the page is read again in its own order.
    if (reranker && page.some(({ id }) => byId.get(id)?.bare)) {
      const ids = page.map(({ id }) => id)
      for (const entry of await entries.previews(scope, filter, ids, previewLength)) byId.set(entry.id, entry)
    }
    const results: RankedResult[] = []
    const shown =
      request.excerpt !== undefined && (reranker !== null || highlighting)
        ? new Map((await entries.textRanges(scope, filter, page.map(excerptStretch))).map(({ id, text }) => [id, text]))
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
    const begun = reranker ? await entries.textRanges(scope, filter, page.map(subjectStretch)) : compared
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
   * Moves results on one subject next to each other, the later one first.
   *
   * @param texts the start of each text
   * @param named IDs of results whose title is the query
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
