import { normalizeProject } from '../identity/project'
import { folderName, readProjectName, remoteOf } from '../identity/project-names'
import type { NamedPlace } from '../identity/project-resolution'
import { redact } from '../secrets/redact'
import { compareText, firstCodePoints, unstorable } from '../text'
import type { Millis } from '../time'
import {
  decisionsIn,
  findingsIn,
  isAgreement,
  ownLines,
  plainAnswer,
  proposalIn,
  saysSomething,
  shortPrompt,
} from './decisions'
import type { ClientEvent, Fields, ToolUse } from './hook-event'
import { isFields, textOf } from './json-fields'

/** Where an event happened (capture contract §3). */
export interface Place {
  /** Null without a file, remote or folder that names one. */
  readonly project: string | null
  /** All names of the location; absent once its project is resolved. */
  readonly named?: NamedPlace
  readonly branch: string | null
  readonly audience: 'private' | 'project'
  /** Whether its events are stored. */
  readonly captures: boolean
}

/** Maximum length of a project key (platform contract §1). */
const MOST_PROJECT = 240
const MOST_BRANCH = 200

function named(project: string | null): string | null {
  if (project === null || unstorable(project) !== null) return null
  const key = normalizeProject(redact(project))
  return key === null ? null : firstCodePoints(key, MOST_PROJECT)
}

/** An absolute folder that can name a project; null for home, the root, and a folder with a secret in its name. */
function absolute(folder: string | null): string | null {
  const name = folder === null ? null : named(folder)
  const read = name === null || name !== normalizeProject(folder ?? '') ? null : readProjectName(name)
  return read?.kind === 'folder' && read.segment !== '' ? name : null
}

/** Reads a location. @param place as sent; invalid members count as absent */
export function readPlace(place: Fields): Place {
  const [given, folder, branch] = [textOf(place, 'remote'), textOf(place, 'folder'), textOf(place, 'branch')]
  const called = named(textOf(place, 'project'))
  const remote = named(given === null ? null : remoteOf(given))
  const last = named(folder === null ? null : folderName(folder))
  const path = absolute(folder)
  return {
    project: called ?? remote ?? last,
    // A relative folder names a project by its last segment only.
    named: { project: called ?? (remote === null && path === null ? last : null), remote, folder: path },
    branch:
      branch === null || branch === '' || unstorable(branch) !== null
        ? null
        : firstCodePoints(redact(branch), MOST_BRANCH),
    audience: place.audience === 'project' ? 'project' : 'private',
    captures: place.capture !== false,
  }
}

/**
 * The accumulated state of a session. Events can arrive late and in any order: they are ordered by `at`, so that the
 * same events always give the same state.
 */
export interface SessionState {
  readonly place: Omit<Place, 'captures'> & { readonly at: number }
  /** Number of prompts, and the first and last ones that state or agree to something. */
  readonly prompts: { readonly count: number; readonly told: readonly At[] }
  readonly files: readonly Touched[]
  readonly commands: readonly CommandRuns[]
  /** Sentences in which the person decides something. */
  readonly decisions: readonly At[]
  /** Measurements, and attempts that did not help. */
  readonly findings: readonly At[]
  /** Number of answers, and the first and last ones. */
  readonly answers: { readonly count: number; readonly told: readonly Answer[] }
  /** IDs of recalled entries, and the number of characters shown at prompts. */
  readonly recalled: { readonly ids: readonly number[]; readonly chars: number }
  readonly memories: SessionMemories
}

/** Events of the session that concern memories. Each list is limited to its first items by ID or time. */
export interface SessionMemories {
  /** Memories that hooks showed, with the time of the first showing in milliseconds since 1970. */
  readonly shown: readonly { readonly id: number; readonly at: number }[]
  /** IDs that the session opened, mentioned in an answer, and replaced or corrected. */
  readonly opened: readonly number[]
  readonly named: readonly number[]
  readonly corrected: readonly number[]
}

const NO_MEMORIES: SessionMemories = { shown: [], opened: [], named: [], corrected: [] }
/** Maximum IDs in each list of memories. */
const MOST_MEMORIES = 60
/** Matches an ID in an answer: `[12]`, `memory 12`, `entry #12`. */
const NAMED = /\[(\d{1,15})\]|\b(?:memory|memories|entry|id) #?(\d{1,15})\b/gi

/** A text and its time in milliseconds since 1970. */
export interface At {
  readonly at: number
  readonly text: string
}

/** A file with the times of its first and last change. */
export interface Touched extends At {
  readonly last: number
}

/** The text of an answer, with the proposal at its end. */
export interface Answer extends At {
  readonly proposal?: string
}

/** A command with the times of its first failure and last success; both null if the client sent no result. */
export interface CommandRuns {
  readonly command: string
  readonly failedAt: Millis | null
  readonly passedAt: Millis | null
}

/** Number of first and last prompts and answers that a session retains. */
const FIRST = 12
const LAST = 28
/** Maximum characters of all answers of a session, divided equally, and limits of one answer. */
const ANSWERS = 16_000
const SHORTEST_ANSWER = 400
const LONGEST_ANSWER = 4_000
const COMMAND = 300
const PATH = 300
/** Maximum number of items that a session retains, the first by time. */
const MOST_FILES = 60
const MOST_COMMANDS = 60
const MOST_DECISIONS = 12

/** The initial state of a session. */
export const initialState = (place: Place, at: number): SessionState => ({
  place: { project: place.project, branch: place.branch, audience: place.audience, at },
  prompts: { count: 0, told: [] },
  files: [],
  commands: [],
  decisions: [],
  findings: [],
  answers: { count: 0, told: [] },
  recalled: { ids: [], chars: 0 },
  memories: NO_MEMORIES,
})

const byTime = (a: At, b: At): number => a.at - b.at || compareText(a.text, b.text)

/** Merges changed files into a list, by first change. */
function touched(list: readonly Touched[], paths: readonly string[], at: number): readonly Touched[] {
  const found = new Map(list.map((file) => [file.text, file]))
  for (const text of paths) {
    const known = found.get(text)
    found.set(text, { text, at: Math.min(known?.at ?? at, at), last: Math.max(known?.last ?? at, at) })
  }
  return [...found.values()].sort(byTime).slice(0, MOST_FILES)
}

/** The first and last items by time. */
function ends<T extends At>(list: readonly T[]): readonly T[] {
  const sorted = list.toSorted(byTime)
  return sorted.length <= FIRST + LAST ? sorted : [...sorted.slice(0, FIRST), ...sorted.slice(-LAST)]
}

const least = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b))
const greatest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b)

function withCommand(runs: readonly CommandRuns[], { command, outcome }: ToolUse, at: number): readonly CommandRuns[] {
  if (command === null) return runs
  const name = firstCodePoints(command.trim(), COMMAND)
  const known = runs.find((run) => run.command === name) ?? { command: name, failedAt: null, passedAt: null }
  const next = {
    command: name,
    failedAt: least(known.failedAt, outcome === 'failure' ? at : null),
    passedAt: greatest(known.passedAt, outcome === 'success' ? at : null),
  }
  // Commands that only succeeded are dropped first.
  const rank = ({ failedAt, passedAt }: CommandRuns): number =>
    (failedAt === null ? 0 : 2) * 1e15 + (failedAt ?? passedAt ?? 0)
  return [...runs.filter((run) => run.command !== name), next]
    .sort((a, b) => rank(b) - rank(a) || compareText(a.command, b.command))
    .slice(0, MOST_COMMANDS)
}

/** Adds sentences of a text. A repeated sentence counts at its last time, regardless of the order of events. */
function withSentences(list: readonly At[], sentences: readonly string[], at: number): readonly At[] {
  // Sentences of one text are ordered within the millisecond.
  const added = sentences.map((text, i) => ({ text, at: at + i / 20 }))
  const all = new Map([...list, ...added].sort((a, b) => a.at - b.at).map((one) => [one.text, one]))
  return [...all.values()].sort((a, b) => b.at - a.at || compareText(a.text, b.text)).slice(0, MOST_DECISIONS)
}

function withAnswer({ count, told }: SessionState['answers'], text: string, at: number): SessionState['answers'] {
  const plain = plainAnswer(text)
  if (plain === '') return { count, told }
  const proposal = proposalIn(text)
  const next = count + 1
  const most = Math.min(LONGEST_ANSWER, Math.max(SHORTEST_ANSWER, Math.floor(ANSWERS / next)))
  const all = [...told, { at, text: plain, ...(proposal === null ? {} : { proposal }) }]
  return { count: next, told: ends(all).map((one) => ({ ...one, text: firstCodePoints(one.text, most) })) }
}

const withIds = (list: readonly number[], ids: readonly number[]): readonly number[] =>
  ids.length === 0 ? list : [...new Set([...list, ...ids])].sort((a, b) => a - b).slice(0, MOST_MEMORIES)

/** IDs that a text mentions: `[12]`, `memory 12`. */
export const idsNamedIn = (answer: string): number[] =>
  [...answer.matchAll(NAMED)].map(([, inBrackets, inWords]) => Number(inBrackets ?? inWords))

/** Adds memories that were shown at a time. */
export function withShown(gathered: SessionState, ids: readonly number[], at: number): SessionState {
  const known = new Map(gathered.memories.shown.map((one) => [one.id, one.at]))
  for (const id of ids) known.set(id, Math.min(at, known.get(id) ?? at))
  const shown = [...known].map(([id, first]) => ({ id, at: first })).sort((a, b) => a.at - b.at || a.id - b.id)
  return { ...gathered, memories: { ...gathered.memories, shown: shown.slice(0, MOST_MEMORIES) } }
}

/** The state of a session in the format of an earlier version, with the last answer only. */
interface Earlier {
  readonly prompts: { readonly count: number; readonly first?: readonly At[] }
  readonly decisions: readonly (At & { readonly who?: string })[]
  readonly answer?: At | null
}

/** Converts a stored state to the current format. */
export function currentForm(
  state: SessionState | (Omit<SessionState, 'prompts' | 'answers' | 'decisions' | 'findings'> & Earlier),
): SessionState {
  if ('answers' in state) return 'memories' in state ? state : { ...(state as SessionState), memories: NO_MEMORIES }
  const { prompts, decisions, answer = null, ...rest } = state
  return {
    ...rest,
    prompts: { count: prompts.count, told: prompts.first ?? [] },
    files: rest.files.map((file) => ({ ...file, last: file.last ?? file.at })),
    decisions: decisions.flatMap(({ at, text, who }) => (who === 'agent' ? [] : [{ at, text }])),
    findings: [],
    memories: NO_MEMORIES,
    answers: answer === null ? { count: 0, told: [] } : { count: 1, told: [answer] },
  }
}

/** Whether a command failed and succeeded later. */
export const wasFixed = ({ failedAt, passedAt }: CommandRuns): boolean =>
  failedAt !== null && passedAt !== null && passedAt > failedAt

/** Whether a command failed and has not succeeded since. */
export const isOpen = ({ failedAt, passedAt }: CommandRuns): boolean =>
  failedAt !== null && (passedAt === null || passedAt < failedAt)

/** The audience of a session: private if its events have different projects or audiences. */
const audienceOf = (one: SessionState['place'], other: Place): Place['audience'] =>
  one.project === other.project && one.audience === other.audience ? one.audience : 'private'

/** Adds an event to the state of a session. @param at time of the event, milliseconds since 1970 */
export function withEvent(
  gathered: SessionState,
  { what, isSubagent }: ClientEvent,
  place: Place,
  at: number,
): SessionState {
  const { project, branch } = place
  const audience = audienceOf(gathered.place, place)
  const placed = {
    ...gathered,
    place: at < gathered.place.at ? { project, branch, audience, at } : { ...gathered.place, audience },
  }
  if (what.kind === 'tool')
    return {
      ...placed,
      files: touched(
        placed.files,
        what.files.map((text) => firstCodePoints(text, PATH)),
        at,
      ),
      commands: withCommand(placed.commands, what, at),
    }
  if (what.kind === 'memory') {
    const { memories } = placed
    const opened = withIds(memories.opened, what.opened)
    return { ...placed, memories: { ...memories, opened, corrected: withIds(memories.corrected, what.corrected) } }
  }
  if (isSubagent) return placed
  if (what.kind === 'prompt') {
    const { count, told } = placed.prompts
    const isTold = saysSomething(what.text) || isAgreement(what.text)
    const prompts = isTold ? ends([...told, { at, text: shortPrompt(what.text) }]) : told
    return {
      ...placed,
      prompts: { count: count + 1, told: prompts },
      decisions: withSentences(placed.decisions, decisionsIn(what.text), at),
      findings: withSentences(placed.findings, findingsIn(ownLines(what.text).join('\n')), at),
    }
  }
  if (what.kind !== 'stop' || what.answer === null || what.answer.trim() === '') return placed
  return {
    ...placed,
    answers: withAnswer(placed.answers, what.answer, at),
    memories: { ...placed.memories, named: withIds(placed.memories.named, idsNamedIn(what.answer)) },
    findings: withSentences(placed.findings, findingsIn(what.answer), at),
  }
}

/**
 * Removes text that is never stored from events (capture contract §2, §4): private passages, recalled memories and
 * secrets. The hook program removes it too; this also covers clients that send events without the program.
 */

/** Maximum length of each text of an event. */
const LONGEST = 4_000
/** Maximum nesting and list length of an event; the rest is dropped. */
const DEEPEST = 8
const MOST_ITEMS = 1_000

/** Opening and closing tags of removed passages, with or without attributes. */
const PRIVATE = /<(\/?)private(?:\s[^<>]{0,100})?>/gi
const RECALLED = /<(\/?)commonplace-memory(?:\s[^<>]{0,100})?>/gi

/** Removes the text between tags, including nested ones. An unclosed tag extends to the end of the text. */
function without(text: string, marks: RegExp): string {
  let left = ''
  let [depth, from] = [0, 0]
  for (const { 0: mark, 1: slash, index } of text.matchAll(marks)) {
    if (depth === 0) left += text.slice(from, index)
    depth = slash === '' ? depth + 1 : Math.max(0, depth - 1)
    from = index + mark.length
  }
  return depth === 0 ? left + text.slice(from) : left
}

const UNSTORABLE = /\u0000|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Reduces a patch to the lines that name files: contents and changes of files are never stored. */
const withoutHunks = (text: string): string =>
  text.startsWith('*** Begin Patch') ? (text.match(/^\*\*\* .*$/gm) ?? []).join('\n') : text

/** A text without passages that are never stored. */
export function cleanText(text: string): string {
  const open = withoutHunks(without(without(text, PRIVATE), RECALLED))
  return firstCodePoints(redact(open).replace(UNSTORABLE, '\ufffd'), LONGEST)
}

/** Command output keeps its start and end, because errors are often at the end. */
function cleanOutput(text: string): string {
  const clean = redact(without(without(text, PRIVATE), RECALLED)).replace(UNSTORABLE, '\ufffd')
  return clean.length <= LONGEST ? clean : `${firstCodePoints(clean, LONGEST / 2)}\n${clean.slice(-LONGEST / 2)}`
}

const OUTPUTS = /^(?:tool_response|tool_output|tool_result|toolResult|output|stdout|stderr|error)$/

function clean(value: unknown, name: string, depth: number): unknown {
  if (typeof value === 'string') return OUTPUTS.test(name) ? cleanOutput(value) : cleanText(value)
  if (Array.isArray(value))
    return depth === 0 ? [] : value.slice(0, MOST_ITEMS).map((item) => clean(item, name, depth - 1))
  return isFields(value) ? (depth === 0 ? {} : cleanFields(value, depth - 1)) : value
}

const cleanFields = (fields: Fields, depth: number): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, clean(value, name, depth)]))

/** A client event without text that is never stored. */
export const cleanEvent = (event: Fields): Fields => cleanFields(event, DEEPEST)
