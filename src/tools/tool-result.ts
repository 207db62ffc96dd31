import { Problem } from '../domain/errors'

/** What `tools/call` answers. */
export interface ToolResult {
  readonly structuredContent: Record<string, unknown>
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly isError?: true
  readonly [key: string]: unknown
}

/** The one translation of outcomes to the wire: structured content, and the same JSON as one text block. */
export const toResult = (content: Record<string, unknown>): ToolResult => ({
  structuredContent: content,
  content: [{ type: 'text', text: JSON.stringify(content) }],
})

/**
 * A tool error: the text starts with the message; the structured form has `error` and what else the Problem carries.
 *
 * @param requestId names the log line of an internal error
 */
export function toErrorResult(error: unknown, requestId: string): ToolResult {
  const problem =
    error instanceof Problem
      ? error
      : new Problem('internal', `Something went wrong inside the server (request ${requestId}); nothing was changed`)
  const { code, message, retryable, details } = problem
  const structuredContent = { error: { code, message, retryable }, ...details }
  const text = Object.keys(details).length === 0 ? message : `${message}\n${JSON.stringify(details)}`
  return { isError: true, structuredContent, content: [{ type: 'text', text }] }
}
