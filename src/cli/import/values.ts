// What may a value read from a foreign file be? Narrowing without trust: null for anything else.
import type { JsonObject, JsonValue } from '../../domain/entry/metadata'
import { parseInstant } from '../../domain/time'
import { Mismatch } from '../../domain/transfer/codec'
import { parseKept } from '../../domain/transfer/line'

/** One row, line or file that cannot be taken; the message is the reason, for the person. */
export class RowProblem extends Error {}

/** The whole source cannot be read. */
export class SourceProblem extends Error {}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** @param name what the text is, for the reason @throws RowProblem */
export function parseJson(text: string, name: string): JsonValue {
  try {
    // JSON.parse gives JSON values, and nothing else.
    return parseKept(text) as JsonValue
  } catch (error) {
    if (error instanceof Mismatch) throw new RowProblem(`${name} ${error.message}`)
    throw new RowProblem(`${name} is no JSON (cut or altered)`)
  }
}

/** A JSON object in a text; null where nothing is. @throws RowProblem */
export function objectIn(value: unknown, name: string): JsonObject | null {
  if (value === null || value === undefined || value === '') return null
  const object = typeof value === 'string' ? parseJson(value, name) : value
  if (object === null) return null
  if (!isJsonObject(object)) throw new RowProblem(`${name} is no JSON object`)
  return object
}

/** A list of strings, or a JSON text of one; empty where nothing is. @throws RowProblem */
export function stringsIn(value: unknown, name: string): string[] {
  if (value === null || value === undefined || value === '') return []
  const list = typeof value === 'string' ? parseJson(value, name) : value
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string'))
    throw new RowProblem(`${name} is not a list of strings`)
  return list
}

/** Times outside of these years are none that a memory was made at: a unit was mistaken. */
const EARLIEST = Date.UTC(1990, 0)
const LATEST = Date.UTC(2200, 0)

/** Milliseconds since 1970 of a number in this unit. @throws RowProblem */
export function timeOfNumber(value: unknown, unit: 'ms' | 's', name: string): number {
  const ms = typeof value === 'number' ? Math.floor(unit === 'ms' ? value : value * 1000) : Number.NaN
  if (!(ms >= EARLIEST && ms < LATEST)) throw new RowProblem(`${name} is not a time: ${shown(value)}`)
  return ms
}

/** Milliseconds since 1970 of ISO 8601 or SQL; without a zone it is UTC. @throws RowProblem */
export function timeOfText(value: unknown, name: string): number {
  const ms = typeof value === 'string' ? parseInstant(value.trim()) : null
  if (ms === null) throw new RowProblem(`${name} is not a time: ${shown(value)}`)
  return ms
}

const SHOWN = 40
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
