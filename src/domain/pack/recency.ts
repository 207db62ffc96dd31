import { fold } from '../search/fold'
import { emptyWords } from '../search/written-in'
import { DAY_MS } from '../time'
import { ASKING, DAYS_AGO, LAST_DAYS, type Period, SAYINGS } from './sayings'
import { WEIGHTS, type Weights } from './weights'

/** Whether a goal asks for what was last, and of which time. Instants are beginnings of days, so that a pack stays the same all day. */
export interface Recency {
  /** Newest entries that are wanted; 0 when the goal does not ask. */
  readonly limit: number
  /** Milliseconds since 1970. */
  readonly since: number
  /** The first instant that is too late. */
  readonly until: number
}

/** Later than every entry, and a number that both databases hold. */
const NEVER = 8_640_000_000_000_000

/** What a goal says beside time. */
const beside = (goal: string): string =>
  [...SAYINGS.map(({ said }) => said), DAYS_AGO, LAST_DAYS].reduce((text, said) => text.replace(said, ' '), goal)

const WORD = /[\p{L}\p{N}]{3,}/gu

/** Whether a goal asks for a time, or what is next, and for nothing else. */
export const isOnlyTime = (goal: string): boolean => {
  const rest = beside(goal)
  if (rest === goal) return false
  const left = ASKING.reduce((text, word) => text.replace(word, ' '), rest).match(WORD) ?? []
  const empty = emptyWords((goal.match(WORD) ?? []).map(fold))
  return left.every((word) => empty.has(fold(word)))
}

/** A goal without what it says of time, which is no word to be searched for; the whole goal where nothing else is left. */
export function withoutSayings(goal: string): string {
  const rest = beside(goal)
  return /[\p{L}\p{N}]{3}/u.test(rest) ? rest : goal
}

const startOfDay = (now: number): number => Math.floor(now / DAY_MS) * DAY_MS
/** 1970 began on a Thursday. */
const startOfWeek = (now: number): number => startOfDay(now) - ((Math.floor(now / DAY_MS) + 3) % 7) * DAY_MS

function startOfMonth(now: number, months: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1)
}

const SPANS: Readonly<Record<Period, (now: number) => readonly [since: number, until: number]>> = {
  today: (now) => [startOfDay(now), NEVER],
  yesterday: (now) => [startOfDay(now) - DAY_MS, startOfDay(now)],
  'this week': (now) => [startOfWeek(now), NEVER],
  'last week': (now) => [startOfWeek(now) - 7 * DAY_MS, startOfWeek(now)],
  'past week': (now) => [startOfDay(now) - 7 * DAY_MS, NEVER],
  'this month': (now) => [startOfMonth(now, 0), NEVER],
  'last month': (now) => [startOfMonth(now, 1), startOfMonth(now, 0)],
  'whenever it was': () => [0, NEVER],
}

const numberIn = (said: RegExp, goal: string): number | null => {
  const found = said
    .exec(goal)
    ?.slice(1)
    .find((group) => group !== undefined)
  return found === undefined ? null : Number(found)
}

/** The time that a goal asks for; null when it does not. */
function spanOf(goal: string, now: number): readonly [number, number] | null {
  const ago = numberIn(DAYS_AGO, goal)
  if (ago !== null) return [startOfDay(now) - ago * DAY_MS, startOfDay(now) - (ago - 1) * DAY_MS]
  const last = numberIn(LAST_DAYS, goal)
  if (last !== null) return [startOfDay(now) - last * DAY_MS, NEVER]
  const period = periodOf(goal)
  return period === null ? null : SPANS[period](now)
}

/** The period that a goal names in words; null when it names none. */
export const periodOf = (goal: string): Period | null =>
  SAYINGS.find(({ said, beside: also }) => said.test(goal) && (also === undefined || also.test(goal)))?.period ?? null

/** @param items of the pack at most */
export function recencyOf(goal: string, now: number, items: number, { recency }: Weights = WEIGHTS): Recency {
  const span = spanOf(goal, now)
  if (span === null) return { limit: 0, since: 0, until: NEVER }
  const [since, until] = span
  const share = isOnlyTime(goal) ? recency.shareOfTime : recency.share
  return { limit: Math.max(recency.least, Math.ceil(items * share)), since, until }
}
