import type { Fields, HookEventKind, Outcome, ToolUse } from '../../domain/capture/hook-event'
import { isFields, numberOf, textOf } from '../../domain/capture/json-fields'

/** Extracts the changed files, the command and its outcome from a tool call (capture contract §3). */

/** Maximum number of files per call. */
const MOST_FILES = 50
/** Characters at both ends of an output that are checked: its heading, and the end with the result of a command. */
const LOOKED_AT = 600

/** Arguments in which clients pass the path of a changed file. */
const PATHS = ['file_path', 'filePath', 'notebook_path', 'path', 'target_file', 'targetFile']
/** Starts of patch lines that name a file, in the formats of `apply_patch` (Codex, Copilot, VS Code) and `diff`. */
const PATCHED = ['*** Add File: ', '*** Update File: ', '*** Delete File: ', '*** Move to: ', '+++ b/', '+++ ']

/** Parts of the names of tools that change files, and of tools that run commands. */
const EDITS = /edit|write|creat|replace|insert|patch|delete|remove|rename|move|notebook/i
const RUNS = /bash|shell|terminal|exec|command|run|cmd/i
/** The command of a multi-purpose tool that changes nothing. */
const VIEWS = 'view'

/** The files that a tool changes. */
export function filesOf(tool: string, input: Fields): string[] {
  if (!EDITS.test(tool) || input.command === VIEWS) return []
  const named = PATHS.flatMap((name) => textOf(input, name) ?? [])
  const listed = [input.files, input.edits, input.replacements].flatMap((list) =>
    Array.isArray(list)
      ? list.flatMap((item) =>
          typeof item === 'string' ? item : isFields(item) ? PATHS.flatMap((name) => textOf(item, name) ?? []) : [],
        )
      : [],
  )
  const patch = textOf(input, 'patch', 'patchText', 'input', 'command') ?? ''
  const patched = isPatch(tool, patch) ? patchedFiles(patch) : []
  return [...new Set([...named, ...listed, ...patched])].filter((path) => path !== '/dev/null').slice(0, MOST_FILES)
}

function patchedFiles(patch: string): string[] {
  return patch.split('\n').flatMap((line) => {
    const head = PATCHED.find((beginning) => line.startsWith(beginning))
    return head === undefined ? [] : line.slice(head.length).trim()
  })
}

const isPatch = (tool: string, text: string): boolean => /patch/i.test(tool) || text.startsWith('*** Begin Patch')

/** The command that a tool runs, as a shell command line; null without one. */
export function commandOf(tool: string, input: Fields): string | null {
  const command = RUNS.test(tool) ? (input.command ?? input.cmd) : null
  const text = Array.isArray(command) ? command.filter((part) => typeof part === 'string').join(' ') : command
  return typeof text !== 'string' || text.trim() === '' || isPatch(tool, text) ? null : text
}

const SAYS_CODE = /\b(?:Exit code:?|exited with (?:exit )?code:?|exit status:?) (-?\d+)|"exit_?code" ?: ?(-?\d+)/i
const SAYS_FAILURE = /\bcommand not found\b/i

/** The outcome that an output states explicitly. */
export function statedOutcome(output: string): Outcome {
  const ends = output.length > 2 * LOOKED_AT ? `${output.slice(0, LOOKED_AT)}\n${output.slice(-LOOKED_AT)}` : output
  const [, words, member] = SAYS_CODE.exec(ends) ?? []
  const code = words ?? member
  if (code !== undefined) return Number(code) === 0 ? 'success' : 'failure'
  return SAYS_FAILURE.test(ends) ? 'failure' : 'unknown'
}

/** The exit code in a response; null without one. */
const exitCodeOf = (response: Fields): number | null =>
  numberOf(response, 'exit_code', 'exitCode', 'exit', 'returncode', 'code')

/** The text of a response, from any known member. */
function outputOf(response: unknown): string {
  if (typeof response === 'string') return response
  if (!isFields(response)) return ''
  const texts = [
    'output',
    'stdout',
    'stderr',
    'text',
    'content',
    'aggregated_output',
    'text_result_for_llm',
    'textResultForLlm',
  ]
  return texts.flatMap((name) => textOf(response, name) ?? []).join('\n')
}

/**
 * The outcome of a command.
 * @param reported outcome stated by the event, for clients with separate events; used unless the output states another
 * one
 * @param response response of the tool
 */
function outcomeOf(reported: Outcome, response: unknown): Outcome {
  if (reported === 'failure') return 'failure'
  const code = isFields(response) ? exitCodeOf(response) : null
  if (code !== null) return code === 0 ? 'success' : 'failure'
  const said = statedOutcome(outputOf(response))
  return said === 'unknown' ? reported : said
}

/** The use of a tool; null for a tool that neither changes a file nor runs a command. */
export function toolUse(tool: string, input: Fields, reported: Outcome, response: unknown): ToolUse | null {
  const [files, command] = [filesOf(tool, input), commandOf(tool, input)]
  if (files.length === 0 && command === null) return null
  return { files, command, outcome: outcomeOf(reported, response) }
}

/** Names of this server's tools whose calls open, replace or correct memories. */

const TOOLS: readonly string[] = ['fetch', 'forget', 'remember', 'update']
/** Maximum number of IDs per call. */
const MOST_IDS = 20

function idsIn(value: unknown): number[] {
  const list = Array.isArray(value) ? value : [value]
  const ids = list.map((one) => (typeof one === 'string' && /^\d{1,15}$/.test(one) ? Number(one) : one))
  return ids.filter((one): one is number => Number.isSafeInteger(one) && Number(one) > 0).slice(0, MOST_IDS)
}

/** Whether an update changes the text; other updates correct nothing. */
const changesWords = (input: Fields): boolean =>
  ['content', 'old_text', 'append', 'changes_words'].some((name) => input[name] !== undefined)

/**
 * The name of a tool of this server, without the client's prefix: `mcp__plugin_commonplace_commonplace__fetch`,
 * `commonplace_fetch`, or `MCP:fetch` (Cursor does not name the server).
 */
function ownTool(tool: string): string | null {
  const parts = tool.toLowerCase().split(/[^a-z]/)
  const name = parts.at(-1) ?? ''
  const isOurs = parts.includes('commonplace') || (parts[0] === 'mcp' && parts.length === 2)
  return isOurs && TOOLS.includes(name) ? name : null
}

/** The memories of a call of this server's tools; null for another tool, or without IDs. */
export function memoryCall(tool: string, input: Fields): Extract<HookEventKind, { kind: 'memory' }> | null {
  const name = ownTool(tool)
  if (name === null) return null
  const named = [...idsIn(input.id), ...idsIn(input.ids)]
  const replaced = [...idsIn(input.replaces), ...idsIn(input.merges)]
  const opened = name === 'fetch' ? named : []
  const own = name === 'forget' || (name === 'update' && changesWords(input)) ? named : []
  const corrected = name === 'fetch' ? [] : [...own, ...replaced]
  return opened.length + corrected.length === 0 ? null : { kind: 'memory', opened, corrected }
}
