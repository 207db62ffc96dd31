import { regionOf } from '../../domain/meaning/chunk'
import { cosine, modelKey, type QuantizedVector } from '../../domain/meaning/vector'
import type { PackEntry, PackLink, PackVector } from '../../domain/pack/candidate'
import { DEPTHS, type PackRequest } from '../../domain/pack/pack-request'
import type { FoundForGoal } from '../../domain/pack/rank-entries'
import type { Levels } from '../../domain/recall/similarity'
import type { Analyzer } from '../../domain/search/analysis'
import { and, EVERYTHING, type Filter } from '../../domain/search/filter'
import { parseQuery, type TextQuery } from '../../domain/search/query'
import { type ScoredTerm, scoredTerms } from '../../domain/search/score'
import type { FullText, TextHit } from '../../ports/full-text'
import type { Embedder } from '../../ports/models'
import type { PackReads, PackScope } from '../../ports/packs'
import type { VectorIndex } from '../../ports/vector-index'
import { type FinishIndex, NOTHING_PENDING } from '../maintenance/pending-index'
import { attempt, type Outcome } from '../outcome'
import { findingCompounds, NO_SUGGESTIONS, type SuggestWords } from '../searching/ranked/suggest-words'

/** Everything that a pack may contain. */
export interface Found extends FoundForGoal {
  readonly hits: readonly TextHit[]
  readonly entries: readonly PackEntry[]
  readonly links: readonly PackLink[]
  readonly modes: readonly ('fts' | 'semantic')[]
  readonly degraded: boolean
  /** Suggestions for words of a short goal that no entry contains. */
  readonly suggestions: readonly string[]
}

/** Searched columns: names, texts, other names (in the code column), days and agents. */
const COLUMNS = ['title', 'body', 'code', 'context'] as const
/** Limits of cost (packs contract, "Cost"). */
const GATHERING = {
  /** Maximum vectors of a narrowed scope that are all compared. */
  exact: 1_500,
  /** Vectors requested from an index per wanted entry, and in total for a narrowed scope. */
  overfetch: 3,
  narrowHits: 4_000,
  /** Unconfirmed vectors that are compared, newest first. */
  unconfirmed: 200,
} as const

/** Maximum content words of a goal that is checked for typos. */
const SHORT_GOAL = 3

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

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createFindCandidates({
  reads,
  fullText,
  analyzer,
  suggestWords = NO_SUGGESTIONS,
  semantic,
  finishing = NOTHING_PENDING,
}: {
  readonly reads: PackReads
  readonly fullText: FullText | null
  readonly analyzer: Analyzer
  readonly suggestWords?: SuggestWords
  /** Null if switched off. */
  readonly semantic: {
    readonly embed: (text: string) => Promise<{ readonly query: QuantizedVector }>
    /** Returns the reference cosines of the model. */
    readonly levels: () => Promise<Levels>
    readonly embedder: Embedder
    readonly index: VectorIndex
  } | null
  readonly finishing?: FinishIndex
}) {
  const searching = fullText === null ? null : findingCompounds(fullText, { analyzer })

  function searchWords(
    sight: PackScope,
    query: TextQuery,
    terms: readonly ScoredTerm[],
    { candidates, filter }: { readonly candidates: number; readonly filter: Filter },
  ) {
    if (searching === null || query.expression === null) return null
    return attempt(() =>
      searching.searchByUnits(sight.scope, {
        ...{ query, terms, columns: COLUMNS, candidates },
        ...{ filter, diaryOf: sight.diaryOf },
      }),
    )
  }

  async function askIndex(sight: PackScope, query: QuantizedVector, wanted: number) {
    if (semantic === null) return null
    const { embedder, index } = semantic
    const space = { org: sight.scope.org, model: modelKey(embedder), dimensions: embedder.dimensions }
    const limit =
      sight.scope.projects === null && !sight.isApproved ? wanted * GATHERING.overfetch : GATHERING.narrowHits
    // Lists show entries that an index knows. Diary pages appear nowhere else, so the owner of a diary searches the complete
    // organization.
    const { region } = sight.diaryOf === null ? regionOf(sight.scope, EVERYTHING) : { region: null }
    return index.search(space, query, Math.min(limit, index.depth), region)
  }

  /**
   * Finds entries by words, by meaning, by links, and entries that every goal shows.
   *
   * Takes two round trips, up to four if few words select entries, and one call of the embedder. A failed retriever is left out
   * and reported.
   */
  return async (sight: PackScope, request: PackRequest): Promise<Found> => {
    const depth = DEPTHS[request.layer]
    const filter: Filter = sight.isApproved ? and([request.filter, { op: 'approved' }]) : request.filter
    const parsed = parseQuery(request.searched.replaceAll('"', ' '), 'match', analyzer)
    const terms = scoredTerms(parsed.units)
    const embedded =
      semantic === null ? null : await attempt(() => Promise.all([semantic.embed(request.searched), semantic.levels()]))
    const vector = embedded?.ok ? embedded.value[0].query : null
    const model = semantic !== null && vector !== null ? modelKey(semantic.embedder) : null
    // All queries start together to share a round trip.
    const look = () =>
      Promise.all([
        searchWords(sight, parsed, terms, { candidates: depth.candidates, filter }),
        vector === null ? null : attempt(() => askIndex(sight, vector, depth.candidates)),
        model === null ? null : attempt(() => reads.eligible(sight, model, GATHERING.exact)),
        reads.unconditional(sight, {
          project: request.project,
          ...{ inFlight: depth.inFlight, diary: depth.diary, newest: depth.newest },
        }),
      ])
    const [words, asked, eligible, standing] = await finishing.searching(sight.scope, look)
    const hits: readonly TextHit[] = words?.ok ? words.value.hits : []
    const exact = outcomeOf(eligible)
    const index = outcomeOf(asked)
    const meaning = vector !== null && (exact !== null || index !== null)
    const near = exact !== null && vector !== null ? best(exact, vector, depth.candidates) : []
    const known = new Map<number, string | null>()
    for (const id of [...standing.inFlight, ...standing.diary, ...standing.newest, ...near]) known.set(id, null)
    for (const { id, text } of hits) known.set(id, text)
    const statistics = words?.ok ? words.value.statistics : null
    const unknown = terms.flatMap(({ term }, place) => ((statistics?.entriesWithTerm[place] ?? 0) === 0 ? [term] : []))
    const asks = statistics !== null && terms.length <= SHORT_GOAL && unknown.length > 0
    const gathering = reads.gather(sight, {
      ids: [...known].map(([id, text]) => ({ id, text })),
      model: meaning ? model : null,
      hits: exact === null ? (index?.hits ?? []).map(({ id }) => id) : [],
      near: depth.candidates,
      vectors: depth.candidates * GATHERING.overfetch,
      confirmedUpTo: index?.confirmedUpTo ?? Number.MAX_SAFE_INTEGER,
      unconfirmed:
        exact === null && index !== null && index.confirmedUpTo < Number.MAX_SAFE_INTEGER ? GATHERING.unconfirmed : 0,
      steps: depth.steps,
      linked: depth.candidates,
    })
    // Starts together with other queries, so that it needs no round trip of its own.
    const [gathered, suggestions] = await Promise.all([
      gathering,
      asks ? suggestWords(sight.scope, request.searched, filter, new Set(unknown)) : [],
    ])
    return {
      ...{ query: request.searched, terms, units: parsed.units.length, hits, vector: meaning ? vector : null },
      statistics,
      suggestions,
      levels: meaning && embedded?.ok ? embedded.value[1] : null,
      ...{ entries: gathered.entries, vectors: gathered.vectors, links: gathered.links },
      diary: new Set(standing.diary),
      newest: new Set(standing.newest),
      modes: [...(words?.ok ? (['fts'] as const) : []), ...(meaning ? (['semantic'] as const) : [])],
      degraded: words?.ok === false || (semantic !== null && !meaning),
    }
  }
}

const outcomeOf = <T>(outcome: Outcome<T> | null): T | null => (outcome?.ok ? outcome.value : null)
