import type { Scope } from '../../../domain/identity/scope'
import { paginate } from '../../../domain/paginate'
import { type Grepped, grepText, MAX_CHARACTERS } from '../../../domain/reading/grep'
import type { Narrowing } from '../../../domain/reading/literal'
import { Meter } from '../../../domain/reading/meter'
import type { Pattern } from '../../../domain/reading/search-pattern'
import { scheduler } from '../../../domain/scheduler'
import type { Filter } from '../../../domain/search/filter'
import type { Candidate, EntryTexts } from '../../../ports/entry-texts'

/** Bytes of text that one call reads (threads contract §13); a first entry is always read. */
const MAX_READ = 16_000_000
/** Bytes of text that one query returns. */
const MAX_GROUP = 2_000_000
/** Ranges of entries that the database scans for one call. */
const MAX_SCANS = 20

export interface GrepRequest {
  readonly pattern: Pattern
  /** Narrowing by the database; null if every text must be read. */
  readonly narrowing: Narrowing | null
  readonly filter: Filter
  readonly ids: readonly number[] | null
  readonly beforeId: number | null
  /** Lines around each match; null to count matches only. */
  readonly context: number | null
  /** Maximum matching lines, or matching entries if only these are counted. */
  readonly maxMatches: number
  readonly maxEntries: number
}

export interface GreppedEntry extends Grepped {
  readonly id: number
  readonly threadId: string
}

interface GrepResult {
  /** Entries with a match, newest id first. */
  readonly entries: readonly GreppedEntry[]
  readonly totalMatches: number
  /** Number of filtered entries that were covered. */
  readonly scanned: number
  /** ID where a further call continues; null if all entries were covered. */
  readonly nextBeforeId: number | null
  /** Entries of which not all matches are returned. */
  readonly cut: readonly number[]
}

export type GrepTexts = ReturnType<typeof createGrepTexts>

export function createGrepTexts({ texts }: { readonly texts: EntryTexts }) {
  /** Yields candidates with their texts, read on demand; deleted ones are skipped. */
  async function* withTexts(scope: Scope, candidates: readonly Candidate[]): AsyncGenerator<[Candidate, string]> {
    let known: ReadonlyMap<number, string> = new Map()
    for (const [i, candidate] of candidates.entries()) {
      if (candidate.text === null && !known.has(candidate.id)) {
        const group: number[] = []
        for (let at = i, bytes = 0; at < candidates.length; at++) {
          const next = candidates[at] as Candidate
          bytes += next.bytes
          if (group.length > 0 && bytes > MAX_GROUP) break
          group.push(next.id)
        }
        known = await texts.texts(scope, group)
      }
      const text = candidate.text ?? known.get(candidate.id)
      if (text !== undefined) yield [candidate, text]
    }
  }

  /**
   * Searches the texts of entries line by line, newest entry first.
   *
   * An entry that reaches a limit is finished; the next call continues after it, whatever is written in between.
   *
   * @example
   * await services.grepTexts(principal, { pattern: literalPattern('ledger', false), narrowing: null, filter: EVERYTHING, ids: null, beforeId: null, context: 2, maxMatches: 100, maxEntries: 1000 })
   */
  return async (scope: Scope, request: GrepRequest): Promise<GrepResult> => {
    const { pattern, narrowing, filter, ids, context, maxMatches, maxEntries } = request
    const meter = new Meter(pattern)
    const entries: GreppedEntry[] = []
    const cut: number[] = []
    let [totalMatches, rows, characters, read, scanned] = [0, 0, 0, 0, 0]
    let scans = 0
    const result = (covered: number, nextBeforeId: number | null): GrepResult => ({
      entries,
      totalMatches,
      scanned: covered,
      nextBeforeId,
      cut,
    })
    const parts = paginate({
      start: { beforeId: request.beforeId, inParts: false },
      async step(place) {
        if (place.beforeId !== request.beforeId) await scheduler.yield()
        const found = await texts.scan(scope, { filter, ids, ...place, narrowing, limit: maxEntries - scanned })
        return { found, next: found.more ? { beforeId: found.lastId, inParts: found.inParts } : null }
      },
    })
    for await (const scan of parts) {
      // A range without entries that pass the filter does not count.
      if (scan.covered > 0) scans++
      for await (const [{ id, threadId, place, bytes }, text] of withTexts(scope, scan.candidates)) {
        if (read > 0 && (read + bytes > MAX_READ || !meter.allows(text.length)))
          return result(scanned + place - 1, id + 1)
        read += bytes
        const grepped = await scheduler.run(grepText(text, pattern, meter, context))
        if (grepped.cut) cut.push(id)
        if (grepped.matches === 0) continue
        entries.push({ id, threadId, ...grepped })
        totalMatches += grepped.matches
        characters += grepped.characters
        rows += context === null ? 1 : grepped.lines.length
        if (rows >= maxMatches || characters >= MAX_CHARACTERS)
          return result(scanned + place, place < scan.covered || scan.more ? id : null)
      }
      scanned += scan.covered
      if (scan.more && (scanned >= maxEntries || scans >= MAX_SCANS)) return result(scanned, scan.lastId)
    }
    return result(scanned, null)
  }
}
