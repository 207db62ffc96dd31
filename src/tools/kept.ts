import { MAX_TEXT_BYTES } from '../domain/entry/draft'
import { invalidInput, limitExceeded, type Problem } from '../domain/errors'
import { givenAs } from '../domain/flaws'
import { MAX_DEPTH, Unkept } from '../domain/json/unkept'
import { isRecord } from './record'
import { isText } from './request-strings'

/**
 * What was sent in an argument and cannot be kept as it was sent: numbers and depths (platform contract §6).
 *
 * @param place name of the argument
 * @returns the first of them as a Problem that names its place, or null
 */
export function unkeptIn(value: unknown, place: string): Problem | null {
  return look(value, place, MAX_DEPTH)
}

function look(value: unknown, place: string, levels: number): Problem | null {
  if (value instanceof Unkept && value.flaw === 'too_long') return tooLong(place, value)
  if (value instanceof Unkept)
    return value.flaw === 'too_deep'
      ? tooDeep(place)
      : invalidInput(`${place} ${value.reason}`, [{ path: place, given: givenAs(value), example: value.toString() }])
  const isList = Array.isArray(value)
  if (!isList && !isRecord(value)) return null
  if (levels === 0) return tooDeep(place)
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member !== 'object' || member === null) continue
    const found = look(member, isList ? `${place}[${key}]` : `${place}.${key}`, levels - 1)
    if (found !== null) return found
  }
  return null
}

function tooLong(place: string, { reason }: Unkept): Problem {
  const last = place.slice(Math.max(place.lastIndexOf('.'), place.lastIndexOf(']')) + 1)
  const what = isText(last)
    ? `at most ${MAX_TEXT_BYTES} UTF-8 bytes are allowed, split it into several entries`
    : 'send less, and where it is a list or an object, send it as JSON itself'
  return limitExceeded(`${place} ${reason}; ${what}`)
}

/** The argument is named, not the place, whose name would be as long as it is deep. */
function tooDeep(place: string): Problem {
  const [argument] = /^[^.[]*/.exec(place) as RegExpExecArray
  return limitExceeded(`${argument} is nested deeper than ${MAX_DEPTH} levels`)
}
