import { contentOf } from '../../../domain/code/chunks'
import { codeWords, contentLength } from '../../../domain/code/words'
import type { Scope } from '../../../domain/identity/scope'
import { shareOf } from '../../../domain/recall/similarity'
import type { Analyzer, Token } from '../../../domain/search/analysis'
import type { Unit } from '../../../domain/search/query-unit'
import { countTerms, rank, scoredTerms } from '../../../domain/search/score'
import type { CodeFilter, CodeIndex, CodeTotals, StoredChunk } from '../../../ports/code-index'

/** Chunks that are weighed, those that hold most units first; to read one takes about half a millisecond. */
const CANDIDATES = 40

/** A chunk that holds words of a query. */
export interface WordScore {
  readonly chunk: StoredChunk
  /** How much of the query it holds, by rarity: K of recall (fabric contract §4). */
  readonly share: number
  /** By how well it ranks among the others. */
  readonly score: number
}

/** Whether the terms of a unit stand next to each other somewhere. */
function holds(tokens: readonly Token[], { terms, prefix }: Unit): boolean {
  const last = terms.length - 1
  return tokens.some((_, at) =>
    terms.every((term, i) => {
      const found = tokens[at + i]?.term
      return found !== undefined && (prefix && i === last ? found.startsWith(term) : found === term)
    }),
  )
}

/** What is looked for, in which files; null for all. */
interface Asked {
  readonly files: CodeFilter['files']
  readonly units: readonly Unit[]
  readonly limit: number
}

export function createSearchWords(index: CodeIndex, analyzer: Analyzer) {
  async function ofProject(
    scope: Scope,
    project: string,
    counted: Promise<readonly CodeTotals[]>,
    { files, units, limit }: Asked,
  ): Promise<WordScore[]> {
    const [{ hits, chunksWithUnit }, all] = await Promise.all([
      index.chunksWithWords(
        scope,
        project,
        units.map(({ terms }) => terms),
        files,
        Math.max(CANDIDATES, limit),
      ),
      counted,
    ])
    const totals = all.find((one) => one.project === project)
    if (hits.length === 0 || totals === undefined) return []
    const terms = scoredTerms(units)
    const weighed = hits.map((chunk) => {
      const tokens = analyzer.tokenize(codeWords(`${chunk.path}\n${contentOf(chunk)}`))
      const held = [...units.keys()].filter((place) => holds(tokens, units[place] as Unit))
      return { chunk, held, length: contentLength(tokens), frequencies: countTerms(terms, tokens) }
    })
    const withTerm = terms.map(({ term }) => {
      const unit = units.findIndex((one) => one.terms.includes(term))
      return chunksWithUnit[unit] ?? 1
    })
    const ranked = rank(
      weighed.map(({ chunk, held, length, frequencies }) => ({
        ...{ id: chunk.id, length, frequencies, following: [] },
        complete: held.length === units.length,
        titled: 0,
      })),
      { entries: totals.chunks, averageLength: totals.words / Math.max(1, totals.chunks), entriesWithTerm: withTerm },
      { mode: 'match', units: units.length },
    )
    const scores = new Map(ranked.map(({ id, score }) => [id, score]))
    const share = shareOf(totals.chunks, chunksWithUnit)
    return weighed.flatMap(({ chunk, held }) =>
      held.length === 0 ? [] : [{ chunk, share: share(held), score: scores.get(chunk.id) ?? 0 }],
    )
  }

  /**
   * Chunks that hold words of the query, the best of each project, in no order. Of a project that is named in one round trip, shared with
   * what counts it.
   */
  return async (
    scope: Scope,
    project: string | null,
    counted: Promise<readonly CodeTotals[]>,
    asked: Asked,
  ): Promise<WordScore[]> => {
    if (asked.units.length === 0) return []
    const projects = project === null ? (await counted).map((one) => one.project) : [project]
    return (await Promise.all(projects.map((one) => ofProject(scope, one, counted, asked)))).flat()
  }
}
