import type { Metadata } from '../../../domain/entry/metadata'
import { threadOfProject } from '../../../domain/entry/selection'
import type { Caller } from '../../../domain/identity/scope'
import { MEMORY_TYPES, type MemoryType } from '../../../domain/recall/memory'
import { projectOfWrite } from '../../../domain/recall/memory-metadata'
import { digestOf } from '../../../domain/recall/summary-text'
import { note } from '../../../domain/receipts/notes'
import { DAY_MS } from '../../../domain/time'
import type { Clock } from '../../../ports/clock'
import type { Memories } from '../../../ports/memories'
import { done, onlyValue, withRetries } from '../../outcome'
import type { StoreEntries } from '../entries/store-entries'

export interface SummarizeRequest {
  /** Null if the call names none. */
  readonly project: string | null
  readonly layer: 2 | 3
  readonly olderThanDays: number
  readonly targetTokens: number
  /** Empty for every type. */
  readonly focusTypes: readonly MemoryType[]
  readonly includePatterns: boolean
  readonly includeDecisions: boolean
}

export interface Summarized {
  /** Null if there was nothing to summarize. */
  readonly id: number | null
  readonly count: number
  readonly summary: string
  /** Candidates that did not fit into the summary and are unchanged. */
  readonly remaining: number
}

/** Memories that one call summarizes. */
const MAX_SUMMARIZED = 1_000
const PATTERNS: readonly MemoryType[] = ['code_pattern', 'convention']

export type Summarize = ReturnType<typeof createSummarize>

export function createSummarize({
  memories,
  storeEntries,
  clock,
}: {
  readonly memories: Pick<Memories, 'summarizable'>
  readonly storeEntries: StoreEntries
  readonly clock: Clock
}) {
  /**
   * Replaces old memories with one text; each that has a line in it is archived and linked, in one batch with preconditions
   * (fabric contract §8).
   *
   * @throws Problem conflict after five lost races; unavailable if vectors of layer 3 cannot be computed; then nothing has
   *   changed
   */
  return async (caller: Caller, request: SummarizeRequest): Promise<Summarized> => {
    return withRetries(async () => {
      const { layer, olderThanDays, focusTypes, includePatterns, includeDecisions } = request
      const named = request.project === null ? {} : { projectPath: request.project }
      const project = projectOfWrite(caller, named, 'projectPath')
      const types = MEMORY_TYPES.filter(
        (type) =>
          (focusTypes.length === 0 || focusTypes.includes(type)) &&
          (includePatterns || !PATTERNS.includes(type)) &&
          (includeDecisions || type !== 'decision'),
      )
      const originals = await memories.summarizable(caller, {
        ...{ project, layer, types, limit: MAX_SUMMARIZED },
        createdBefore: clock.now() - olderThanDays * DAY_MS,
      })
      if (originals.length === 0)
        return { id: null, count: 0, remaining: 0, summary: `Nothing older than ${olderThanDays} days to summarize.` }
      const { text: summary, included } = digestOf(originals, request.targetTokens)
      const [first, last] = [included[0], included.at(-1)] as [(typeof included)[number], (typeof included)[number]]
      const metadata: Metadata = {
        ...{ kind: 'summary', source: 'system_auto', summarizedCount: included.length },
        ...(project === null ? {} : { project }),
        dateRange: { from: new Date(first.createdAt).toISOString(), to: new Date(last.createdAt).toISOString() },
        originalIds: included.map(({ id }) => String(id)),
      }
      const made = { count: included.length, remaining: originals.length - included.length, summary }
      note(caller, 'made', made)
      const outcomes = await storeEntries(
        caller,
        [
          done({
            ...{ threadId: threadOfProject(project), source: 'agent', text: summary, metadata, tags: ['summary'] },
            memory: { layer, life: { pinned: false, lasts: null } },
            digestOf: included.map(({ id, version }) => ({ id, version })),
          }),
        ],
        { atomic: true, dedupe: false },
      )
      return { id: onlyValue(outcomes).id, ...made }
    })
  }
}
