import { invalidInput, Problem } from '../domain/errors'
import { JsonParser, JsonTooLarge, type ParserOptions } from '../domain/json/parser'
import { noteBody } from './log'

/** The largest request that tools accept (platform contract §6). */
export const MAX_BODY_BYTES = 100_000_000

/**
 * Limit of a body without the base64 of its images. The text is held in memory together with its parsed form, and a Worker has
 * 128 MB. Send more text in several calls.
 */
const MAX_TEXT_BYTES = 24_000_000

export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'too_large'; readonly reason: string }
  | { readonly kind: 'malformed' }

/** A client that is cut off while it sends never reads the answer; so the server reads up to this multiple of the limit. */
const PATIENCE = 4
/** Bytes and values that are read before yielding to other requests. */
const STRETCH = 65_536
const TURN_BYTES = 2_000_000
const TURN_VALUES = 20_000

/** Bodies up to this size, as most calls are, are read at once: a stream would cost more. */
const SMALL = 65_536

/** Reads the body in parts. @param length the Content-Length; a connection delivers no more than that */
const partsOf = async (request: Request, length: number): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>> =>
  length > 0 && length <= SMALL ? [new Uint8Array(await request.arrayBuffer())] : (request.body ?? [])

/** Yields to other requests. A settled promise would not yield, nor would a timer of 0 ms. */
const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 1))

class Reading {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  private readonly parser: JsonParser
  private bytes = 0
  private nextTurn = { bytes: TURN_BYTES, values: TURN_VALUES }

  constructor(options: ParserOptions) {
    this.parser = new JsonParser(options)
  }

  /** @throws JsonTooLarge, or another error for invalid JSON or invalid UTF-8 */
  async take(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; at += STRETCH) {
      const stretch = chunk.subarray(at, at + STRETCH)
      this.bytes += stretch.length
      await this.read(this.decoder.decode(stretch, { stream: true }))
    }
  }

  async end(): Promise<unknown> {
    await this.read(this.decoder.decode())
    return this.parser.end()
  }

  private async read(text: string): Promise<void> {
    this.parser.feed(text)
    if (this.bytes - this.parser.decodedLength > MAX_TEXT_BYTES)
      throw new JsonTooLarge(`The request body without images is larger than ${MAX_TEXT_BYTES} bytes`)
    if (this.bytes < this.nextTurn.bytes && this.parser.count < this.nextTurn.values) return
    this.nextTurn = { bytes: this.bytes + TURN_BYTES, values: this.parser.count + TURN_VALUES }
    await turn()
  }
}

/**
 * Reads a JSON body as it arrives. A body that is larger than allowed is not stored.
 *
 * @param options which strings are base64, and what they may decode to
 */
export async function readJsonBody(
  request: Request,
  maxBytes = MAX_BODY_BYTES,
  options: ParserOptions = {},
): Promise<Body> {
  const tooLarge: Body = { kind: 'too_large', reason: `The request body is larger than ${maxBytes} bytes` }
  const length = Number(request.headers.get('content-length') ?? 0)
  if (length > maxBytes * PATIENCE) return tooLarge
  let reading: Reading | null = new Reading(options)
  let outcome: Body | null = null
  let bytes = 0
  try {
    for await (const chunk of await partsOf(request, length)) {
      bytes += chunk.byteLength
      if (bytes > maxBytes * PATIENCE) break
      if (bytes > maxBytes) reading = null
      try {
        await reading?.take(chunk)
      } catch (error) {
        outcome = refused(error)
        reading = null
      }
    }
    if (bytes > maxBytes) return tooLarge
    if (outcome !== null) return outcome
    const value = await reading?.end()
    noteBody(request, value)
    return { kind: 'json', value }
  } catch (error) {
    return bytes > maxBytes ? tooLarge : refused(error)
  }
}

const refused = (error: unknown): Body =>
  error instanceof JsonTooLarge ? { kind: 'too_large', reason: error.message } : { kind: 'malformed' }

/** More than any route accepts: 10,000 paths, 1,000 files of code. */
const MAX_VALUES = 50_000

/**
 * Reads a body that is a JSON object with only these members.
 *
 * @throws Problem invalid_input or limit_exceeded
 */
export async function readObject(
  request: Request,
  members: readonly string[],
  maxBytes: number,
): Promise<Record<string, unknown>> {
  // A page of another site can send any other type without asking the server first.
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw invalidInput('Content-Type must be application/json')
  const body = await readJsonBody(request, maxBytes, { maxValues: MAX_VALUES })
  if (body.kind === 'too_large') throw new Problem('limit_exceeded', body.reason)
  const value = body.kind === 'json' ? body.value : undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidInput(`The body must be a JSON object with: ${members.join(', ')}`)
  const unknown = Object.keys(value).find((name) => !members.includes(name))
  if (unknown !== undefined)
    throw invalidInput(`Unknown member "${unknown.slice(0, 40)}"; the body accepts: ${members.join(', ')}`)
  return value as Record<string, unknown>
}
