import { Problem } from '../domain/errors'
import { jsonPieces, mayLackDigits, withAllDigits } from '../domain/json/write'
import { JSON_UNITS, scheduler } from '../domain/scheduler'
import type { Answer, Block } from './context'
import type { Family } from './family'

/** What `tools/call` answers. */
export interface ToolResult {
  readonly structuredContent: Record<string, unknown>
  readonly content: [{ readonly type: 'text'; readonly text: string }, ...Block[]]
  readonly isError?: true
  readonly [key: string]: unknown
}

/** A result larger than this, in UTF-16 units of its JSON, is sent in pieces. */
const AT_ONCE = 200_000

/** Takes JSON that is to be sent in pieces. Each returns what stands in its place meanwhile. */
export interface SendChunked {
  readonly asObject: (pieces: readonly string[]) => Record<string, unknown>
  /** As a string that holds the JSON. */
  readonly asString: (pieces: readonly string[]) => string
}

/**
 * Writes JSON with rests in between.
 *
 * @returns the whole of it where it is short, else its pieces, to be sent apart
 */
export async function writeJson(value: unknown): Promise<string | readonly string[]> {
  const pieces: string[] = []
  let size = 0
  for (const piece of jsonPieces(value)) {
    pieces.push(piece)
    size += piece.length
    await scheduler.tick(piece.length / JSON_UNITS)
  }
  return size > AT_ONCE ? pieces : pieces.join('')
}

/**
 * The one translation of outcomes to the wire: structured content, the same JSON as one text block, then images. What is long is
 * written once, with rests between, and sent apart.
 */
export async function toResult({ structured, blocks }: Answer, sendApart: SendChunked): Promise<ToolResult> {
  const json = await writeJson(structured)
  if (typeof json !== 'string')
    return {
      structuredContent: sendApart.asObject(json),
      content: [{ type: 'text', text: sendApart.asString(json) }, ...blocks],
    }
  const structuredContent = mayLackDigits(json) ? withAllDigits(structured) : structured
  return { structuredContent, content: [{ type: 'text', text: json }, ...blocks] }
}

/**
 * A tool error, in the words of the tool's family.
 *
 * @param requestId names the log line of an internal error
 */
export function toErrorResult(family: Family, error: unknown, requestId: string): ToolResult {
  const problem =
    error instanceof Problem
      ? error
      : new Problem(
          'internal',
          `Internal server error (request ${requestId}). Check whether the write was made before you repeat it`,
        )
  const { structured, text } = family.failure(problem)
  return { isError: true, structuredContent: structured, content: [{ type: 'text', text }] }
}
