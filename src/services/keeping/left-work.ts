/** Changes of an isolate after which the vector index is told, behind the answer: at once, as the platform contract has it (§6). */
const GATHERED = 1

/**
 * When is work done that a write leaves? Behind its answer; a request that changed nothing leaves none. Telling the vector index costs four
 * round trips and some sixty rows, however much it is told.
 *
 * @param changes of the isolate, since work was last done
 */
export function createLeftWork(changes: { since: number }) {
  let waits = false
  return {
    /** A write has made so many changes; somebody may wait for the work that it left. */
    note(made: number, isWaited: boolean): void {
      changes.since += made
      waits ||= isWaited
    },
    isDue(): boolean {
      if (!waits && changes.since < GATHERED) return false
      waits = false
      changes.since = 0
      return true
    },
  }
}
