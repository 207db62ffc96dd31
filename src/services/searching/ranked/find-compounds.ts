import { Problem } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import { compoundsAsked, createPartCounter } from '../../../domain/search/compounds'
import type { FullText, TextHit, TextRequest, TextSearch, UnitsRequest } from '../../../ports/full-text'

/** Newest entries with compounds that are read. */
const READ = 30

/**
 * Adds, behind the entries that hold words of a short `match` query, those that hold a compound with such a word or a part of such a
 * compound (threads contract §6.5). Both searches begin in the same moment and share a round trip.
 */
export function findingCompounds(
  fullText: FullText,
  { analyzer }: { readonly analyzer: Analyzer },
): Pick<FullText, 'search' | 'searchByUnits'> {
  type Asked = Pick<TextRequest, 'query' | 'terms' | 'filter' | 'columns'>

  async function compounds(scope: Scope, asked: Asked, captured: boolean): Promise<TextSearch | null> {
    const { query, terms, filter, columns } = asked
    const expression = query.mode === 'match' ? compoundsAsked(terms) : null
    if (expression === null) return null
    try {
      return await fullText.search(scope, {
        query: { ...query, expression, preferred: null, units: [] },
        ...{ terms: [], filter, captured, totals: false },
        columns: [...new Set([...columns, 'context' as const])],
        depth: { candidates: READ, complete: 0 },
      })
    } catch (error) {
      // Compounds add to a search that the database can do without them.
      if (error instanceof Problem && error.code === 'limit_exceeded') return null
      throw error
    }
  }

  async function joined({ terms, columns }: Asked, found: TextSearch, more: TextSearch | null): Promise<TextSearch> {
    const known = new Set(found.hits.map(({ id }) => id))
    const others = (more?.hits ?? []).filter(({ id }) => !known.has(id))
    if (others.length === 0) return found
    const count = createPartCounter(analyzer, terms)
    const holding = terms.map((_, place) => found.statistics.entriesWithTerm[place] ?? 0)
    const hits: TextHit[] = []
    const partly = new Set<number>()
    for (const hit of others) {
      const counts = count(`${hit.title}\n${hit.text}`)
      await scheduler.tick(hit.title.length + hit.text.length)
      const places = counts.flatMap((n, place) => (n > 0 ? [place] : []))
      if (places.length === 0) continue
      for (const place of places) {
        if ((found.statistics.entriesWithTerm[place] ?? 0) > 0) continue
        partly.add(place)
        holding[place] = (holding[place] as number) + 1
      }
      const context = columns.includes('context') ? hit.context : ''
      hits.push({ ...hit, context, complete: false, held: 0, isByParts: true })
    }
    if (hits.length === 0) return found
    const statistics = { ...found.statistics, entriesWithTerm: holding, partly: [...partly] }
    return { ...found, hits: [...found.hits, ...hits], statistics }
  }

  return {
    async search(scope, request) {
      const [found, more] = await Promise.all([
        fullText.search(scope, request),
        compounds(scope, request, request.captured ?? false),
      ])
      return joined(request, found, more)
    },
    async searchByUnits(scope, request: UnitsRequest) {
      const [found, more] = await Promise.all([
        fullText.searchByUnits(scope, request),
        compounds(scope, request, false),
      ])
      return joined(request, found, more)
    },
  }
}
