import { DAY_MS, type Millis } from '../time'

/** Completeness and age of the code index (fabric contract §9). */
export interface IndexStatus {
  readonly totalFiles: number
  readonly totalSymbols: number
  /** Milliseconds since 1970 of the last upload; null without one. */
  readonly lastIndexed: number | null
  readonly isStale: boolean
  /** Files without vectors so far. */
  readonly pending: number
}

interface Totals {
  readonly files: number
  readonly symbols: number
  readonly pending: number
  readonly lastIndexed: number | null
}

const FRESH_MS = DAY_MS

/** The status of several projects together, with the time of the latest upload. */
export function statusOf(totals: readonly Totals[], now: Millis): IndexStatus {
  const sum = (of: (one: Totals) => number): number => totals.reduce((all, one) => all + of(one), 0)
  const totalFiles = sum(({ files }) => files)
  const pending = sum((one) => one.pending)
  const last = Math.max(0, ...totals.map(({ lastIndexed }) => lastIndexed ?? 0))
  const lastIndexed = last === 0 ? null : last
  const isStale = pending > 0 || totalFiles === 0 || lastIndexed === null || now - lastIndexed > FRESH_MS
  return { totalFiles, totalSymbols: sum(({ symbols }) => symbols), lastIndexed, isStale, pending }
}
