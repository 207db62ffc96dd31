import type { ClientEvent, Fields, HookClient, HookEventKind } from '../../domain/capture/hook-event'
import { isFields, numberOf, objectOf, textOf } from '../../domain/capture/json-fields'
import { CLAUDE_ANSWERS, claudeCode, generic, readEvent, whatOf } from './claude-code'
import { memoryCall, toolUse } from './tool-use'

/** Codex (developers.openai.com/codex/hooks): Claude Code's members, with one event for successful and failed tools. */
export const codex: HookClient = {
  title: 'Codex',
  read: (event) => readEvent(event, 'unknown'),
  answer: CLAUDE_ANSWERS,
}

/**
 * Copilot CLI (docs.github.com/en/copilot/reference/hooks-reference): for event names in PascalCase it sends Claude
 * Code's members, with `tool_result` in place of a response.
 */
function readCopilot(event: Fields): ClientEvent | null {
  const result = objectOf(event, 'tool_result', 'toolResult')
  const type = textOf(result, 'result_type', 'resultType')
  const happening = readEvent(event, type === 'success' ? 'success' : 'unknown')
  if (happening === null || happening.what.kind !== 'tool') return happening
  // A completed command can have failed, unless the result states its exit code.
  const failed = type === 'failure' || type === 'denied'
  return failed ? { ...happening, what: { ...happening.what, outcome: 'failure' } } : happening
}

export const copilot: HookClient = {
  title: 'Copilot',
  read: readCopilot,
  answer: { start: (text) => ({ additionalContext: text }), prompt: () => null },
}

/**
 * Cursor (cursor.com/docs/hooks): sessions are conversations. It also runs the hooks of Claude Code, under its own
 * names.
 */

/** Older versions have separate events for commands and edits. */
function ownOf(name: string, event: Fields): HookEventKind | null {
  if (name === 'afterShellExecution') {
    const use = toolUse('Shell', { command: event.command }, 'unknown', event.output)
    return use === null ? null : { kind: 'tool', ...use }
  }
  if (name === 'afterFileEdit') {
    const use = toolUse('Edit', { file_path: event.file_path }, 'success', null)
    return use === null ? null : { kind: 'tool', ...use }
  }
  return whatOf(name, event, 'success')
}

function readCursor(event: Fields): ClientEvent | null {
  const name = textOf(event, 'hook_event_name')
  const session = textOf(event, 'conversation_id', 'session_id')
  if (name === null || session === null || session === '') return null
  const what = ownOf(name, { ...event, tool_input: objectOf(event, 'tool_input') })
  return what === null ? null : { session, isSubagent: name === 'subagentStop', name, what }
}

export const cursor: HookClient = {
  title: 'Cursor',
  read: readCursor,
  answer: {
    start: (text) => ({ additional_context: text }),
    prompt: () => null,
    empty: ({ what }) => (what.kind === 'prompt' ? {} : null),
  },
}

/** OpenCode (opencode.ai/docs/plugins): the plugin sends `{hook, input, output, session: {id, directory}}`. */

/** The text that the person wrote; parts of plugins and tools are marked as synthetic. */
function promptOf(output: Fields): string {
  const { parts } = output
  return (Array.isArray(parts) ? parts : [])
    .flatMap((part) =>
      isFields(part) && part.type === 'text' && part.synthetic !== true ? (textOf(part, 'text') ?? []) : [],
    )
    .join('\n')
}

function openCodeEvent(hook: string, input: Fields, output: Fields): HookEventKind | null {
  switch (hook) {
    case 'session.created':
      return { kind: 'start', source: 'fresh' }
    case 'chat.message': {
      const text = promptOf(output) || (textOf(output, 'text') ?? textOf(input, 'text') ?? '')
      return text.trim() === '' ? null : { kind: 'prompt', text }
    }
    case 'tool.execute.after': {
      const metadata = objectOf(output, 'metadata')
      const exit = numberOf(metadata, 'exit', 'exitCode')
      const response =
        exit === null ? { output: textOf(output, 'output') ?? textOf(metadata, 'output') ?? '' } : { exit }
      const call = memoryCall(textOf(input, 'tool') ?? '', objectOf(input, 'args'))
      if (call !== null) return call
      const use = toolUse(textOf(input, 'tool') ?? '', objectOf(input, 'args'), 'unknown', response)
      return use === null ? { kind: 'nothing' } : { kind: 'tool', ...use }
    }
    case 'session.idle':
      return { kind: 'stop', answer: textOf(output, 'text', 'answer') ?? textOf(input, 'text', 'answer') }
    case 'experimental.session.compacting':
    case 'session.compaction':
      return { kind: 'compact' }
    case 'dispose':
    case 'session.deleted':
      return { kind: 'end' }
    default:
      return null
  }
}

function readOpenCode(event: Fields): ClientEvent | null {
  const hook = textOf(event, 'hook')
  const session = objectOf(event, 'session')
  const input = objectOf(event, 'input')
  const id = textOf(session, 'id') ?? textOf(input, 'sessionID')
  if (hook === null || id === null || id === '') return null
  const what = openCodeEvent(hook, input, objectOf(event, 'output'))
  return what === null ? null : { session: id, isSubagent: textOf(session, 'parentID') !== null, name: hook, what }
}

const words = (text: string): Record<string, unknown> => ({ text })

export const opencode: HookClient = { title: 'OpenCode', read: readOpenCode, answer: { start: words, prompt: words } }

/**
 * Agents of VS Code (code.visualstudio.com/docs/agent-customization/hooks): Claude Code's names, paths as `filePath`.
 */
export const vscode: HookClient = {
  title: 'VS Code',
  read: (event) => readEvent(event, 'unknown'),
  answer: { ...CLAUDE_ANSWERS, prompt: () => null },
}

/** Supported clients by their name in URLs. */
const CLIENTS: ReadonlyMap<string, HookClient> = new Map(
  Object.entries({ 'claude-code': claudeCode, codex, cursor, copilot, vscode, opencode, generic }),
)

export const CLIENT_NAMES: readonly string[] = [...CLIENTS.keys()]

/** Returns the name of a client in URLs. `vs-code`, its name in `commonplace setup`, is `vscode` here. */
export const hookClientName = (given: string): string => (given === 'vs-code' ? 'vscode' : given)

/** The client of a name; null for an unknown name. */
export const hookClient = (name: string): HookClient | null => CLIENTS.get(name) ?? null
