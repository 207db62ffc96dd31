import { objectOf, textOf } from '../../domain/capture/fields'
import type { Fields, Happening, HookClient } from '../../domain/capture/happening'
import { readEvent } from './claude-code'

/**
 * Copilot CLI (docs.github.com/en/copilot/reference/hooks-reference): with names in PascalCase it sends Claude Code's members, with
 * `tool_result` in the place of a response.
 */
function read(event: Fields): Happening | null {
  const result = objectOf(event, 'tool_result', 'toolResult')
  const type = textOf(result, 'result_type', 'resultType')
  const happening = readEvent(event, type === 'success' ? 'success' : 'unknown')
  if (happening === null || happening.what.kind !== 'tool') return happening
  // It ran to its end, which says nothing of the code it ended with, unless the result says so too.
  const failed = type === 'failure' || type === 'denied'
  return failed ? { ...happening, what: { ...happening.what, outcome: 'failure' } } : happening
}

export const copilot: HookClient = {
  title: 'Copilot',
  read,
  answer: { start: (text) => ({ additionalContext: text }), prompt: () => null },
}
