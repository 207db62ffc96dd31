import { contentOf } from '../../domain/code/chunks'
import { codeWords, contentLength } from '../../domain/code/words'
import type { Scope } from '../../domain/identity/scope'
import { keywordScore, leastHeld } from '../../domain/recall/similarity'
import type { Analyzer, Token } from '../../domain/search/analysis'
import { parseQuery, type Unit } from '../../domain/search/query'
import { countTerms, rank, scoredTerms } from '../../domain/search/score'
import type { CodeFilter, CodeIndex, CodeTotals, StoredChunk } from '../../ports/code-index'

/** Chunks that are weighed, those that hold most units first; to read one takes about half a millisecond. */
const CANDIDATES = 40

export interface WordScore {
  readonly chunk: StoredChunk
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

export function createSearchWords(index: CodeIndex, analyzer: Analyzer) {
  async function ofProject(
    scope: Scope,
    totals: CodeTotals,
    filter: CodeFilter,
    units: readonly Unit[],
    threshold: number,
    limit: number,
  ): Promise<WordScore[]> {
    // A chunk that holds fewer cannot reach the threshold, however well it ranks.
    const least = leastHeld(units.length, threshold)
    const { hits, chunksWithUnit } = await index.chunksWithWords(
      scope,
      totals.project,
      units.map(({ terms }) => terms),
      filter.files,
      least,
      Math.max(CANDIDATES, limit),
    )
    if (hits.length === 0) return []
    const terms = scoredTerms(units)
    const found = await index.chunks(scope, { ids: hits.map(({ chunkId }) => chunkId) })
    const weighed = found.map((chunk) => {
      const tokens = analyzer.tokenize(codeWords(`${chunk.path}\n${contentOf(chunk)}`))
      const held = units.filter((unit) => holds(tokens, unit)).length
      return { chunk, held, length: contentLength(tokens), frequencies: countTerms(terms, tokens) }
    })
    const withTerm = terms.map(({ term }) => {
      const unit = units.findIndex((one) => one.terms.includes(term))
      return chunksWithUnit[unit] ?? 1
    })
    const ranked = rank(
      weighed.map(({ chunk, held, length, frequencies }) => ({
        ...{ id: chunk.id, length, frequencies, following: [] },
        complete: held === units.length,
      })),
      { entries: totals.chunks, averageLength: totals.words / Math.max(1, totals.chunks), entriesWithTerm: withTerm },
      { mode: 'match', units: units.length },
    )
    const scores = new Map(ranked.map(({ id, score }) => [id, score]))
    return weighed.flatMap(({ chunk, held }) => {
      const own = scores.get(chunk.id) as number
      const score = keywordScore(held, units.length, own)
      return held > 0 && score >= threshold ? [{ chunk, score }] : []
    })
  }

  /** Chunks that reach the threshold, in no order. */
  return async (
    scope: Scope,
    projects: readonly CodeTotals[],
    filter: CodeFilter,
    query: string,
    threshold: number,
    limit: number,
  ): Promise<WordScore[]> => {
    const { units } = parseQuery(query, 'match', analyzer)
    if (units.length === 0) return []
    return (
      await Promise.all(projects.map((totals) => ofProject(scope, totals, filter, units, threshold, limit)))
    ).flat()
  }
}
