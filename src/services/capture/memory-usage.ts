import { UNUSED_MS, USES_KEPT_MS } from '../../domain/capture/hook-event'
import { MOST_SESSIONS, type NamedMemory, type UseOfMemory, useOf, usesOf } from '../../domain/capture/usage'
import { Problem } from '../../domain/errors'
import type { Caller, Scope } from '../../domain/identity/scope'
import { DAY_MS, type Millis } from '../../domain/time'
import type { CaptureStore } from '../../ports/capture'
import type { Clock } from '../../ports/clock'

const WEEK_MS = 7 * DAY_MS
/** Maximum memories in each list. */
const LISTED = 20
/** Candidates of a list, before memories that the reader cannot read are removed. */
const CANDIDATES = 100

/** A memory with its use. */
export interface MemoryWithUse {
  readonly memory: NamedMemory
  readonly use: UseOfMemory
}

interface Usage {
  /** Used memories of the last week, most used first. */
  readonly mostUsed: readonly MemoryWithUse[]
  /** Memories that sessions corrected or contradicted in the last 90 days, most often first. */
  readonly contradicted: readonly MemoryWithUse[]
  /** Oldest memories that no session used for 90 days; empty if use has been recorded for less time. */
  readonly unused: readonly NamedMemory[]
  /** Time of the first recorded use; null if there is none. */
  readonly since: Millis | null
}

export type MemoryUsage = ReturnType<typeof createMemoryUsage>

export function createMemoryUsage({
  store,
  clock,
}: {
  readonly store: Pick<CaptureStore, 'uses' | 'firstUse' | 'named' | 'unused' | 'archive'>
  readonly clock: Clock
}) {
  /** Returns the memories with the highest counts; memories without any are left out. */
  async function most(
    scope: Scope,
    uses: ReadonlyMap<number, UseOfMemory>,
    by: 'used' | 'contradicted',
  ): Promise<MemoryWithUse[]> {
    const chosen = [...uses]
      .filter(([, use]) => use[by] > 0)
      .sort(([a, one], [b, other]) => other[by] - one[by] || a - b)
      .slice(0, CANDIDATES)
    const memories = new Map(
      (
        await store.named(
          scope,
          chosen.map(([id]) => id),
        )
      ).map((memory) => [memory.id, memory]),
    )
    return chosen
      .flatMap(([id, use]) => {
        const memory = memories.get(id)
        return memory === undefined ? [] : [{ memory, use }]
      })
      .slice(0, LISTED)
  }

  return {
    /** Returns the use of a memory by sessions in projects that the scope reaches. */
    async of(scope: Scope, id: number): Promise<UseOfMemory> {
      return useOf(id, await store.uses(scope, clock.now() - USES_KEPT_MS, id))
    },

    /** Returns the use of each memory by these sessions. */
    async ofAll(scope: Scope): Promise<ReadonlyMap<number, UseOfMemory>> {
      return usesOf(await store.uses(scope, clock.now() - USES_KEPT_MS, null))
    },

    async week(scope: Scope): Promise<Usage> {
      const now = clock.now()
      const [sessions, since] = await Promise.all([store.uses(scope, now - UNUSED_MS, null), store.firstUse(scope)])
      const lately = usesOf(sessions)
      const ofWeek = usesOf(sessions.filter(({ at }) => at >= now - WEEK_MS))
      const used = [...lately].filter(([, use]) => use.used > 0).map(([id]) => id)
      // If older sessions were left out, a memory that only they used would seem unused.
      const isComplete = sessions.length < MOST_SESSIONS
      const isLong = since !== null && since <= now - UNUSED_MS
      const [mostUsed, contradicted, unused] = await Promise.all([
        most(scope, ofWeek, 'used'),
        most(scope, lately, 'contradicted'),
        isLong && isComplete ? store.unused(scope, now - UNUSED_MS, used, LISTED) : [],
      ])
      return { mostUsed, contradicted, unused, since }
    },

    /**
     * Archives memories, or restores them to lists and searches: all or none. Archived memories can still be read by ID.
     *
     * @throws Problem conflict if one has changed, or the caller cannot change it
     */
    async archive(caller: Caller, memories: readonly (readonly [id: number, version: number])[], isArchived: boolean) {
      if (!(await store.archive(caller, memories, isArchived)))
        throw new Problem('conflict', 'A memory of these has changed since you opened the page. Reload the page')
    },
  }
}
