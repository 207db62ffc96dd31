import { isFields, numberOf, textOf } from '../../domain/capture/fields'
import type { Fields, HookEventKind, Outcome, ToolUse } from '../../domain/capture/hook-event'

/** What a use of a tool tells: the files it changed, the command it ran, and how that went (capture contract §3). */

/** Files of one call that are told. */
const MOST_FILES = 50
/** Of an output, as much as is looked at: the end, where commands say how they ended, and the heading. */
const LOOKED_AT = 600

/** Names under which clients pass the path of a file that a tool changes. */
const PATHS = ['file_path', 'filePath', 'notebook_path', 'path', 'target_file', 'targetFile']
/** How lines of a patch begin that name a file, as `apply_patch` of Codex, Copilot and VS Code has them, or as `diff` does. */
const PATCHED = ['*** Add File: ', '*** Update File: ', '*** Delete File: ', '*** Move to: ', '+++ b/', '+++ ']

/** Tools of the clients that change files, and those that run commands, by parts of their names. */
const EDITS = /edit|write|creat|replace|insert|patch|delete|remove|rename|move|notebook/i
const RUNS = /bash|shell|terminal|exec|command|run|cmd/i
/** What a tool that does several things is told to do when it changes nothing. */
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

/** The command that a tool runs, as one line of a shell; null when it runs none. */
export function commandOf(tool: string, input: Fields): string | null {
  const command = RUNS.test(tool) ? (input.command ?? input.cmd) : null
  const text = Array.isArray(command) ? command.filter((part) => typeof part === 'string').join(' ') : command
  return typeof text !== 'string' || text.trim() === '' || isPatch(tool, text) ? null : text
}

const SAYS_CODE = /\b(?:Exit code:?|exited with (?:exit )?code:?|exit status:?) (-?\d+)|"exit_?code" ?: ?(-?\d+)/i
const SAYS_FAILURE = /\bcommand not found\b/i

/** What an output says outright of how a command ended, and nothing that has to be guessed. */
export function saidOutcome(output: string): Outcome {
  const ends = output.length > 2 * LOOKED_AT ? `${output.slice(0, LOOKED_AT)}\n${output.slice(-LOOKED_AT)}` : output
  const [, words, member] = SAYS_CODE.exec(ends) ?? []
  const code = words ?? member
  if (code !== undefined) return Number(code) === 0 ? 'success' : 'failure'
  return SAYS_FAILURE.test(ends) ? 'failure' : 'unknown'
}

/** The exit code that a response holds as a number; null when it holds none. */
const exitCodeOf = (response: Fields): number | null =>
  numberOf(response, 'exit_code', 'exitCode', 'exit', 'returncode', 'code')

/** The text that a response holds, in whatever member. */
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
 * How a command went.
 *
 * @param reported what the event itself says, of clients that have an event for each: it counts where the output does not say otherwise
 * @param response what the tool answered
 */
function outcomeOf(reported: Outcome, response: unknown): Outcome {
  if (reported === 'failure') return 'failure'
  const code = isFields(response) ? exitCodeOf(response) : null
  if (code !== null) return code === 0 ? 'success' : 'failure'
  const said = saidOutcome(outputOf(response))
  return said === 'unknown' ? reported : said
}

/** Null where a tool neither changes a file nor runs a command. */
export function toolUse(tool: string, input: Fields, reported: Outcome, response: unknown): ToolUse | null {
  const [files, command] = [filesOf(tool, input), commandOf(tool, input)]
  if (files.length === 0 && command === null) return null
  return { files, command, outcome: outcomeOf(reported, response) }
}

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
