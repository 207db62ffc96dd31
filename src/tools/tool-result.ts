import { Problem } from '../domain/errors'
import { withAllDigits } from '../domain/json/write'
import { JSON_UNITS, type Pace } from '../domain/pace'
import type { Answer, Block } from './context'
import type { Family } from './family'

/** What `tools/call` answers. */
export interface ToolResult {
  readonly structuredContent: Record<string, unknown>
  readonly content: [{ readonly type: 'text'; readonly text: string }, ...Block[]]
  readonly isError?: true
  readonly [key: string]: unknown
}

/**
 * The one translation of outcomes to the wire: structured content, the same JSON as one text block, then images. A long one is
 * written a second time as it is sent, all at once, so there is a rest before.
 */
export async function toResult({ structured, blocks }: Answer, pace: Pace): Promise<ToolResult> {
  const structuredContent = withAllDigits(structured)
  const text = JSON.stringify(structuredContent)
  await pace.spend(text.length / JSON_UNITS)
  return { structuredContent, content: [{ type: 'text', text }, ...blocks] }
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
          `Something went wrong inside the server (request ${requestId}); look whether a write was made before you repeat it`,
        )
  const { structured, text } = family.failure(problem)
  return { isError: true, structuredContent: structured, content: [{ type: 'text', text }] }
}
