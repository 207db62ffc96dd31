import { countedAction } from '../../../domain/recall/events/telling'
import type { StoredMemory } from '../memories/stored-memory'
import type { SimilarMemory } from './similar-memories'

/** What became of an event that was reported, as it is told at once and to a call made again. */

export interface EventReport {
  /** The first is the one that stands for the event. */
  readonly memoryIds: readonly [number, ...number[]]
  readonly actions: readonly string[]
  readonly message: string
  /** What else is known of what went wrong, and how much that is; null when nothing did. */
  readonly similar: { readonly shown: readonly SimilarMemory[]; readonly count: number } | null
  readonly existing: boolean
  readonly evicted: readonly number[]
  readonly warnings: readonly string[]
  /** A file that is still to be indexed, which is done behind the write. */
  readonly unindexed: boolean
}

/** What is noted of an event before its write. */
export interface PlannedEvent extends Pick<EventReport, 'actions' | 'message' | 'similar'> {
  /** The memory that stood for the problem and counts it; null for none. */
  readonly before: number | null
  /** Of each memory that the event leaves, whether it tells of that problem. */
  readonly counts: readonly boolean[]
  readonly file: 'none' | 'homeless' | 'named'
}

/** What became of an event. @param stored what it left, in the order in which it was stored: the last first */
export function eventAs(planned: PlannedEvent, stored: readonly StoredMemory[]): EventReport {
  const { before, counts, file, actions, message, similar } = planned
  const left = stored.toReversed()
  const fresh = left.values()
  const [first, ...others] = counts.flatMap((counts) =>
    counts && before !== null ? before : (fresh.next().value?.id ?? []),
  )
  if (first === undefined) throw new Error('an event leaves at least one memory')
  return {
    memoryIds: [first, ...others],
    ...{ actions: before === null ? actions : actions.map(countedAction), message, similar },
    existing: before === null && left.some(({ existing }) => existing),
    evicted: [...new Set(left.flatMap(({ evicted }) => evicted))],
    warnings: [
      ...left.flatMap(({ warnings }) => warnings),
      ...(file === 'homeless' ? ['The file is not indexed, because the event names no projectPath'] : []),
    ],
    unindexed: file === 'named',
  }
}

/** @param reason why the file is not indexed; null when it is */
export const withIndexed = (report: EventReport, reason: string | null): EventReport => ({
  ...report,
  unindexed: false,
  ...(reason === null
    ? { actions: [...report.actions, 'indexed_file'] }
    : { warnings: [...report.warnings, `The file is not indexed: ${reason}`] }),
})
