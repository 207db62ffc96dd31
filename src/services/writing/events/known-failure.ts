import type { Caller } from '../../../domain/identity/scope'
import type { Equal } from '../../../domain/recall/equal'
import type { Failure } from '../../../domain/recall/events/event'
import { problemKey, type Reported, sameProblem } from '../../../domain/recall/problem'
import type { MemoryService } from '../memories/memories'
import type { MemoryDraft } from '../memories/stored-memory'
import type { SimilarMemories, SimilarMemory } from './similar-memories'

const MOST_SIMILAR = 5

/** What is known of a failure before it is stored. */
export interface Known {
  readonly key: string
  /** All that stands under its key. */
  readonly standing: readonly Reported[]
  /** The memory that stands for it already. */
  readonly before: Reported | null
  /** Memories that are equal to those which the event leaves. */
  readonly equals: readonly (Equal | null)[]
  readonly similar: { readonly shown: readonly SimilarMemory[]; readonly count: number }
}

/** Asks what is known of a failure: in two round trips, words, then what they found beside what stands under the key. */
export function createFailureLookup({
  memories,
  similarMemories,
}: {
  readonly memories: Pick<MemoryService, 'equals' | 'reported'>
  readonly similarMemories: SimilarMemories
}) {
  return async (
    caller: Caller,
    project: string | null,
    failure: Failure,
    drafts: readonly MemoryDraft[],
  ): Promise<Known> => {
    const [read, readEquals, key] = await Promise.all([
      similarMemories(caller, project, failure.line),
      memories.equals(caller, drafts),
      problemKey(failure),
    ])
    const [found, equals, standing] = await Promise.all([read(), readEquals(), memories.reported(caller, project, key)])
    const before = sameProblem(failure, project, standing)
    const others = found.filter(({ id }) => id !== before?.id)
    return { key, standing, before, equals, similar: { shown: others.slice(0, MOST_SIMILAR), count: others.length } }
  }
}
