/**
 * What keeps a database on a disk of this machine from doing its work. `full`: reads go on. `readonly`: it cannot be written to.
 * `damaged`: some of it cannot be read. `foreign`: what stands in its place is another's, or no database. `missing`: it is gone or empty,
 * although it held memory. `failing`: the disk does not answer.
 */
export type StorageFault = 'full' | 'readonly' | 'damaged' | 'foreign' | 'missing' | 'failing'

/** The machine that the files of a database stand on, where it can be asked: the runtime tells the Worker none of its failures. */
export interface StorageHost {
  /**
   * Never fails.
   *
   * @param failed whether a call of the database has just failed, so that what the runtime said of it counts too
   * @param seen what the failure itself has told; `empty`: there is no table in the database
   */
  report(failed: boolean, seen?: StorageFault | 'empty'): Promise<StorageFault | null>
}
