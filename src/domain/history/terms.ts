import { DAY_MS, HOUR_MS, type Millis } from '../time'

/** For how long what has been is kept. */
export interface HistoryTerms {
  /** Days that an old state of an entry can be read and brought back; 0: none is kept. */
  readonly days: number
  /** Hours in which a call made again with its key is answered as at first. */
  readonly receiptHours: number
}

/** Nothing is kept; receipts for a day. */
export const NO_HISTORY: HistoryTerms = { days: 0, receiptHours: 24 }

/** The instant up to which old states are forgotten, in milliseconds since 1970. */
export const oldestKept = ({ days }: HistoryTerms, now: Millis): Millis => now - days * DAY_MS

/** Until when what is deleted now can be brought back; null when it cannot. */
export const restorableUntil = ({ days }: HistoryTerms, now: Millis): Millis | null =>
  days === 0 ? null : now + days * DAY_MS

/** The instant up to which receipts are forgotten. */
export const oldestReceipt = ({ receiptHours }: HistoryTerms, now: Millis): Millis => now - receiptHours * HOUR_MS
