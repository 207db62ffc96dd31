// Narrows values of foreign files to expected types; null for anything else.
import type { JsonObject, JsonValue } from '../../domain/entry/metadata'
import { parseInstant } from '../../domain/time'
import { Mismatch } from '../../domain/transfer/codec'
import { parseExactJson } from '../../domain/transfer/lines'

/** One row, line or file that cannot be imported; the message is the reason, for the user. */
export class RowProblem extends Error {}

/** The complete source cannot be read. */
export class SourceProblem extends Error {}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** @param name of the text, for messages @throws RowProblem */
export function parseJson(text: string, name: string): JsonValue {
  try {
    // JSON.parse returns JSON values only.
    return parseExactJson(text) as JsonValue
  } catch (error) {
    if (error instanceof Mismatch) throw new RowProblem(`${name} ${error.message}`)
    throw new RowProblem(`${name} is not valid JSON (cut or altered)`)
  }
}

/** Parses a JSON object; null for an empty text. @throws RowProblem */
export function objectIn(value: unknown, name: string): JsonObject | null {
  if (value === null || value === undefined || value === '') return null
  const object = typeof value === 'string' ? parseJson(value, name) : value
  if (object === null) return null
  if (!isJsonObject(object)) throw new RowProblem(`${name} is not a JSON object`)
  return object
}

/** Reads a list of strings, or a JSON text of one; empty for no value. @throws RowProblem */
export function stringsIn(value: unknown, name: string): string[] {
  if (value === null || value === undefined || value === '') return []
  const list = typeof value === 'string' ? parseJson(value, name) : value
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string'))
    throw new RowProblem(`${name} is not a list of strings`)
  return list
}

/** Years that a memory can have; other times mean a wrong unit. */
const EARLIEST = Date.UTC(1990, 0)
const LATEST = Date.UTC(2200, 0)

/** Converts a number in this unit to milliseconds since 1970. @throws RowProblem */
export function timeOfNumber(value: unknown, unit: 'ms' | 's', name: string): number {
  const ms = typeof value === 'number' ? Math.floor(unit === 'ms' ? value : value * 1000) : Number.NaN
  if (!(ms >= EARLIEST && ms < LATEST)) throw new RowProblem(`${name} is not a time: ${shown(value)}`)
  return ms
}

/** Parses ISO 8601 or SQL to milliseconds since 1970; without a zone it is UTC. @throws RowProblem */
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
