import { limitExceeded } from '../errors'
import { MAX_VOLUME_BYTES } from './records'

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
