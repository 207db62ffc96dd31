import type { AuditEvent, AuditRow } from '../domain/identity/audit'
import type { Millis } from '../domain/time'

/** The append-only audit log of an organization. Rows of writes are not appended here: they commit in the batch of the write itself. */
export interface AuditLog {
  /** Appends an event that has no write of its own, such as a grant. */
  record(org: string, event: AuditEvent): Promise<void>
  /**
   * Appends an event that a caller may repeat without limit, such as a denial or a pack: equal events of a key within a minute share a row.
   */
  recordRepeated(org: string, event: AuditEvent): Promise<void>
  /**
   * Lists rows in order of `seq`.
   *
   * @param keys only events of these keys, when given
   */
  page(org: string, request: { after: number; limit: number; keys?: readonly string[] }): Promise<AuditRow[]>

  /**
   * Lists rows newest first. One call checks at most 5,000 rows; `scannedDownTo` is the lowest `seq` of these, from which the next call
   * continues, or null at the end.
   */
  newest(org: string, request: NewestAudit): Promise<{ rows: AuditRow[]; scannedDownTo: number | null }>
}

export interface NewestAudit {
  /** Only rows with a lower `seq`; null for all. */
  readonly before: number | null
  readonly limit: number
  /** Only events of these keys, when given. */
  readonly keys?: readonly string[]
  readonly action: string | null
  readonly allowed: boolean | null
  /** Only rows of these times, in milliseconds since 1970: from `since` on, and before `until`. */
  readonly since?: Millis | null
  readonly until?: Millis | null
  /** Only rows about this entry. */
  readonly entryId?: number | null
}
