import { isDeeper } from '../entry/metadata'
import { invalidInput, limitExceeded, type Problem } from '../errors'
import { LossyValues, MAX_DEPTH, readNumber } from '../json/lossy-values'
import { JsonParser, TooManyValues } from '../json/parser'
import { Mismatch, membersOf, readShape, type Shape } from './codec'
import { isRecordName, MAX_VOLUME_BYTES, SHAPES, type TransferRecord } from './records'

export interface RawLine {
  /** Line number from 1, over all volumes. */
  readonly line: number
  /** Bytes, including the line end if there is one. */
  readonly bytes: Uint8Array
}

const LINE_END = 0x0a

/**
 * The lines of a stream, one in memory at a time. @throws Problem limit_exceeded for a line that is longer than a
 * volume
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawLine> {
  let parts: Uint8Array[] = []
  let held = 0
  let line = 1
  for await (const chunk of chunks) {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(LINE_END, from)
      const part = chunk.subarray(from, end < 0 ? chunk.length : end + 1)
      held += part.length
      if (held > MAX_VOLUME_BYTES)
        throw limitExceeded(`line ${line}: is longer than a volume (${MAX_VOLUME_BYTES} bytes) can be`)
      // Parts are copied, because a source may reuse its buffer.
      if (end < 0) {
        if (part.length > 0) parts.push(part.slice())
        break
      }
      yield { line, bytes: parts.length === 0 ? part : joined([...parts, part]) }
      line++
      parts = []
      held = 0
      from = end + 1
    }
  }
  if (held > 0) yield { line, bytes: joined(parts) }
}

/** Concatenates byte arrays. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** The error for an invalid volume, with the line number from 1. */
export const lineError = (line: number, message: string): Problem =>
  invalidInput(`line ${line}: ${message}; nothing of this volume is imported`, { line })

/** Serializes a record, including the line end. */
export function writeLine(record: TransferRecord): string {
  const shape: Shape = SHAPES[record.record]
  return `{${[`"record":${JSON.stringify(record.record)}`, ...membersOf(shape, record)].join(',')}}\n`
}

/** Matches every text with numbers that need exact parsing, and few others. */
const MAY_CHANGE_NUMBERS = /\d{16}|\d[eE]/
/** Maximum nesting of a record: metadata in an image in a list in a record. */
const MOST_LEVELS = MAX_DEPTH + 4

/**
 * Parses JSON with exact integers.
 * @throws Mismatch for a number that a double cannot represent, SyntaxError for invalid JSON
 */
export function parseExactJson(line: string): unknown {
  // Base64 would match the pattern; the one number of an image is checked by its schema.
  if (line.startsWith('{"record":"image"') || !MAY_CHANGE_NUMBERS.test(line)) return JSON.parse(line)
  // TypeScript's JSON.parse does not declare the source text, which Node (from 21) and workerd pass.
  const reviver = function (this: unknown, _key: string, value: unknown, context?: { readonly source?: string }) {
    if (typeof value !== 'number' || context?.source === undefined) return value
    const number = readNumber(context.source)
    if (number instanceof LossyValues) throw new Mismatch(`holds a number that ${number.reason}`)
    return number
  }
  return JSON.parse(line, reviver)
}

/** Maximum number of values in a record. Metadata of 256 KB have at most 131,072, and 10,000 links about 40,000. */
const MAX_VALUES = 200_000
/** A shorter line cannot contain that many. */
const SMALL_LINE = 2 * MAX_VALUES

/** Checks the number of values before parsing. @throws Mismatch for a line that would block other requests */
function checkValues(text: string): void {
  // Texts contain commas too; exact counting is only needed for many commas.
  let commas = 0
  for (let at = text.indexOf(','); at >= 0 && commas <= MAX_VALUES; at = text.indexOf(',', at + 1)) commas++
  if (commas <= MAX_VALUES) return
  try {
    new JsonParser({ maxValues: MAX_VALUES }).feed(text)
  } catch (error) {
    if (error instanceof TooManyValues) throw new Mismatch(`holds more than ${MAX_VALUES} values`)
    throw error
  }
}

/**
 * Parses and validates one line. Unknown members are rejected.
 * @param bytes without the line end
 * @param at line number, for the error
 * @throws Problem for a line that is not a record of the format
 */
export function readLine(bytes: Uint8Array, at: number): TransferRecord {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (bytes.length > SMALL_LINE) checkValues(text)
    const value = parseExactJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Mismatch('is not a JSON object')
    if (isDeeper(value, MOST_LEVELS)) throw new Mismatch(`is nested deeper than ${MAX_DEPTH} levels`)
    const name = Object.hasOwn(value, 'record') && 'record' in value ? value.record : undefined
    if (!isRecordName(name)) throw new Mismatch(`has the unknown record type ${JSON.stringify(name) ?? '(none)'}`)
    const shape: Shape = SHAPES[name]
    // The schema of this record type has checked every member.
    return { record: name, ...readShape(shape, value, ['record']) } as unknown as TransferRecord
  } catch (error) {
    if (error instanceof Mismatch) throw lineError(at, error.message.replace(/^\./, ''))
    if (error instanceof SyntaxError) throw lineError(at, 'is not valid JSON (incomplete or altered)')
    if (error instanceof TypeError) throw lineError(at, 'is not UTF-8 (altered)')
    throw error
  }
}
