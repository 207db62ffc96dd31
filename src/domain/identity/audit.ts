import type { Millis } from '../time'

/** What happened, for the audit log (platform contract §5): counts and codes, never text. */
export interface AuditEvent {
  /** Who did it: a key's id, `local` in open mode, or `admin-token`. */
  readonly keyId: string
  readonly agent: string | null
  /** Name of the tool or route. */
  readonly action: string
  readonly tool: string | null
  /** Entries it touched; the first 10,000 of more. */
  readonly ids: readonly number[]
  /** False for a denial. */
  readonly allowed: boolean
  readonly detail: Readonly<Record<string, number | string>>
}

export interface AuditRow extends AuditEvent {
  /** 1, 2, 3 … within the org. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at: Millis
}

/** More ids than this are counted, not listed, so that a row stays far below what a database takes. */
export const MAX_AUDIT_IDS = 10_000

/** Entries that one call deletes at most, those with the lowest ids: as many as its row of the audit log names. */
export const MOST_DELETED = MAX_AUDIT_IDS
