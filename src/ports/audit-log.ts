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
}
