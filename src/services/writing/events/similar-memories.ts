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
import { createHolding, sharesBy } from '../../searching/memories/recall-words'

/** What is known of an error: memories that hold most of its line (fabric contract §7). */
export interface SimilarMemory {
  readonly id: number
  /** The fabric type. */
  readonly type: string
  /** Whether an event left it. */
  readonly captured: boolean
  /** What takes its place, where something does. */
  readonly supersededBy?: number | undefined
  readonly similarity: number
  /** The beginning of its text. */
  readonly content: string
  /** Milliseconds since 1970. */
  readonly createdAt: Millis
  /** Of an error, when it was reported last; else its creation. */
  readonly seenAt: Millis
}

const LEAST_SHARE = 0.5
/** Of the line that is looked for, in code points. */
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
   * Finds what holds most of a line, by the words of it that are rare.
   *
   * @returns reads what was found: those that were stored on purpose first, of these those that stand; then by similarity, then the newer
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
    const share = sharesBy(units, terms, found.statistics, found.statistics.entries)
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

/** What of the org concerns a project: what came from it or from none, or is meant for all (fabric contract §2.6). */
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
