import { DAY_MS } from '../time'

/** Whether a goal asks for what was last, and since when. */
export interface Recency {
  /** Newest entries that are wanted; 0 when the goal does not ask. */
  readonly limit: number
  /** Milliseconds since 1970, the beginning of a day, so that a pack stays the same all day. */
  readonly since: number
}

/** What people say, and how many days back they mean; null: whenever it was. */
const SAYINGS: readonly (readonly [RegExp, number | null])[] = [
  [/\b(?:today|this morning|tonight)\b/i, 0],
  [/\byesterday\b/i, 1],
  [/\b(?:this|past|last) week\b|\bthe other day\b/i, 13],
  [/\b(?:this|past|last) month\b/i, 61],
  [/\bwhere (?:we|i|you) (?:left off|stopped|were)\b/i, null],
  [/\b(?:continue|resume|pick(?:ing)? up|carry on|catch (?:me )?up|left off)\b/i, null],
  [
    /\b(?:last|latest|most recent|previous) (?:session|conversation|work|change|decision|note|time)s?\b|\brecent(?:ly)?\b/i,
    null,
  ],
]
const DAYS_AGO = /\b(?:last|past) (\d{1,3}) days?\b|\b(\d{1,3}) days? ago\b/i

/** Newest entries that join a pack whose goal asks for them, as a share of its items. */
const SHARE = 0.25

/** A goal without what it says of time, which is no word to be searched for; the whole goal where nothing else is left. */
export function withoutSayings(goal: string): string {
  const rest = SAYINGS.reduce((text, [saying]) => text.replace(saying, ' '), goal).replace(DAYS_AGO, ' ')
  return /[\p{L}\p{N}]{3}/u.test(rest) ? rest : goal
}

/** @param items of the pack at most */
export function recencyOf(goal: string, now: number, items: number): Recency {
  const limit = Math.max(2, Math.ceil(items * SHARE))
  const [, last, ago] = DAYS_AGO.exec(goal) ?? []
  const days = last ?? ago
  const today = Math.floor(now / DAY_MS) * DAY_MS
  if (days !== undefined) return { limit, since: today - Number(days) * DAY_MS }
  const said = SAYINGS.find(([saying]) => saying.test(goal))
  if (said === undefined) return { limit: 0, since: 0 }
  return { limit, since: said[1] === null ? 0 : today - said[1] * DAY_MS }
}
