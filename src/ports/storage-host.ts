/**
 * Faults of a database on a disk of this machine. `full`: reads still work. `readonly`: it cannot be written. `damaged`: parts cannot be
 * read. `foreign`: the file is not a database of this server. `missing`: it is missing or empty, although it had memories. `failing`: the
 * disk does not respond.
 */
export type StorageFault = 'full' | 'readonly' | 'damaged' | 'foreign' | 'missing' | 'failing'

/** The machine with the files of the database, if it can be asked: the runtime does not report failures to the Worker. */
export interface StorageHost {
  /**
   * Never fails.
   *
   * @param failed whether a call of the database has just failed, so that the runtime's log is checked too
   * @param seen the fault in the failure itself; `empty`: the database has no table
   */
  report(failed: boolean, seen?: StorageFault | 'empty'): Promise<StorageFault | null>
}
