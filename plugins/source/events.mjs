// Detects the client of an event, its meaning and its id (capture contract §2, §3).
import { createHash } from 'node:crypto'

/** @param {unknown} value @returns {value is Record<string, any>} */
export const isFields = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses JSON, also after the byte order mark of Windows editors and shells. */
export const jsonIn = (text) => JSON.parse(text.replace(/^\uFEFF/, ''))

/** Returns the first named member that is a text and not blank. */
export const textOf = (fields, ...names) =>
  names.map((name) => fields?.[name]).find((value) => typeof value === 'string' && value !== '')

/** Cursor and VS Code also run Claude Code's hooks, so the environment of the program takes precedence over its argument. */
export function clientOf(argument, event, env) {
  if (env.CURSOR_VERSION) return 'cursor'
  if (env.COPILOT_CLI) return 'copilot'
  const isVsCode = argument === 'claude-code' && event.timestamp !== undefined && event.permission_mode === undefined
  return isVsCode ? 'vscode' : argument
}

/** How events are sent, by their names in lower case. */
const KINDS = {
  sessionstart: 'start',
  'session.created': 'start',
  userpromptsubmit: 'prompt',
  userpromptsubmitted: 'prompt',
  beforesubmitprompt: 'prompt',
  'chat.message': 'prompt',
  posttooluse: 'tool',
  posttoolusefailure: 'tool',
  aftershellexecution: 'tool',
  afterfileedit: 'tool',
  'tool.execute.after': 'tool',
  subagentstart: 'agent',
}

export const nameOf = (event) => textOf(event, 'hook_event_name', 'hookEventName', 'hook') ?? ''

/** @returns {'start' | 'prompt' | 'tool' | 'agent' | 'other'} */
export const kindOf = (event) => KINDS[nameOf(event).toLowerCase()] ?? 'other'

/** Tools that change files or run commands; some clients ignore the matchers of hooks. */
const CHANGES = /edit|write|creat|replace|insert|patch|delete|remove|rename|move|notebook/i
const RUNS = /bash|shell|terminal|exec|command|run|cmd/i

export const runsCommands = (tool) => RUNS.test(tool)

export const toolOf = (event) => textOf(event, 'tool_name', 'toolName') ?? textOf(event.input, 'tool') ?? ''

/** Tools of ours that open or correct memories, as clients spell them; Cursor names no server. */
export const isOwnTool = (tool) => /(?:commonplace[^a-z].{0,40}|^mcp:)(?:fetch|forget|remember|update)$/i.test(tool)

/** Whether a tool's event is worth keeping: another server's tools are none of ours, whatever their names. */
export function isWorkOf(event) {
  if (/^after(Shell|File)/.test(nameOf(event))) return true
  const tool = toolOf(event)
  return isOwnTool(tool) || (!/^mcp(__|_|:)/i.test(tool) && (CHANGES.test(tool) || RUNS.test(tool)))
}

export const sessionOf = (client, event) =>
  (client === 'cursor'
    ? textOf(event, 'conversation_id', 'session_id')
    : textOf(event, 'session_id', 'sessionId', 'conversation_id')) ??
  textOf(event.session, 'id') ??
  ''

/** Cursor's own names of the events under which it runs Claude Code's hooks. */
const OF_CURSOR = {
  SessionStart: 'sessionStart',
  UserPromptSubmit: 'beforeSubmitPrompt',
  PostToolUse: 'postToolUse',
  PostToolUseFailure: 'postToolUseFailure',
  PreCompact: 'preCompact',
  Stop: 'stop',
  SessionEnd: 'sessionEnd',
}

/** Returns the same text for equal values, whatever the order of their members. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isFields(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

/** @param event as sent by the client, before parts are removed */
export function idOf(client, event) {
  const given = nameOf(event)
  const name = client === 'cursor' ? (OF_CURSOR[given] ?? given) : given
  const kind = kindOf(event)
  const call =
    kind === 'tool' ? (textOf(event, 'tool_use_id', 'toolUseId') ?? textOf(event.input, 'callID')) : undefined
  const prompt =
    kind === 'prompt'
      ? (textOf(event, 'prompt_id', 'turn_id', 'generation_id') ??
        textOf(event.input, 'messageID') ??
        textOf(event.output?.message, 'id'))
      : undefined
  const rest = call ?? prompt ?? canonical({ ...event, hook_event_name: name })
  return createHash('sha256')
    .update(JSON.stringify([sessionOf(client, event), name, rest]))
    .digest('hex')
}
