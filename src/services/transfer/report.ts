import { limitExceeded, Problem } from '../../domain/errors'
import type { RecordId } from '../../domain/transfer/records'
import type { RemainingQuota } from '../../ports/import-store'

/** The answer of an import (docs/contracts/operate.md §2). */
export interface ImportReport {
  readonly volume: number
  readonly entries: {
    stored: number
    unchanged: number
    replaced: number
    skipped: number
    refused: number
    deleted: number
  }
  readonly images: { stored: number; present: number; missing: number }
  links: number
  versions: number
  vectors: number
  /** IDs that differ: in the file, here. */
  readonly map?: [RecordId, number][]
  readonly problems: ImportProblem[]
  /** The first hundred warnings about imported entries. */
  warnings?: (Omit<ImportProblem, 'code'> & { readonly code: WarningCode })[]
  /** The number of warnings by code. */
  warned?: { readonly [code in WarningCode]?: number }
  /** Digest of the entries as they are stored here. */
  content?: string
}

interface ImportProblem {
  readonly line: number
  readonly id?: RecordId
  readonly code: string
  readonly message: string
}

/**
 * Warning codes:
 *
 * - `secret`: text or metadata may contain a secret
 *
 * - `redacted`: such secrets were removed (REDACT=always)
 *
 * - `addresses_agent`: text or title addresses an agent
 */
export type WarningCode = 'secret' | 'redacted' | 'addresses_agent'

const MOST_PROBLEMS = 100

export const emptyReport = (volume: number, dryRun: boolean): ImportReport => ({
  volume,
  entries: { stored: 0, unchanged: 0, replaced: 0, skipped: 0, refused: 0, deleted: 0 },
  images: { stored: 0, present: 0, missing: 0 },
  links: 0,
  versions: 0,
  vectors: 0,
  ...(dryRun ? {} : { map: [] }),
  problems: [],
})

export function noteProblem(report: ImportReport, line: number, id: RecordId | null, problem: Problem): void {
  if (report.problems.length >= MOST_PROBLEMS) return
  const { code, message } = problem
  report.problems.push({ line, ...(id === null ? {} : { id }), code, message })
}

export const asProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error
  throw error
}

/** The outcome of an ID in a volume. */
export type ImportOutcome = 'store' | 'replace' | 'unchanged' | 'skip' | 'conflict' | 'refuse' | 'delete' | 'none'

/** Counts the outcome of an entry. @param n -1 to correct an earlier count */
export function countOutcome({ entries }: ImportReport, fate: ImportOutcome, n: 1 | -1 = 1): void {
  if (fate === 'store') entries.stored += n
  else if (fate === 'replace') entries.replaced += n
  else if (fate === 'unchanged') entries.unchanged += n
  else if (fate === 'skip') entries.skipped += n
  else if (fate === 'refuse') entries.refused += n
  else if (fate === 'delete') entries.deleted += n
}

/** Returns the error for a volume whose entries were also changed here. */
export const conflictOf = (ids: readonly RecordId[]): Problem =>
  new Problem(
    'conflict',
    `${ids.length} entries were changed here since their import (the first: ${ids[0]}), so nothing was imported. Import with ` +
      'on_conflict=skip to keep the entries here, or with on_conflict=replace to use those of the file',
    { retryable: false, details: { ids: ids.slice(0, 100).map(String) } },
  )

const LIMITS = { entries: 'MAX_ENTRIES_PER_ORG', bytes: 'MAX_BYTES_PER_ORG' } as const

/** Checks the quota of the organization. @throws Problem limit_exceeded if the volume exceeds it */
export function checkQuota(
  remaining: RemainingQuota,
  takes: { readonly entries: number; readonly bytes: number },
): void {
  for (const part of ['entries', 'bytes'] as const) {
    const left = Math.max(remaining[part] ?? Number.POSITIVE_INFINITY, 0)
    if (takes[part] > left)
      throw limitExceeded(
        `This organization may hold ${left} more ${part} (${LIMITS[part]}), and the volume has ${takes[part]}; nothing was imported`,
      )
  }
}
