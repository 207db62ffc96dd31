import { baseName, isSameFile, normalPath } from '../recall/file-paths'
import { withoutTrailing } from '../text'
import type { Millis } from '../time'
import { form } from './decisions'
import { type At, idsNamedIn, type SessionState } from './session-state'

/**
 * Detects whether memories were useful to a session (capture contract §6). People see the usage; it does not affect
 * ranking.
 */

/** Maximum number of sessions of one read, the newest. */
export const MOST_SESSIONS = 10_000

/** How a session used a memory, as bits of a number. */
export const USE = { shown: 1, opened: 2, touched: 4, quoted: 8, contradicted: 16 } as const
/** A memory counts as used if it was opened or quoted, or if its files changed afterwards. */
export const USED = USE.opened | USE.touched | USE.quoted

/** A memory for comparison: the start of its text, and files in its metadata. */
export interface ComparedMemory {
  readonly id: number
  readonly title: string | null
  readonly text: string
  readonly files: readonly string[]
}

/** A memory and bits of `USE`. */
export type MemoryUse = readonly [id: number, bits: number]

/** Number of memories that a session was shown, and used. */
export interface UseCounts {
  readonly shown: number
  readonly used: number
}

/** Minimum length of a common word sequence that counts as a quotation; characters for scripts without spaces. */
const QUOTED = { words: 6, characters: 12 } as const
/** Minimum number and fraction of the words of a title that a correction must contain. */
const NAMES_TITLE = { least: 2, part: 0.5 } as const
/** Common file names, which do not identify a file without a folder. */
const COMMON_NAMES =
  /^(?:index|main|readme|package|package-lock|tsconfig|changelog|license|makefile|dockerfile|mod|lib)\b/i

const TOKEN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+/gu
const IDEOGRAPH = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u
const PATH = /[\w@./-]+/g
/** Maximum length of a file extension. */
const LONGEST_ENDING = 8

const CORRECTS = form(
  'iu',
  '\\b(?:no longer|not any ?more|any longer|outdated|obsolete|wrong|incorrect|not true|untrue|has changed|stale)\\b|',
  '\\b(?:falsch|veraltet|nicht mehr|stimmt nicht|hat sich geändert)|',
  '\\b(?:obsolète|périmé|incorrect|faux)|\\b(?:obsoleto|desactualizad|incorrecto|equivocad|ya no)|',
  'überholt|古い|間違|違います|ではなくなった|不再|过时|過時|错误|不对',
)

const tokensOf = (text: string): string[] => text.toLowerCase().match(TOKEN) ?? []

/** Word sequences that are long enough for a quotation. */
function runsOf(text: string): Set<string> {
  const tokens = tokensOf(text)
  const runs = tokens.map((token, i) => tokens.slice(i, i + (IDEOGRAPH.test(token) ? QUOTED.characters : QUOTED.words)))
  const isLong = (run: readonly string[]): boolean =>
    run.length >= (IDEOGRAPH.test(run[0] ?? '') ? QUOTED.characters : QUOTED.words)
  return new Set(runs.filter(isLong).map((run) => run.join(' ')))
}

/** A path or file name with an extension; null for another word. */
function fileIn(word: string): string | null {
  const path = withoutTrailing(word, '.-/')
  const dot = path.lastIndexOf('.')
  const ending = path.slice(dot + 1)
  const isEnding = ending.length <= LONGEST_ENDING && /^[A-Za-z]\w*$/.test(ending)
  return dot > 0 && isEnding ? path : null
}

/** Paths that a memory mentions, without common file names. */
function filesOf({ title, text, files }: ComparedMemory, project: string | null): string[] {
  const words = `${title ?? ''}\n${text}`.match(PATH) ?? []
  const named = [...files, ...words.flatMap((word) => fileIn(word) ?? [])].map((path) => normalPath(path, project))
  return [...new Set(named)].filter((path) => path.includes('/') || !COMMON_NAMES.test(baseName(path)))
}

/** Whether a changed file is the one that a memory mentions, possibly by its last folders only. */
const isFile = (changed: string, named: string): boolean =>
  isSameFile(changed, named) || changed.endsWith(`/${named}`) || named.endsWith(`/${changed}`)

/** Whether a prompt corrects a memory: it contains a word of correction, and the ID or words of the memory's title. */
function corrects(prompt: string, { id, title }: ComparedMemory): boolean {
  if (!CORRECTS.test(prompt)) return false
  if (idsNamedIn(prompt).includes(id)) return true
  const words = new Set(tokensOf(title ?? '').filter((word) => word.length > 3 || IDEOGRAPH.test(word)))
  const said = new Set(tokensOf(prompt))
  const shared = [...words].filter((word) => said.has(word)).length
  return shared >= NAMES_TITLE.least && shared / words.size >= NAMES_TITLE.part
}

/**
 * Detects how a session used the memories that it was shown or opened. The result depends on the session state only.
 * @param memories memories of `shown` and `opened` that still exist
 */
export function memoryUse(gathered: SessionState, memories: readonly ComparedMemory[]): readonly MemoryUse[] {
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
      // A quotation of the person's own words does not count.
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

/** The usage of memories by several sessions, summed up for people. */

/** The usage of memories by one session. */
export interface SessionUse {
  /** `<client>:<id>` */
  readonly session: string
  readonly at: Millis
  readonly memories: readonly MemoryUse[]
}

/** Number of sessions that were shown, used and contradicted a memory, and the client that used it last. */
export interface UseOfMemory {
  readonly shown: number
  readonly used: number
  readonly contradicted: number
  readonly last: { readonly client: string; readonly at: Millis } | null
}

/** A memory in a list. */
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

/** The usage of each memory in these sessions. */
export function usesOf(sessions: readonly SessionUse[]): ReadonlyMap<number, UseOfMemory> {
  const uses = new Map<number, UseOfMemory>()
  for (const session of sessions)
    for (const [id, bits] of session.memories) uses.set(id, withUse(uses.get(id) ?? NEVER, bits, session))
  return uses
}

export const useOf = (id: number, sessions: readonly SessionUse[]): UseOfMemory => usesOf(sessions).get(id) ?? NEVER
