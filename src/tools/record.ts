import { SentBytes } from '../domain/json/sent-bytes'
import { Unkept } from '../domain/json/unkept'

/** An object of JSON: not a list, and not what stands for something that could not be kept, or was decoded already. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Unkept) &&
  !(value instanceof SentBytes)
