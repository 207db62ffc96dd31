import type { Scope } from '../../domain/identity/scope'
import { grepText } from '../../domain/reading/grep'
import { Meter } from '../../domain/reading/meter'
import type { Pattern } from '../../domain/reading/search-pattern'
import { scheduler } from '../../domain/scheduler'
import type { Analyzer } from '../../domain/search/analysis'
import { and, type Filter } from '../../domain/search/filter'
import { parseQuery } from '../../domain/search/query'
import type { EntryStore } from '../../ports/entry-store'
import type { RankedResult } from '../searching/ranked/ranked-page'
import type { RankedSearches } from '../searching/ranked/ranked-search'

/** Returns a filter for the captured sessions of the caller's owner. */
export const ownCaptured = ({ owner }: Pick<Scope, 'owner'>): Filter => ({ op: 'capturedOf', owner: owner ?? '' })

/** Maximum characters of a session. */
const COMPLETE = 6_000
/** Sessions whose lines one call searches, newest first. */
const SCANNED = 100
/** Content words that a prompt needs before sessions are compared with it. */
const LEAST_WORDS = 3

interface OwnRequest {
  readonly query: string
  readonly filter: Filter
  readonly limit: number
  /** Characters of the excerpt around the match. */
  readonly excerpt: number
  /** Characters of the text; default 300. */
  readonly previewLength?: number
}

export type OwnSessions = ReturnType<typeof createOwnSessions>

export function createOwnSessions({
  searches,
  entries,
  analyzer,
}: {
  /** Full-text search; null if it is switched off. */
  readonly searches: Pick<RankedSearches, 'byWords'> | null
  /** Reads captured entries if a filter requests them. */
  readonly entries: Pick<EntryStore, 'page'>
  readonly analyzer: Analyzer
}) {
  /** Returns the owner's sessions that contain words of a query, best first; empty if the query has no words. */
  async function holding(
    scope: Scope,
    { query, filter, limit, excerpt, previewLength = 300 }: OwnRequest,
  ): Promise<readonly RankedResult[]> {
    if (searches === null) return []
    const request = { query, filter: and([filter, ownCaptured(scope)]), limit, offset: 0, previewLength, excerpt }
    return (await searches.byWords(scope, { ...request, mode: 'match', highlight: false })).results
  }

  return {
    holding,
    /** Returns the owner's sessions with a matching line, newest first, with those lines. */
    async withLines(scope: Scope, pattern: Pattern, filter: Filter) {
      const window = { limit: SCANNED, offset: 0, previewLength: COMPLETE }
      const page = await entries.page(scope, and([filter, ownCaptured(scope)]), window)
      const meter = new Meter(pattern)
      const found = []
      for (const entry of page.entries) {
        const { lines } = await scheduler.run(grepText(entry.text, pattern, meter, 0))
        if (lines.length > 0) found.push({ entry, lines })
      }
      return found
    },
    /** Returns the owner's session that contains most words of a prompt, or null if none contains at least this fraction. */
    async about(scope: Scope, query: string, filter: Filter, least: number) {
      const { units } = parseQuery(query, 'match', analyzer)
      const wanted = units.filter(({ stops }) => stops.some((isStopWord) => !isStopWord))
      if (wanted.length < LEAST_WORDS) return null
      const [best] = await holding(scope, { query, filter, limit: 1, excerpt: 100, previewLength: COMPLETE })
      if (best === undefined) return null
      const words = new Set(analyzer.tokenize(`${best.entry.title ?? ''}\n${best.entry.text}`).map(({ term }) => term))
      const held = wanted.filter(({ terms }) => terms.every((term) => words.has(term))).length
      return held / wanted.length >= least ? best.entry : null
    },
  }
}
