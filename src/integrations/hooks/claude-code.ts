import type {
  AnswerForms,
  ClientEvent,
  Fields,
  HookClient,
  HookEventKind,
  StartSource,
} from '../../domain/capture/hook-event'
import { objectOf, textOf } from '../../domain/capture/json-fields'
import { memoryCall, toolUse } from './tool-use'

/** Claude Code (code.claude.com/docs/en/hooks). Several clients use its names and members. */

const SOURCES: ReadonlyMap<string, StartSource> = new Map(
  Object.entries({
    startup: 'fresh',
    new: 'fresh',
    resume: 'again',
    fork: 'again',
    clear: 'anew',
    compact: 'anew',
  }),
)

/** Parses an event by its name, in the spelling of Claude Code, Cursor or Copilot, in lower case. */
export function whatOf(name: string, event: Fields, outcome: 'success' | 'unknown'): HookEventKind | null {
  switch (name.toLowerCase()) {
    case 'sessionstart':
      return { kind: 'start', source: SOURCES.get(textOf(event, 'source') ?? 'startup') ?? 'fresh' }
    case 'userpromptsubmit':
    case 'userpromptsubmitted':
    case 'beforesubmitprompt': {
      const text = textOf(event, 'prompt')
      return text === null || text.trim() === '' ? null : { kind: 'prompt', text }
    }
    case 'posttooluse':
    case 'posttoolusefailure': {
      const isFailure = name.toLowerCase() === 'posttoolusefailure'
      const tool = textOf(event, 'tool_name', 'toolName')
      if (tool === null) return null
      const input = objectOf(event, 'tool_input', 'toolInput', 'toolArgs', 'tool_args')
      const response = event.tool_response ?? event.tool_output ?? event.tool_result ?? event.toolResult ?? event.error
      const call = memoryCall(tool, input)
      if (call !== null) return isFailure ? { kind: 'nothing' } : call
      const use = toolUse(tool, input, isFailure ? 'failure' : outcome, response)
      return use === null ? { kind: 'nothing' } : { kind: 'tool', ...use }
    }
    case 'stop':
    case 'stopfailure':
    case 'agentstop':
    case 'subagentstop':
      return { kind: 'stop', answer: textOf(event, 'last_assistant_message', 'lastAssistantMessage') }
    case 'afteragentresponse':
      return { kind: 'stop', answer: textOf(event, 'text') }
    case 'subagentstart':
      return { kind: 'agent', task: textOf(event, 'prompt', 'task', 'description') }
    case 'precompact':
      return { kind: 'compact' }
    case 'sessionend':
      return { kind: 'end' }
    default:
      return null
  }
}

/**
 * Parses an event with Claude Code's members. @param outcome outcome of a command for `PostToolUse`, unless its output
 * states another one
 */
export function readEvent(event: Fields, outcome: 'success' | 'unknown'): ClientEvent | null {
  const name = textOf(event, 'hook_event_name', 'hookEventName')
  const session = textOf(event, 'session_id', 'sessionId', 'conversation_id')
  if (name === null || session === null || session === '') return null
  const what = whatOf(name, event, outcome)
  const isSubagent = name.toLowerCase().startsWith('subagent') || textOf(event, 'agent_id', 'agentId') !== null
  return what === null ? null : { session, isSubagent, name, what }
}

const context = (text: string, hookEventName: string): Record<string, unknown> => ({
  hookSpecificOutput: { hookEventName, additionalContext: text },
})

export const CLAUDE_ANSWERS: AnswerForms = { start: context, prompt: context, agent: context }

/** Failures have an event of their own, so `PostToolUse` means success. */
export const claudeCode: HookClient = {
  title: 'Claude Code',
  read: (event) => readEvent(event, 'success'),
  answer: CLAUDE_ANSWERS,
}

/** Other clients that send Claude Code's events. */
export const generic: HookClient = { ...claudeCode, title: 'an agent' }
