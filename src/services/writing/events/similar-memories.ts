import type { Layer } from '../../../domain/entry/entry'
import type { Kind } from '../../../domain/entry/kind'
import { own } from '../../../domain/entry/metadata'
import type { Scope } from '../../../domain/identity/scope'
import { kindsOfWord, typeOfKind } from '../../../domain/recall/memory'
import { similarTo } from '../../../domain/recall/recall-filter'
import { RETRIEVER_LIMIT, wordSimilarity } from '../../../domain/recall/similarity'
import type { Analyzer } from '../../../domain/search/analysis'
import { parseQuery } from '../../../domain/search/query'
import { scoredTerms } from '../../../domain/search/score'
import { cutShort, firstCodePoints } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import type { EntryStore } from '../../../ports/entry-store'
import type { FullText, TextColumn } from '../../../ports/full-text'
import { createHolding, queryFractions } from '../../searching/memories/recall-words'

/** A memory that contains most of an error line (fabric contract §7). */
export interface SimilarMemory {
  readonly id: number
  /** The fabric type. */
  readonly type: string
  /** Whether it was stored by an event. */
  readonly captured: boolean
  /** ID of the memory that supersedes it, if any. */
  readonly supersededBy?: number | undefined
  readonly similarity: number
  /** The start of its text. */
  readonly content: string
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
  /** For an error, when it was last reported; otherwise its creation. */
  readonly seenAt: Millis
}

const LEAST_SHARE = 0.5
/** Code points of the error line that are searched. */
const LINE = 1_000
const CONTENT = 200
const COLUMNS: readonly TextColumn[] = ['title', 'body', 'code']

export type SimilarMemories = ReturnType<typeof createSimilarMemories>

export function createSimilarMemories({
  fullText,
  entries,
  analyzer,
}: {
  readonly fullText: FullText
  readonly entries: Pick<EntryStore, 'previews'>
  readonly analyzer: Analyzer
}) {
  const holding = createHolding(analyzer)

  /**
   * Finds memories that contain most of a line, by its rare words.
   *
   * @returns a function that reads them: intentionally stored ones first, then current ones; then by similarity, then newest
   *   first
   */
  return async (
    scope: Scope,
    project: string | null,
    line: string,
  ): Promise<() => Promise<readonly SimilarMemory[]>> => {
    const query = parseQuery(firstCodePoints(line, LINE), 'match', analyzer)
    const { units } = query
    if (units.length === 0) return async () => []
    const terms = scoredTerms(units)
    const filter = similarTo(scope, project)
    const found = await fullText.searchByUnits(scope, {
      ...{ query, terms, filter, columns: COLUMNS, candidates: RETRIEVER_LIMIT },
    })
    const share = queryFractions(units, terms, found.statistics, found.statistics.entries)
    const heldIn = holding(terms, units)
    const shares = new Map<number, number>()
    for (const hit of found.hits) {
      const held = share(await heldIn(hit))
      if (held >= LEAST_SHARE) shares.set(hit.id, held)
    }
    return async () => {
      const previews = await entries.previews(scope, filter, [...shares.keys()], CONTENT + 1)
      return previews
        .filter((one) => isAtHome(one, project))
        .map((one) => ({
          id: one.id,
          type: typeOfKind(one.kind),
          captured: own(one.metadata, 'source') === 'system_auto',
          supersededBy: one.supersededBy,
          similarity: wordSimilarity(shares.get(one.id) as number),
          content: cutShort(one.text, CONTENT),
          createdAt: one.createdAt,
          seenAt: lastSeen(own(one.metadata, 'lastSeen')) ?? one.createdAt,
          kind: one.kind,
        }))
        .filter(({ captured, kind }) => !captured || BUG_FIXES.includes(kind))
        .map(({ kind: _, ...one }) => one)
        .sort((a, b) => standing(a) - standing(b) || b.similarity - a.similarity || b.id - a.id)
    }
  }
}

const standing = ({ captured, supersededBy }: Pick<SimilarMemory, 'captured' | 'supersededBy'>): number =>
  2 * Number(captured) + Number(supersededBy !== undefined)

const BUG_FIXES = kindsOfWord('bug_fix') as readonly Kind[]
const EVERYWHERE = ['global', 'universal']

/** Reports whether a memory concerns a project: it belongs to it or to none, or is meant for all (fabric contract §2.6). */
function isAtHome(
  one: { readonly layer: Layer; readonly project: string | null; readonly tags: readonly string[] },
  project: string | null,
): boolean {
  if (project === null || one.layer !== 3 || one.project === null || one.project === project) return true
  return EVERYWHERE.some((tag) => one.tags.includes(tag))
}

const lastSeen = (value: unknown): number | null => {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : at
}
