/** Counts of the data of one owner. */
export interface PersonalData {
  /** Keys that are not revoked, or still hold an address. */
  readonly keys: number
  /** Private entries, without the following two. */
  readonly entries: number
  readonly diaryPages: number
  /** Captured sessions and proposals that await approval. */
  readonly captured: number
  /** Deleted private entries that could be restored, or of which the change log still names the thread. */
  readonly deleted: number
  /** Retained private versions. */
  readonly versions: number
  /** Sessions of hooks that are still collected. */
  readonly sessions: number
  /** Rows without content of their own: received events, receipts, times of the last visit, use of memories. */
  readonly traces: number
}

/** Whether nothing remains to be revoked, handed over or erased. */
export const isNothing = (data: PersonalData): boolean => Object.values(data).every((count) => count === 0)
