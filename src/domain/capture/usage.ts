import { baseName, isSameFile, normalPath } from '../recall/paths'
import { withoutTrailing } from '../text'
import type { Millis } from '../time'
import { form } from './decisions'
import { type At, type Gathered, idsNamedIn } from './session-state'

/** Whether memories were of use to a session, as its hooks show it (capture contract §6). Usage is shown to people; it ranks nothing. */

/** Ways in which a session deals with a memory, as bits of a number. */
export const USE = { shown: 1, opened: 2, touched: 4, quoted: 8, contradicted: 16 } as const
/** A memory was used that was opened, quoted, or whose files changed afterwards. */
export const USED = USE.opened | USE.touched | USE.quoted

/** A memory as far as it is compared: its first characters, and files that its metadata name. */
export interface ComparedMemory {
  readonly id: number
  readonly title: string | null
  readonly text: string
  readonly files: readonly string[]
}

/** A memory, and bits of `USE`. */
export type MemoryUse = readonly [id: number, bits: number]

/** How many memories a session was shown, and used. */
export interface UseCounts {
  readonly shown: number
  readonly used: number
}

/** Words in a row that an answer has in common with a memory: then it quotes it. Characters of scripts without spaces. */
const QUOTED = { words: 6, characters: 12 } as const
/** Words of a title that a correction names, at least, and the part of all of them. */
const NAMES_TITLE = { least: 2, part: 0.5 } as const
/** Names of files that every project has: such a name alone tells no file. */
const COMMON_NAMES =
  /^(?:index|main|readme|package|package-lock|tsconfig|changelog|license|makefile|dockerfile|mod|lib)\b/i

const TOKEN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+/gu
const IDEOGRAPH = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u
const PATH = /[\w@./-]+/g
/** Characters of the ending of a file's name. */
const LONGEST_ENDING = 8

const CORRECTS = form(
  'iu',
  '\\b(?:no longer|not any ?more|any longer|outdated|obsolete|wrong|incorrect|not true|untrue|has changed|stale)\\b|',
  '\\b(?:falsch|veraltet|nicht mehr|stimmt nicht|hat sich geändert)|',
  '\\b(?:obsolète|périmé|incorrect|faux)|\\b(?:obsoleto|desactualizad|incorrecto|equivocad|ya no)|',
  'überholt|古い|間違|違います|ではなくなった|不再|过时|過時|错误|不对',
)

const tokensOf = (text: string): string[] => text.toLowerCase().match(TOKEN) ?? []

/** Runs of words that are long enough to be a quotation. */
function runsOf(text: string): Set<string> {
  const tokens = tokensOf(text)
  const runs = tokens.map((token, i) => tokens.slice(i, i + (IDEOGRAPH.test(token) ? QUOTED.characters : QUOTED.words)))
  const isLong = (run: readonly string[]): boolean =>
    run.length >= (IDEOGRAPH.test(run[0] ?? '') ? QUOTED.characters : QUOTED.words)
  return new Set(runs.filter(isLong).map((run) => run.join(' ')))
}

/** A path, or the name of a file with an ending; null for another word. */
function fileIn(word: string): string | null {
  const path = withoutTrailing(word, '.-/')
  const dot = path.lastIndexOf('.')
  const ending = path.slice(dot + 1)
  const isEnding = ending.length <= LONGEST_ENDING && /^[A-Za-z]\w*$/.test(ending)
  return dot > 0 && isEnding ? path : null
}

/** Paths that a memory names, without names that every project has. */
function filesOf({ title, text, files }: ComparedMemory, project: string | null): string[] {
  const words = `${title ?? ''}\n${text}`.match(PATH) ?? []
  const named = [...files, ...words.flatMap((word) => fileIn(word) ?? [])].map((path) => normalPath(path, project))
  return [...new Set(named)].filter((path) => path.includes('/') || !COMMON_NAMES.test(baseName(path)))
}

/** Whether a changed file is the one that a memory names, which may name its last folders alone. */
const isFile = (changed: string, named: string): boolean =>
  isSameFile(changed, named) || changed.endsWith(`/${named}`) || named.endsWith(`/${changed}`)

/** Whether a prompt corrects a memory: it has a word of correction, and the id or words of the title of the memory. */
function corrects(prompt: string, { id, title }: ComparedMemory): boolean {
  if (!CORRECTS.test(prompt)) return false
  if (idsNamedIn(prompt).includes(id)) return true
  const words = new Set(tokensOf(title ?? '').filter((word) => word.length > 3 || IDEOGRAPH.test(word)))
  const said = new Set(tokensOf(prompt))
  const shared = [...words].filter((word) => said.has(word)).length
  return shared >= NAMES_TITLE.least && shared / words.size >= NAMES_TITLE.part
}

/**
 * Finds how a session dealt with the memories that it was shown or opened. The result depends on the gathered state alone.
 *
 * @param memories those of `shown` and `opened` that still exist
 */
export function memoryUse(gathered: Gathered, memories: readonly ComparedMemory[]): readonly MemoryUse[] {
  const { shown, opened, named, corrected } = gathered.memories
  const since = new Map(shown.map(({ id, at }) => [id, at]))
  const later = (list: readonly At[], id: number): string[] =>
    list.filter(({ at }) => at >= (since.get(id) ?? 0)).map(({ text }) => text)
  const prompts = runsOf(gathered.prompts.told.map(({ text }) => text).join('\n'))
  const answers = gathered.answers.told.map(({ at, text }) => ({ at, runs: runsOf(text) }))
  return memories
    .map((memory): MemoryUse => {
      const { id, title, text } = memory
      const from = since.get(id) ?? 0
      // A person's own words do not count as a quotation of a memory.
      const own = [...runsOf(`${title ?? ''}\n${text}`)].filter((run) => !prompts.has(run))
      const isQuoted =
        named.includes(id) || answers.some(({ at, runs }) => at >= from && own.some((run) => runs.has(run)))
      const files = filesOf(memory, gathered.place.project)
      const isTouched = gathered.files.some(
        ({ text: changed, last }) => last >= from && files.some((file) => isFile(changed, file)),
      )
      const isWrong =
        corrected.includes(id) || later(gathered.prompts.told, id).some((prompt) => corrects(prompt, memory))
      const bits =
        (since.has(id) ? USE.shown : 0) |
        (opened.includes(id) ? USE.opened : 0) |
        (isTouched ? USE.touched : 0) |
        (isQuoted ? USE.quoted : 0) |
        (isWrong ? USE.contradicted : 0)
      return [id, bits]
    })
    .sort(([a], [b]) => a - b)
}

export const countsOf = (use: readonly MemoryUse[]): UseCounts => ({
  shown: use.filter(([, bits]) => (bits & USE.shown) !== 0).length,
  used: use.filter(([, bits]) => (bits & USED) !== 0).length,
})

/** The use of memories by sessions, summed up for people. */

/** The use of memories by one session. */
export interface SessionUse {
  /** `<client>:<id>` */
  readonly session: string
  readonly at: Millis
  readonly memories: readonly MemoryUse[]
}

/** How many sessions were shown a memory, used it and contradicted it, and which client used it last. */
export interface UseOfMemory {
  readonly shown: number
  readonly used: number
  readonly contradicted: number
  readonly last: { readonly client: string; readonly at: Millis } | null
}

/** A memory as a list names it. */
export interface NamedMemory {
  readonly id: number
  readonly title: string | null
  readonly text: string
  readonly kind: string
  readonly version: number
  readonly project: string | null
  readonly createdAt: Millis
}

const NEVER: UseOfMemory = { shown: 0, used: 0, contradicted: 0, last: null }

const clientOf = (session: string): string => session.slice(0, Math.max(0, session.indexOf(':')))

function withUse(known: UseOfMemory, bits: number, { session, at }: SessionUse): UseOfMemory {
  const isUsed = (bits & USED) !== 0
  const isLast = isUsed && (known.last === null || known.last.at < at)
  return {
    shown: known.shown + (bits & USE.shown ? 1 : 0),
    used: known.used + (isUsed ? 1 : 0),
    contradicted: known.contradicted + (bits & USE.contradicted ? 1 : 0),
    last: isLast ? { client: clientOf(session), at } : known.last,
  }
}

/** The use of each memory in these sessions. */
export function usesOf(sessions: readonly SessionUse[]): ReadonlyMap<number, UseOfMemory> {
  const uses = new Map<number, UseOfMemory>()
  for (const session of sessions)
    for (const [id, bits] of session.memories) uses.set(id, withUse(uses.get(id) ?? NEVER, bits, session))
  return uses
}

export const useOf = (id: number, sessions: readonly SessionUse[]): UseOfMemory => usesOf(sessions).get(id) ?? NEVER
