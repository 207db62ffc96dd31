import type { AuditEvent, AuditRow } from '../domain/identity/audit'

/** The append-only log of an org. Rows of writes are not made here: they commit in the batch of the write itself. */
export interface AuditLog {
  /** For what writes nothing else, and happens by itself: grants. */
  record(org: string, event: AuditEvent): Promise<void>
  /** For what anybody may cause again and again, denials and packs: those of a key within a minute that are alike share a row. */
  recordRepeated(org: string, event: AuditEvent): Promise<void>
  /**
   * In order of `seq`.
   *
   * @param keys only what these keys did, when given
   */
  page(org: string, request: { after: number; limit: number; keys?: readonly string[] }): Promise<AuditRow[]>

  /**
   * The newest first, of at most 5,000 rows that are looked at in one call; `lookedDownTo` is the lowest `seq` of these, behind which the
   * next call goes on, or null where none is left.
   */
  newest(org: string, request: NewestAudit): Promise<{ rows: AuditRow[]; lookedDownTo: number | null }>
}

export interface NewestAudit {
  /** Only rows with a lower `seq`; null for all. */
  readonly before: number | null
  readonly limit: number
  /** Only what these keys did, when given. */
  readonly keys?: readonly string[]
  readonly action: string | null
  readonly allowed: boolean | null
}
