import { JSON_UNITS, scheduler } from '../domain/scheduler'
import type { SendChunked } from '../tools/tool-result'

/**
 * Sends large results in chunks. The SDK writes an answer at once, so it receives short placeholders. The stream then replaces each one
 * with the JSON of the result, or the same as a JSON string, and yields between chunks.
 */

/** UTF-16 units encoded at a time. */
const SLICE_UNITS = 65_536

/** Returns the largest cut position up to a limit that does not split a character. */
const cutBefore = (text: string, at: number): number =>
  at > 0 && at < text.length && (text.codePointAt(at - 1) as number) > 0xffff ? at - 1 : at

function* slices(text: string): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    const to = cutBefore(text, Math.min(from + SLICE_UNITS, text.length))
    yield text.slice(from, to)
    from = to
  }
}

interface Awaited {
  readonly pieces: readonly string[]
  readonly asString: boolean
}

/** Placeholders and the text that replaces them; each occurs once in the answer. */
type Marks = Map<string, Awaited>

/** The placeholder that occurs first in a text. */
function firstMark(text: string, marks: Marks): { readonly mark: string; readonly at: number } | null {
  let first: { mark: string; at: number } | null = null
  for (const mark of marks.keys()) {
    const at = text.indexOf(mark)
    if (at >= 0 && (first === null || at < first.at)) first = { mark, at }
  }
  return first
}

async function* written({ pieces, asString }: Awaited): AsyncGenerator<string, void> {
  if (asString) yield '"'
  for (const piece of pieces)
    for (const slice of slices(piece)) {
      yield asString ? JSON.stringify(slice).slice(1, -1) : slice
      await scheduler.tick(slice.length / JSON_UNITS)
    }
  if (asString) yield '"'
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function* filled(body: Reader, marks: Marks): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  let isRead = false
  let text = ''
  for (;;) {
    const { done, value: bytes } = await body.read()
    if (done) break
    isRead ||= marks.size > 0
    if (!isRead) {
      yield bytes
      continue
    }
    text += decoder.decode(bytes, { stream: true })
    for (let found = firstMark(text, marks); found !== null; found = firstMark(text, marks)) {
      const { mark, at } = found
      yield encoder.encode(text.slice(0, at))
      for await (const part of written(marks.get(mark) as Awaited)) yield encoder.encode(part)
      marks.delete(mark)
      text = text.slice(at + mark.length)
    }
    // The chunk may end inside a placeholder.
    const longest = Math.max(1, ...[...marks.keys()].map(({ length }) => length))
    const end = cutBefore(text, Math.max(0, text.length - longest + 1))
    if (end > 0) yield encoder.encode(text.slice(0, end))
    text = text.slice(end)
  }
  if (text !== '') yield encoder.encode(text)
}

export interface ChunkedResult {
  readonly send: SendChunked
  /** Returns the answer with every placeholder replaced. */
  readonly fill: (response: Response) => Response
}

/** For one request. */
export function createChunkedResult(): ChunkedResult {
  const marks: Marks = new Map()
  const awaiting = <Mark>(mark: Mark, apart: Awaited): Mark => {
    marks.set(JSON.stringify(mark), apart)
    return mark
  }
  return {
    send: {
      asObject: (pieces) => awaiting({ [crypto.randomUUID()]: 0 }, { pieces, asString: false }),
      asString: (pieces) => awaiting(crypto.randomUUID(), { pieces, asString: true }),
    },
    fill(response) {
      const { body, headers } = response
      // A streamed answer may have started before its tools are done.
      const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
      if (body === null || (marks.size === 0 && !isStream)) return response
      const reader = body.getReader()
      const parts = filled(reader, marks)
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { done, value } = await parts.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      })
      return new Response(stream, response)
    },
  }
}
