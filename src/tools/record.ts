import { LossyValues } from '../domain/json/lossy-values'
import { SentBytes } from '../domain/json/sent-bytes'

/** An object of JSON: not a list, and not what stands for something that could not be kept, or was decoded already. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof LossyValues) &&
  !(value instanceof SentBytes)

/** About how many characters are read to check arguments: texts, items of lists, and other members as if they were short. */
export const charactersOf = (args: unknown): number =>
  isRecord(args)
    ? Object.values(args).reduce<number>(
        (sum, member) =>
          sum + (typeof member === 'string' ? member.length : Array.isArray(member) ? 20 * member.length : 100),
        0,
      )
    : 0
