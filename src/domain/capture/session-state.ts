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
import { isFields, textOf } from './fields'
import type { Fields, Happening, ToolUse } from './hook-event'

/** Where an event happened (capture contract §3). */
export interface Place {
  /** Null where neither a file, nor a remote, nor a folder names one. */
  readonly project: string | null
  /** Every name of the place; absent once its project is known. */
  readonly named?: NamedPlace
  readonly branch: string | null
  readonly audience: 'private' | 'project'
  /** Whether anything of it is kept. */
  readonly captures: boolean
}

/** As of every project's key (platform contract §1). */
const MOST_PROJECT = 240
const MOST_BRANCH = 200

function named(project: string | null): string | null {
  if (project === null || unstorable(project) !== null) return null
  const key = normalizeProject(redact(project))
  return key === null ? null : firstCodePoints(key, MOST_PROJECT)
}

/** An absolute folder that may be a name of a project; null for home, the root, and what holds a secret. */
function absolute(folder: string | null): string | null {
  const name = folder === null ? null : named(folder)
  const read = name === null || name !== normalizeProject(folder ?? '') ? null : readProjectName(name)
  return read?.kind === 'folder' && read.segment !== '' ? name : null
}

/** @param place as it was sent; what is wrong in it counts as not there */
export function readPlace(place: Fields): Place {
  const [given, folder, branch] = [textOf(place, 'remote'), textOf(place, 'folder'), textOf(place, 'branch')]
  const called = named(textOf(place, 'project'))
  const remote = named(given === null ? null : remoteOf(given))
  const last = named(folder === null ? null : folderName(folder))
  const path = absolute(folder)
  return {
    project: called ?? remote ?? last,
    // A folder that is not absolute is a name by its last part alone.
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
 * What is gathered of a session. Events may arrive in any order, and late: `at` orders them, so that the same events gather to the same
 * whatever the order in which they come.
 */
export interface Gathered {
  readonly place: Omit<Place, 'captures'> & { readonly at: number }
  /** How many there were; of those that say something or agree to a proposal, the first and the last by time. */
  readonly prompts: { readonly count: number; readonly told: readonly At[] }
  readonly files: readonly Touched[]
  readonly commands: readonly CommandRuns[]
  /** Sentences in which the person decides something. */
  readonly decisions: readonly At[]
  /** Measurements, and what did not help. */
  readonly findings: readonly At[]
  /** Of answers, the first and the last by time. */
  readonly answers: { readonly count: number; readonly told: readonly Answer[] }
  /** Ids of entries that were recalled in it, and how many characters prompts have brought. */
  readonly recalled: { readonly ids: readonly number[]; readonly chars: number }
  readonly memories: GatheredMemories
}

/** Events of the session that concern memories. Each list retains its first items by id or time. */
export interface GatheredMemories {
  /** Memories that hooks showed, and when they first did: milliseconds since 1970. */
  readonly shown: readonly { readonly id: number; readonly at: number }[]
  /** Ids that the session opened, named in an answer, and replaced or corrected. */
  readonly opened: readonly number[]
  readonly named: readonly number[]
  readonly corrected: readonly number[]
}

const NO_MEMORIES: GatheredMemories = { shown: [], opened: [], named: [], corrected: [] }
/** Ids of each list of memories. */
const MOST_MEMORIES = 60
/** An id in an answer: `[12]`, `memory 12`, `entry #12`. */
const NAMED = /\[(\d{1,15})\]|\b(?:memory|memories|entry|id) #?(\d{1,15})\b/gi

/** Something said or touched, and when: milliseconds since 1970. */
export interface At {
  readonly at: number
  readonly text: string
}

/** A file, when it was first changed, and when last. */
export interface Touched extends At {
  readonly last: number
}

/** The text of an answer, and the proposal at its end. */
export interface Answer extends At {
  readonly proposal?: string
}

/** One command: when it first failed, and when it last passed; both null where no client said how it went. */
export interface CommandRuns {
  readonly command: string
  readonly failedAt: Millis | null
  readonly passedAt: Millis | null
}

/** Prompts and answers that a session keeps, the first and the last by time. */
const FIRST = 12
const LAST = 28
/** Characters of all answers of a session, of which each gets an equal part, and the least that one gets. */
const ANSWERS = 16_000
const SHORTEST_ANSWER = 400
const LONGEST_ANSWER = 4_000
const COMMAND = 300
const PATH = 300
/** What a session keeps of each, the first by time. */
const MOST_FILES = 60
const MOST_COMMANDS = 60
const MOST_DECISIONS = 12

/** A session of which nothing is known but where it is. */
export const beginning = (place: Place, at: number): Gathered => ({
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

/** The files with their first and last change, each once and the earliest first. */
function touched(list: readonly Touched[], paths: readonly string[], at: number): readonly Touched[] {
  const found = new Map(list.map((file) => [file.text, file]))
  for (const text of paths) {
    const known = found.get(text)
    found.set(text, { text, at: Math.min(known?.at ?? at, at), last: Math.max(known?.last ?? at, at) })
  }
  return [...found.values()].sort(byTime).slice(0, MOST_FILES)
}

/** The first and the last by time: whatever arrives later, none of the others comes back. */
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
  // What only ever passed tells nothing, so it goes first.
  const rank = ({ failedAt, passedAt }: CommandRuns): number =>
    (failedAt === null ? 0 : 2) * 1e15 + (failedAt ?? passedAt ?? 0)
  return [...runs.filter((run) => run.command !== name), next]
    .sort((a, b) => rank(b) - rank(a) || compareText(a.command, b.command))
    .slice(0, MOST_COMMANDS)
}

/** Adds sentences of a text. A repeated sentence counts at its last time, in whichever order the events arrive. */
function withSentences(list: readonly At[], sentences: readonly string[], at: number): readonly At[] {
  // One after the other, within the millisecond.
  const added = sentences.map((text, i) => ({ text, at: at + i / 20 }))
  const all = new Map([...list, ...added].sort((a, b) => a.at - b.at).map((one) => [one.text, one]))
  return [...all.values()].sort((a, b) => b.at - a.at || compareText(a.text, b.text)).slice(0, MOST_DECISIONS)
}

function withAnswer({ count, told }: Gathered['answers'], text: string, at: number): Gathered['answers'] {
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

/** Ids that a text names: `[12]`, `memory 12`. */
export const idsNamedIn = (answer: string): number[] =>
  [...answer.matchAll(NAMED)].map(([, inBrackets, inWords]) => Number(inBrackets ?? inWords))

/** Adds memories that were shown at that time. */
export function withShown(gathered: Gathered, ids: readonly number[], at: number): Gathered {
  const known = new Map(gathered.memories.shown.map((one) => [one.id, one.at]))
  for (const id of ids) known.set(id, Math.min(at, known.get(id) ?? at))
  const shown = [...known].map(([id, first]) => ({ id, at: first })).sort((a, b) => a.at - b.at || a.id - b.id)
  return { ...gathered, memories: { ...gathered.memories, shown: shown.slice(0, MOST_MEMORIES) } }
}

/** The state of a session that an earlier version gathered, with its last answer alone. */
interface Earlier {
  readonly prompts: { readonly count: number; readonly first?: readonly At[] }
  readonly decisions: readonly (At & { readonly who?: string })[]
  readonly answer?: At | null
}

/** A state as it is stored, in today's form. */
export function currentForm(
  state: Gathered | (Omit<Gathered, 'prompts' | 'answers' | 'decisions' | 'findings'> & Earlier),
): Gathered {
  if ('answers' in state) return 'memories' in state ? state : { ...(state as Gathered), memories: NO_MEMORIES }
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

/** Whether a command failed and later passed. */
export const wasMended = ({ failedAt, passedAt }: CommandRuns): boolean =>
  failedAt !== null && passedAt !== null && passedAt > failedAt

/** Whether a command failed and has not passed since. */
export const isOpen = ({ failedAt, passedAt }: CommandRuns): boolean =>
  failedAt !== null && (passedAt === null || passedAt < failedAt)

/** Words of a folder that opens them to nobody, or to another project, open to nobody what they stand in. */
const audienceOf = (one: Gathered['place'], other: Place): Place['audience'] =>
  one.project === other.project && one.audience === other.audience ? one.audience : 'private'

/** @param at when it happened, milliseconds since 1970 */
export function gather(gathered: Gathered, { what, isSubagent }: Happening, place: Place, at: number): Gathered {
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
 * Takes out of an event what is never kept (capture contract §2, §4): what a person marked private, what was recalled, and secrets. The
 * program on the client's side has done so before; whoever sends events without it is no less safe.
 */

/** What recalled text stands between. */
export const MEMORY_TAG = 'commonplace-memory'
/** Of each text of an event. */
const LONGEST = 4_000
/** Objects in objects, and items of a list, that are looked at; what lies beyond is left out. */
const DEEPEST = 8
const MOST_ITEMS = 1_000

/** The beginnings and ends of what is taken out, with attributes or without; there may be many, and each is looked at once. */
const PRIVATE = /<(\/?)private(?:\s[^<>]{0,100})?>/gi
const RECALLED = /<(\/?)commonplace-memory(?:\s[^<>]{0,100})?>/gi

/** The text without what stands between such marks, also where they stand in each other; what does not end goes to the end of the text. */
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

/** Of a patch, the lines that name its files: contents and differences of files are never kept. */
const withoutHunks = (text: string): string =>
  text.startsWith('*** Begin Patch') ? (text.match(/^\*\*\* .*$/gm) ?? []).join('\n') : text

/** A text without what is never kept. */
export function cleanText(text: string): string {
  const open = withoutHunks(without(without(text, PRIVATE), RECALLED))
  return firstCodePoints(redact(open).replace(UNSTORABLE, '\ufffd'), LONGEST)
}

/** Ends are kept too: commands say there how they ended. */
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

/** An event of a client without what is never kept. */
export const cleanEvent = (event: Fields): Fields => cleanFields(event, DEEPEST)
