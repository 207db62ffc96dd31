// Removes secrets and contents from an event before it is written or sent (capture contract §2).
// The server uses the same rules; scripts/plugins.mjs adds them to the program, minified.
import { redact } from '../../src/domain/secrets/redact'
import { isFields, isOwnTool, isWorkOf, jsonIn, kindOf, runsCommands, textOf, toolOf } from './events.mjs'

const LONGEST_TEXT = 4_000
const LONGEST_OUTPUT = 500
/** Maximum length of a private key. */
const LONGEST_SECRET = 20_000
const MOST_ITEMS = 200
const DEEPEST = 8
/** With 120 of these the spool is still below its 8 MB, so the size of fewer events is not checked. */
export const LARGEST_EVENT = 65_536

/** Marks of text that is never stored: private text of the user, and recalled memories. */
const MARKS = ['private', 'commonplace-memory'].map((name) => new RegExp(`<(/?)${name}(?:\\s[^<>]*)?>`, 'gi'))

/** Returns the text without marked parts; a missing end mark means to the end of the text. */
export function withoutMarked(text) {
  return MARKS.reduce((rest, mark) => {
    if (!rest.includes('<')) return rest
    let [kept, depth, from] = ['', 0, 0]
    for (const match of rest.matchAll(mark)) {
      if (depth === 0) kept += rest.slice(from, match.index)
      depth = match[1] === '' ? depth + 1 : Math.max(0, depth - 1)
      from = match.index + match[0].length
    }
    return depth === 0 ? kept + rest.slice(from) : kept
  }, text)
}

/** Cuts between words, since part of a secret would not be recognized; tokens are not longer than that. */
const CUT_WORD = /[!-~]{1,512}$/

/** Removes half of a surrogate pair at the start or end. */
function first(text, length) {
  if (text.length <= length) return text
  const begin = text.slice(0, length)
  const whole = /[!-~]/.test(text[length]) ? begin.replace(CUT_WORD, '') : begin
  return (whole || begin).replace(/[\uD800-\uDBFF]$/, '')
}
const last = (text, length) => text.slice(-length).replace(/^[\uDC00-\uDFFF]/, '')

const cleanText = (text, length = LONGEST_TEXT) => {
  const open = withoutMarked(text)
  // A secret at the cut is read to its end, so that it is recognized.
  return first(redact(open.slice(0, length + LONGEST_SECRET)), length)
}

const TELLS_CODE = /^.*(?:\bexit ?code\b|\bexited with\b|\bexit status\b|\bcommand not found\b).*$/im

/** Returns the exit state of a command, and its last output. */
export function endOf(output) {
  const text = withoutMarked(output)
  const end = redact(text.slice(-LONGEST_OUTPUT - LONGEST_SECRET))
  if (text.length <= LONGEST_OUTPUT) return end
  const head = TELLS_CODE.exec(text.slice(0, -LONGEST_OUTPUT))?.[0] ?? ''
  return `${head === '' ? '' : `${first(redact(head.trim()), 200)}\n`}${last(end, LONGEST_OUTPUT)}`
}

const NAMES_FILE = /^(?:\*\*\* (?:Begin Patch|End Patch|Add File: |Update File: |Delete File: |Move to: )|\+\+\+ )/
const isPatch = (text) => /^\*\*\* Begin Patch/m.test(text) || /^(?:diff --git|--- \S)/m.test(text)

/** Reduces a patch to the lines with its file names. */
const filesOfPatch = (patch) =>
  cleanText(
    patch
      .split('\n')
      .filter((line) => NAMES_FILE.test(line))
      .join('\n'),
  )

function commandText(command) {
  if (!isPatch(command)) return cleanText(command)
  const begin = /^\*\*\* Begin Patch/.test(command) ? '' : `${cleanText(command.split('\n', 1)[0] ?? '', 200)}\n`
  return `${begin}${filesOfPatch(command)}`
}

const PATHS = ['file_path', 'filePath', 'notebook_path', 'path', 'target_file', 'targetFile']
const PATCHES = ['patch', 'patchText', 'input']
const COMMANDS = ['command', 'cmd']
const LISTS = ['files', 'edits', 'replacements']

/** Returns the arguments of a tool that are stored: files, command; never contents. */
function toolInput(given) {
  if (typeof given === 'string') {
    try {
      return toolInput(JSON.parse(given))
    } catch {
      return isPatch(given) ? { input: filesOfPatch(given) } : {}
    }
  }
  if (!isFields(given)) return {}
  const kept = PATHS.flatMap((name) => (textOf(given, name) ? [[name, cleanText(given[name])]] : []))
  for (const name of PATCHES) if (textOf(given, name)) kept.push([name, filesOfPatch(given[name])])
  for (const name of COMMANDS) {
    const command = given[name]
    if (typeof command === 'string') kept.push([name, commandText(command)])
    if (Array.isArray(command))
      kept.push([
        name,
        command.slice(0, MOST_ITEMS).flatMap((part) => (typeof part === 'string' ? [commandText(part)] : [])),
      ])
  }
  for (const name of LISTS)
    if (Array.isArray(given[name]))
      kept.push([
        name,
        given[name].slice(0, MOST_ITEMS).map((one) => (textOf([one], 0) ? cleanText(one) : toolInput(one))),
      ])
  return Object.fromEntries(kept)
}

/** Of a call of a tool of ours: ids, and whether it changes words. */
function ownInput(given) {
  if (typeof given === 'string') {
    try {
      return ownInput(jsonIn(given))
    } catch {
      return {}
    }
  }
  const idsIn = (name) => [given?.[name] ?? []].flat().slice(0, 20).map(Number).filter(Number.isSafeInteger)
  const ids = ['id', 'ids', 'replaces', 'merges'].map((name) => [name, idsIn(name)])
  const changes = ['content', 'old_text', 'append'].some((name) => given?.[name] !== undefined)
  return { ...Object.fromEntries(ids), ...(changes ? { changes_words: true } : {}) }
}

const CODES = ['exit_code', 'exitCode', 'exit', 'returncode', 'code', 'interrupted', 'result_type', 'resultType']
const OUTPUTS = [
  'output',
  'stdout',
  'stderr',
  'text',
  'content',
  'aggregated_output',
  'text_result_for_llm',
  'textResultForLlm',
]

/** Returns the outcome of a tool; of a command, the end of its output. */
function toolResponse(given, isCommand) {
  if (typeof given === 'string') return isCommand ? endOf(given) : ''
  if (Array.isArray(given))
    return isCommand ? endOf(given.flatMap((part) => textOf(part, 'text') ?? []).join('\n')) : ''
  if (!isFields(given)) return given === null || given === undefined ? given : {}
  const codes = CODES.flatMap((name) =>
    ['string', 'number', 'boolean'].includes(typeof given[name]) ? [[name, shorten(given[name], 100)]] : [],
  )
  const outputs = isCommand ? OUTPUTS.flatMap((name) => (textOf(given, name) ? [[name, endOf(given[name])]] : [])) : []
  const metadata = isFields(given.metadata) ? [['metadata', toolResponse(given.metadata, isCommand)]] : []
  return Object.fromEntries([...codes, ...outputs, ...metadata])
}

function shorten(value, length, depth = 0) {
  if (typeof value === 'string') return cleanText(value, length)
  if (value === null || typeof value !== 'object') return value
  if (depth === DEEPEST) return null
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => shorten(item, length, depth + 1))
  const members = Object.entries(value).slice(0, MOST_ITEMS)
  return Object.fromEntries(members.map(([name, member]) => [first(name, 200), shorten(member, length, depth + 1)]))
}

const INPUTS = ['tool_input', 'toolInput', 'toolArgs', 'tool_args']
const RESPONSES = ['tool_response', 'tool_output', 'tool_result', 'toolResult', 'error']
/** Members of events and message parts with contents that the server does not use. */
const UNREAD = new Set([
  'user_email',
  'attachments',
  'transcript_path',
  'agent_transcript_path',
  'transcriptPath',
  'background_tasks',
])

function member(name, value, isTool, isCommand, isOwn) {
  if (!isTool) return value
  if (INPUTS.includes(name) || name === 'args') return isOwn ? ownInput(value) : toolInput(value)
  if (RESPONSES.includes(name)) return toolResponse(value, isCommand)
  return ['edits', 'output', 'content', 'command'].includes(name) ? ownMember(name, value) : value
}

/** Members of Cursor's older tool events, which are in the event itself. */
function ownMember(name, value) {
  if (name === 'edits' || name === 'content') return []
  if (typeof value !== 'string') return []
  return name === 'command' ? commandText(value) : endOf(value)
}

/** OpenCode's events: `{hook, input, output, session}`. */
function cleanOpenCode(event, isTool, isCommand, isOwn) {
  const { input, output } = event
  const told = isFields(input) && isTool ? { ...input, args: (isOwn ? ownInput : toolInput)(input.args) } : input
  // As one text: what is private may begin in one part and end in another.
  const parts = Array.isArray(output?.parts)
    ? [
        {
          type: 'text',
          text: output.parts
            .filter((part) => part?.type === 'text' && part.synthetic !== true && typeof part.text === 'string')
            .map(({ text }) => text)
            .join('\n'),
        },
      ]
    : undefined
  const answered = isTool ? toolResponse(output, isCommand) : parts === undefined ? output : { parts }
  return { hook: event.hook, input: told, output: answered, session: event.session }
}

/** @param {Record<string, any>} event as sent by the client */
export function cleanEvent(event) {
  const isTool = kindOf(event) === 'tool' && isWorkOf(event)
  const isOwn = isOwnTool(toolOf(event))
  const isCommand = isTool && (runsCommands(toolOf(event)) || event.hook_event_name === 'afterShellExecution')
  const known =
    event.hook === undefined
      ? Object.fromEntries(
          Object.entries(event)
            .filter(([name]) => !UNREAD.has(name))
            .map(([name, value]) => [name, member(name, value, isTool, isCommand, isOwn)]),
        )
      : cleanOpenCode(event, isTool, isCommand, isOwn)
  const sizes = [LONGEST_TEXT, 500, 100]
  const fitting = sizes
    .map((length) => shorten(known, length))
    .find((made) => Buffer.byteLength(JSON.stringify(made)) <= LARGEST_EVENT)
  return (
    fitting ?? Object.fromEntries(Object.entries(shorten(known, 100)).filter(([, value]) => typeof value === 'string'))
  )
}
