import type { Fields, What } from '../../domain/capture/happening'

/** Reads calls of our own tools: which memories a call opened, and which it replaced or corrected. */

const TOOLS: readonly string[] = ['fetch', 'forget', 'remember', 'update']
/** Ids that one call names. */
const MOST_IDS = 20

function idsIn(value: unknown): number[] {
  const list = Array.isArray(value) ? value : [value]
  const ids = list.map((one) => (typeof one === 'string' && /^\d{1,15}$/.test(one) ? Number(one) : one))
  return ids.filter((one): one is number => Number.isSafeInteger(one) && Number(one) > 0).slice(0, MOST_IDS)
}

/** Whether a change is one of words: other changes correct nothing. */
const changesWords = (input: Fields): boolean =>
  ['content', 'old_text', 'append', 'changes_words'].some((name) => input[name] !== undefined)

/**
 * The name of a tool of ours, which clients spell `mcp__plugin_commonplace_commonplace__fetch`, `commonplace_fetch`, or `MCP:fetch` (Cursor
 * names no server).
 */
function ownTool(tool: string): string | null {
  const parts = tool.toLowerCase().split(/[^a-z]/)
  const name = parts.at(-1) ?? ''
  const isOurs = parts.includes('commonplace') || (parts[0] === 'mcp' && parts.length === 2)
  return isOurs && TOOLS.includes(name) ? name : null
}

/** Null for another tool, or a call without ids of memories. */
export function memoryCall(tool: string, input: Fields): Extract<What, { kind: 'memory' }> | null {
  const name = ownTool(tool)
  if (name === null) return null
  const named = [...idsIn(input.id), ...idsIn(input.ids)]
  const replaced = [...idsIn(input.replaces), ...idsIn(input.merges)]
  const opened = name === 'fetch' ? named : []
  const own = name === 'forget' || (name === 'update' && changesWords(input)) ? named : []
  const corrected = name === 'fetch' ? [] : [...own, ...replaced]
  return opened.length + corrected.length === 0 ? null : { kind: 'memory', opened, corrected }
}
