import { DAY_MS, type Millis } from '../time'

/** How complete and how fresh the index of code is (fabric contract §9). */
export interface IndexStatus {
  readonly totalFiles: number
  readonly totalSymbols: number
  /** Milliseconds since 1970 of the last upload, or null. */
  readonly lastIndexed: number | null
  readonly isStale: boolean
  /** Files whose vectors are still to be made. */
  readonly pending: number
}

interface Totals {
  readonly files: number
  readonly symbols: number
  readonly pending: number
  readonly lastIndexed: number | null
}

const FRESH_MS = DAY_MS

/** Of all projects together: as fresh as the one that was uploaded last. */
export function statusOf(totals: readonly Totals[], now: Millis): IndexStatus {
  const sum = (of: (one: Totals) => number): number => totals.reduce((all, one) => all + of(one), 0)
  const totalFiles = sum(({ files }) => files)
  const pending = sum((one) => one.pending)
  const last = Math.max(0, ...totals.map(({ lastIndexed }) => lastIndexed ?? 0))
  const lastIndexed = last === 0 ? null : last
  const isStale = pending > 0 || totalFiles === 0 || lastIndexed === null || now - lastIndexed > FRESH_MS
  return { totalFiles, totalSymbols: sum(({ symbols }) => symbols), lastIndexed, isStale, pending }
}
