import type { EntryPreview } from '../../../domain/entry/entry'
import type { Scope } from '../../../domain/identity/scope'
import type { Analyzer } from '../../../domain/search/analysis'
import type { Filter } from '../../../domain/search/filter'
import { highlight } from '../../../domain/search/highlight'
import { LOOKED_AT, MAX_PASSAGE, passageAround } from '../../../domain/search/passage'
import { successorsFirst } from '../../../domain/search/successors'
import { RANK_DEPTH, type Window } from '../../../domain/search/window'
import type { Yielder } from '../../../domain/yielder'
import type { EntryStore, Stretch } from '../../../ports/entry-store'
import type { Reranker } from '../../../ports/reranker'
import { attempt } from '../../outcome'
import type { FoundBy } from './search-text'
import type { SemanticHit } from './semantic-hits'

/** What the three ranked searches have in common: one ordering of at most 100 entries a query, cut into pages. */
export interface RankedRequest extends Window {
  readonly query: string
  readonly filter: Filter
  /** Code points of text to bring with each result. */
  readonly previewLength: number
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
}

export interface RankedPage {
  readonly results: readonly RankedResult[]
  /** Matches, counted up to the rank depth. */
  readonly total: number
  readonly warnings: readonly string[]
}

/** An entry in an ordering, before it has been read. */
export type Scored = Omit<RankedResult, 'entry' | 'highlighted'> & {
  readonly id: number
  /** The chunk that is nearest in meaning, where meaning found it. */
  readonly chunk: SemanticHit | null
}

const RERANK_FAILED = 'Reranking failed; results are in their first order'

/** One more than is looked at, so that it shows whether the text goes on. */
const wordsOf = (id: number): Stretch => ({ id, start: 0, length: LOOKED_AT + 1 })

/** The part of an entry that a reranker reads it by: its nearest chunk, else where its words are looked for. */
const passageOf = ({ id, chunk }: Scored): Stretch =>
  chunk === null ? wordsOf(id) : { id, start: chunk.start, length: Math.min(chunk.length, MAX_PASSAGE) }

/**
 * Cuts pages out of orderings and reads their entries, with scope and filter once more; never a whole text. With a reranker the
 * whole ordering is read, once, and the page comes from what it makes of it. One round trip; a second where what stands beside
 * reranked texts is more than a result holds.
 */
export function createRankedPage({
  entries,
  analyzer,
  reranker,
  yielder,
}: {
  readonly entries: Pick<EntryStore, 'previews' | 'stretches'>
  readonly analyzer: Analyzer
  readonly reranker: Reranker | null
  readonly yielder: Yielder
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
      await yielder.spend(text.length)
    }
    const outcome = await attempt(() => by.rerank(query, passages))
    if (!outcome.ok) return { ordering, warnings: [RERANK_FAILED] }
    const scored = present.map((one, i) => ({ ...one, rerankScore: outcome.value[i] as number }))
    return { ordering: scored.sort((a, b) => b.rerankScore - a.rerankScore), warnings: [] }
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
    const stretches = reranker ? wanted.map(passageOf) : highlighting ? wanted.map(({ id }) => wordsOf(id)) : []
    // Asked for in the same moment, so that both share a round trip.
    const [previews, read] = await Promise.all([
      entries.previews(
        scope,
        filter,
        wanted.map(({ id }) => id),
        previewLength,
      ),
      entries.stretches(scope, filter, stretches),
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
    for (const { id, chunk: _, ...scores } of page) {
      const entry = byId.get(id)
      if (entry === undefined) continue
      const text = texts.get(id) ?? ''
      results.push({
        entry,
        ...scores,
        highlighted: highlighting ? highlight(text, words.units, analyzer) : null,
      })
      if (highlighting) await yielder.spend(text.length)
    }
    return { results: successorsFirst(results, ({ entry }) => entry), total: cut.length, warnings }
  }
}
