import { isDeeper } from '../entry/metadata'
import { invalidInput, limitExceeded, type Problem } from '../errors'
import { JsonParser, TooManyValues } from '../json/parser'
import { LossyValues, MAX_DEPTH, readNumber } from '../json/unkept'
import { Mismatch, membersOf, readShape, type Shape } from './codec'
import { isRecordName, MAX_VOLUME_BYTES, SHAPES, type TransferRecord } from './records'

export interface RawLine {
  /** From 1, in all that is read. */
  readonly line: number
  /** With the line end, where it has one. */
  readonly bytes: Uint8Array
}

const LINE_END = 0x0a

/** The lines of a stream; one line is held at a time. @throws Problem limit_exceeded for a line that no volume could hold */
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
        throw limitExceeded(`line ${line}: is longer than a volume (${MAX_VOLUME_BYTES} bytes) may be`)
      // A part that is kept is copied, since a source may use its buffer again.
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

/** Parts one after another. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** One sentence for a volume that cannot be read, and the line that is wrong, counted from 1. */
export const faultAt = (line: number, message: string): Problem =>
  invalidInput(`line ${line}: ${message}; nothing of this volume is imported`, { line })

/** The one way in which a record is written, its line end included. */
export function writeLine(record: TransferRecord): string {
  const shape: Shape = SHAPES[record.record]
  return `{${[`"record":${JSON.stringify(record.record)}`, ...membersOf(shape, record)].join(',')}}\n`
}

/** What only a text with numbers that need a second look holds. */
const MAY_CHANGE_NUMBERS = /\d{16}|\d[eE]/
/** Records nest what callers nest: metadata within an image within a list within a record. */
const MOST_LEVELS = MAX_DEPTH + 4

/**
 * JSON with integers exactly as they were written.
 *
 * @throws Mismatch for a number that a double cannot keep, SyntaxError for what is no JSON
 */
export function parseKept(line: string): unknown {
  // What is base64 would look as if it held such numbers; the one number of an image is checked by its shape.
  if (line.startsWith('{"record":"image"') || !MAY_CHANGE_NUMBERS.test(line)) return JSON.parse(line)
  // The types of JSON.parse do not know the source text yet, which Node (from 21) and workerd hand over.
  const reviver = function (this: unknown, _key: string, value: unknown, context?: { readonly source?: string }) {
    if (typeof value !== 'number' || context?.source === undefined) return value
    const number = readNumber(context.source)
    if (number instanceof LossyValues) throw new Mismatch(`holds a number that ${number.reason}`)
    return number
  }
  return JSON.parse(line, reviver)
}

/** No accepted record holds more values: metadata of 256 KB have 131,072 at most, and 10,000 links some 40,000. */
const MAX_VALUES = 200_000
/** A shorter line cannot hold that many. */
const SMALL_LINE = 2 * MAX_VALUES

/** @throws Mismatch for a line whose number of values would delay other requests */
function checkValues(text: string): void {
  // Texts are full of commas too; only what may be too much is counted exactly.
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
 * Reads one line, of which nothing is left out.
 *
 * @param bytes without the line end
 * @param at the line's number, for the fault
 * @throws Problem for what is no record of the format
 */
export function readLine(bytes: Uint8Array, at: number): TransferRecord {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (bytes.length > SMALL_LINE) checkValues(text)
    const value = parseKept(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Mismatch('is no JSON object')
    if (isDeeper(value, MOST_LEVELS)) throw new Mismatch(`is nested deeper than ${MAX_DEPTH} levels`)
    const name = Object.hasOwn(value, 'record') && 'record' in value ? value.record : undefined
    if (!isRecordName(name)) throw new Mismatch(`is of the unknown record ${JSON.stringify(name) ?? '(none)'}`)
    const shape: Shape = SHAPES[name]
    // The shape of this name has read every member, and nothing else is there.
    return { record: name, ...readShape(shape, value, ['record']) } as unknown as TransferRecord
  } catch (error) {
    if (error instanceof Mismatch) throw faultAt(at, error.message.replace(/^\./, ''))
    if (error instanceof SyntaxError) throw faultAt(at, 'is no JSON (cut or altered)')
    if (error instanceof TypeError) throw faultAt(at, 'is not UTF-8 (altered)')
    throw error
  }
}
