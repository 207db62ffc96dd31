import { Problem } from '../domain/errors'
import { jsonPieces, mayLackDigits, withAllDigits } from '../domain/json/write'
import { JSON_UNITS, scheduler } from '../domain/scheduler'
import type { Answer, Block } from './context'
import type { Family } from './family'

/** The answer to `tools/call`. */
export interface ToolResult {
  readonly structuredContent: Record<string, unknown>
  readonly content: [{ readonly type: 'text'; readonly text: string }, ...Block[]]
  readonly isError?: true
  readonly [key: string]: unknown
}

/** UTF-16 units of JSON above which a result is sent in chunks. */
const AT_ONCE = 200_000

/** Registers JSON to send in chunks. Each method returns a placeholder for it. */
export interface SendChunked {
  readonly asObject: (pieces: readonly string[]) => Record<string, unknown>
  /** Registers JSON as a string. */
  readonly asString: (pieces: readonly string[]) => string
}

/** Writes JSON and yields to the scheduler in between. @returns the JSON if it is short, else its chunks */
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
 * Converts an answer to a tool result: structured content, the same JSON as one text block, then images.
 *
 * Long JSON is written once and sent in chunks.
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
 * Converts an error to a tool result in the shape of the tool's family.
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
