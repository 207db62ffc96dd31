import type { Millis } from '../time'

/** An event of the audit log (platform contract §5): counts and codes, never text. */
export interface AuditEvent {
  /** ID of the key, `local` in open mode, or `admin-token`. */
  readonly keyId: string
  readonly agent: string | null
  /** Name of the tool or route. */
  readonly action: string
  readonly tool: string | null
  /** IDs of the affected entries; only the first 10,000. */
  readonly ids: readonly number[]
  /** False for a denied call. */
  readonly allowed: boolean
  readonly detail: Readonly<Record<string, number | string>>
}

export interface AuditRow extends AuditEvent {
  /** 1, 2, 3 … within the org. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at: Millis
}

/** Maximum number of IDs in a row of the audit log, which keeps a row well below database limits. */
export const MAX_AUDIT_IDS = 10_000

/** Maximum number of entries that one call deletes, those with the lowest IDs: as many as its audit row lists. */
export const MOST_DELETED = MAX_AUDIT_IDS
