/** Changes of an isolate after which the vector index is told of them, if the schedule was not faster: each search reads what it missed. */
const GATHERED = 50

/**
 * When is work done that a write leaves? At once where the write says so. That the vector index is behind waits for the schedule, or until
 * several changes have gathered: telling it costs four round trips and some sixty rows, however much it is told.
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
