import { regionOf } from '../../domain/meaning/region'
import { cosine, modelKey, type QuantizedVector } from '../../domain/meaning/vector'
import type { PackEntry, PackLink, PackVector } from '../../domain/pack/candidate'
import { kindsAsked } from '../../domain/pack/kinds-asked'
import { withoutLeadIn } from '../../domain/pack/lead-in'
import { isOnlyTime, recencyOf, withoutSayings } from '../../domain/pack/recency'
import { DEPTHS, type PackRequest } from '../../domain/pack/request'
import { withoutTicket } from '../../domain/pack/ticket'
import { WEIGHTS } from '../../domain/pack/weights'
import { workAsked } from '../../domain/pack/work-asked'
import { type Levels, type Rescale, rescaling } from '../../domain/recall/similarity'
import type { Analyzer } from '../../domain/search/analysis'
import { EVERYTHING } from '../../domain/search/filter'
import { parseQuery, type TextQuery } from '../../domain/search/query'
import { type ScoredTerm, scoredTerms, type TermStatistics } from '../../domain/search/score'
import type { Embedder } from '../../ports/embedder'
import type { FullText, TextHit } from '../../ports/full-text'
import type { PackReads, PackSight, Standing } from '../../ports/packs'
import type { VectorIndex } from '../../ports/vector-index'
import { type FinishIndex, NOTHING_PENDING } from '../keeping/pending-index'
import { attempt, type Outcome } from '../outcome'

/** Everything that may stand in a pack, as it was found. */
export interface Found {
  readonly terms: readonly ScoredTerm[]
  /** Null when the words could not be searched. */
  readonly statistics: TermStatistics | null
  /** Entries that the caller's scope admits, where they were few enough to be read; null when nobody counted. */
  readonly inScope: number | null
  readonly entries: readonly PackEntry[]
  /** How many words of the goal an entry holds in its whole text, and how long that is; of those that words found. */
  readonly held: ReadonlyMap<number, { readonly words: number; readonly length: number }>
  readonly vectors: readonly PackVector[]
  readonly links: readonly PackLink[]
  readonly standing: Standing
  /** Null when meaning was not searched. */
  readonly query: QuantizedVector | null
  /** From the model's cosines to those that the weights were chosen for; nothing is changed where it is absent. */
  readonly rescale?: Rescale
  readonly modes: readonly ('fts' | 'semantic')[]
  readonly degraded: boolean
}

/** Names, texts, other names (which stand beside code), days and agents. */
const COLUMNS = ['title', 'body', 'code', 'context'] as const
const { gathering, asked: ASKED } = WEIGHTS

const best = (vectors: readonly PackVector[], query: QuantizedVector, most: number): number[] => {
  const nearest = new Map<number, number>()
  for (const { entryId, vector } of vectors) {
    const near = cosine(query.values, vector.values)
    if (near > (nearest.get(entryId) ?? Number.NEGATIVE_INFINITY)) nearest.set(entryId, near)
  }
  return [...nearest]
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, most)
    .map(([id]) => id)
}

export type FindCandidates = ReturnType<typeof createFindCandidates>

export function createFindCandidates({
  reads,
  fullText,
  analyzer,
  semantic,
  finishing = NOTHING_PENDING,
}: {
  readonly reads: PackReads
  readonly fullText: FullText | null
  readonly analyzer: Analyzer
  /** Null when switched off. */
  readonly semantic: {
    readonly embed: (text: string) => Promise<{ readonly query: QuantizedVector }>
    /** What cosines of the model mean. */
    readonly levels: () => Promise<Levels>
    readonly embedder: Embedder
    readonly index: VectorIndex
  } | null
  readonly finishing?: FinishIndex
}) {
  function searchWords(sight: PackSight, query: TextQuery, terms: readonly ScoredTerm[], candidates: number) {
    if (fullText === null || query.expression === null) return null
    // A narrowed scope is not counted: that would cost and tell how much there is beside it.
    const totals = sight.scope.projects === null
    return attempt(() =>
      fullText.searchByUnits(sight.scope, {
        ...{ query, terms, columns: COLUMNS, atLeast: 1, candidates, totals },
        ...{ filter: EVERYTHING, diaryOf: sight.diaryOf },
      }),
    )
  }

  async function askIndex(sight: PackSight, query: QuantizedVector, wanted: number) {
    if (semantic === null) return null
    const { embedder, index } = semantic
    const space = { org: sight.scope.org, model: modelKey(embedder), dimensions: embedder.dimensions }
    const limit = sight.scope.projects === null ? wanted * gathering.overfetch : gathering.narrowHits
    // Where lists show entries an index knows; pages of a diary stand nowhere else, so whoever keeps one asks for the whole org.
    const { region } = sight.diaryOf === null ? regionOf(sight.scope, EVERYTHING) : { region: null }
    return index.search(space, query, Math.min(limit, index.depth), region)
  }

  /**
   * Finds by words, by meaning, by links, and what joins whatever the goal says. Two round trips, up to four where few
   * words choose, and one call of the embedder; a leg that fails is left out, and told.
   */
  return async (sight: PackSight, request: PackRequest, now: number): Promise<Found> => {
    const depth = DEPTHS[request.layer]
    const searched = withoutSayings(withoutLeadIn(request.query, analyzer))
    const parsed = parseQuery(searched.replaceAll('"', ' '), 'match', analyzer)
    const recent = recencyOf(request.query, now, request.limit)
    // Then there are no words to be searched for.
    const onlyTime = isOnlyTime(request.query) && recent.limit > 0
    const terms = onlyTime ? [] : scoredTerms(parsed.units)
    const embedded =
      semantic === null
        ? null
        : await attempt(() => Promise.all([semantic.embed(withoutTicket(searched, analyzer)), semantic.levels()]))
    const query = embedded?.ok ? embedded.value[0].query : null
    const model = semantic !== null && query !== null ? modelKey(semantic.embedder) : null
    const { project } = request
    // Asked for in the same moment, so that all of it shares a round trip.
    const look = () =>
      Promise.all([
        onlyTime ? null : searchWords(sight, parsed, terms, depth.candidates),
        query === null ? null : attempt(() => askIndex(sight, query, depth.candidates)),
        model === null ? null : attempt(() => reads.eligible(sight, model, gathering.exact)),
        reads.standing(sight, {
          project,
          inFlight: depth.inFlight * (workAsked(request.query).statuses.length > 0 ? gathering.askedFor : 1),
          diary: depth.diary,
          recent,
          ofKind: { limit: Math.ceil(request.limit * ASKED.shareOfKind), kinds: kindsAsked(request.query) },
        }),
      ])
    const [words, asked, eligible, standing] = await finishing.searching(sight.scope, look)
    const hits: readonly TextHit[] = words?.ok ? words.value.hits : []
    const exact = outcomeOf(eligible)
    const index = outcomeOf(asked)
    const meaning = query !== null && (exact !== null || index !== null)
    const near = exact !== null && query !== null ? best(exact, query, depth.candidates) : []
    const known = new Map<number, string | null>()
    for (const id of [...standing.inFlight, ...standing.diary, ...standing.recent, ...standing.ofKind, ...near])
      known.set(id, null)
    for (const { id, text } of hits) known.set(id, text)
    const gathered = await reads.gather(sight, {
      ids: [...known].map(([id, text]) => ({ id, text })),
      model: meaning ? model : null,
      hits: exact === null ? (index?.hits ?? []).map(({ id }) => id) : [],
      near: depth.candidates,
      vectors: depth.candidates * gathering.overfetch,
      confirmedUpTo: index?.confirmedUpTo ?? Number.MAX_SAFE_INTEGER,
      unconfirmed:
        exact === null && index !== null && index.confirmedUpTo < Number.MAX_SAFE_INTEGER ? gathering.unconfirmed : 0,
      steps: depth.steps,
      linked: depth.candidates,
    })
    const held = new Map(hits.map(({ id, held: words, length }) => [id, { words, length }]))
    return {
      terms,
      statistics: words?.ok ? words.value.statistics : null,
      inScope: exact === null ? null : new Set(exact.map(({ entryId }) => entryId)).size,
      ...{ entries: gathered.entries, vectors: gathered.vectors, links: gathered.links, held },
      standing,
      query: meaning ? query : null,
      ...(embedded?.ok && semantic?.embedder.provider !== 'local' && { rescale: rescaling(embedded.value[1]) }),
      modes: [...(words?.ok ? (['fts'] as const) : []), ...(meaning ? (['semantic'] as const) : [])],
      degraded: words?.ok === false || (semantic !== null && !meaning),
    }
  }
}

const outcomeOf = <T>(outcome: Outcome<T> | null): T | null => (outcome?.ok ? outcome.value : null)
