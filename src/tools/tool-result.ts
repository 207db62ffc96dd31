import { Problem } from '../domain/errors'
import { withAllDigits } from '../domain/json/write'
import type { Answer, Block } from './context'
import type { Family } from './family'

/** What `tools/call` answers. */
export interface ToolResult {
  readonly structuredContent: Record<string, unknown>
  readonly content: [{ readonly type: 'text'; readonly text: string }, ...Block[]]
  readonly isError?: true
  readonly [key: string]: unknown
}

/** The one translation of outcomes to the wire: structured content, the same JSON as one text block, then images. */
export function toResult({ structured, blocks }: Answer): ToolResult {
  const structuredContent = withAllDigits(structured)
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }, ...blocks] }
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
