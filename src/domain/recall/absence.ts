import type { Millis } from '../time'
import { type ClockFace, clockFace } from './calendar'

/** How long somebody was away, and how that is told (fabric contract §6). */
const MINUTE = 60_000
const UNITS = [
  ['day', 1_440],
  ['hour', 60],
  ['minute', 1],
] as const

/** Shorter than this is no absence. */
const MOMENT_MS = 30_000

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** `1 day 3 hours 42 minutes`; seconds only below a minute. */
export function spell(durationMs: Millis): string {
  if (durationMs < MINUTE) return counted(Math.floor(durationMs / 1000), 'second')
  let left = Math.floor(durationMs / MINUTE)
  const parts: string[] = []
  for (const [noun, minutes] of UNITS) {
    const count = Math.floor(left / minutes)
    if (count > 0) parts.push(counted(count, noun))
    left -= count * minutes
  }
  return parts.join(' ')
}

export interface Absence {
  readonly durationMs: Millis
  readonly durationHuman: string
  readonly from: string
  readonly to: string
  readonly memoriesAdded: number
}

/** @param since milliseconds since 1970 of the last visit; a clock that went back makes it no time at all */
export function absenceOf(since: number, now: ClockFace, memoriesAdded: number): Absence {
  const durationMs = Math.max(0, now.epochMs - since)
  return {
    durationMs,
    durationHuman: spell(durationMs),
    from: clockFace(now.timezone, now.epochMs - durationMs).iso,
    to: now.iso,
    memoriesAdded,
  }
}

/** When and where, without a word on who was here before. */
export const tellPlace = (now: ClockFace, project: string | null): string =>
  `It is ${now.timeOfDay} on ${now.date} (${now.timezone}, UTC${now.utcOffset}). Project: ${project ?? 'none'}.`

/** The situation in a few sentences. @param absence null for the first visit */
export function tellSituation(now: ClockFace, project: string | null, absence: Absence | null): string {
  const here = tellPlace(now, project)
  if (absence === null) return `${here} First session in this project.`
  const { durationMs, durationHuman, memoriesAdded } = absence
  if (durationMs < MOMENT_MS) return `${here} You were here moments ago.`
  const since = clockFace(now.timezone, now.epochMs - durationMs).timeOfDay
  const added =
    memoriesAdded === 0 ? 'No new memories' : memoriesAdded === 1 ? '1 new memory' : `${memoriesAdded} new memories`
  return `${here} Last session ${durationHuman} ago (since ${since}). ${added} since then.`
}
