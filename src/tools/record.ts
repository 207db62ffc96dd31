import { LossyValues } from '../domain/json/lossy-values'
import { SentBytes } from '../domain/json/sent-bytes'

/** Reports whether a value is a JSON object: not a list, not a value that lost precision, and not decoded bytes. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof LossyValues) &&
  !(value instanceof SentBytes)

/** Estimates the characters that a check of arguments reads, for the scheduler. */
export const charactersOf = (args: unknown): number =>
  isRecord(args)
    ? Object.values(args).reduce<number>(
        (sum, member) =>
          sum + (typeof member === 'string' ? member.length : Array.isArray(member) ? 20 * member.length : 100),
        0,
      )
    : 0
