import { extensionOf, languageOf, normalizeLanguage } from '../code/languages'
import type { Millis } from '../time'
import { NO_LANGUAGE } from './code-pattern'
import { folderOf, isSameFile } from './file-paths'
import { type Memory, typeOfKind } from './memory'
import { weightFactor } from './similarity'
import { filesOf, namesWork, type WorkContext } from './work-context'

/** Ranks memories for the current work of a coding agent (fabric contract §5). */
export const MAX_SHOWN = { working: 10, relevant: 10, patterns: 5, suggestions: 5, ghostMessages: 5 } as const

/** Candidates by source: the newest, those of the open file, and the most similar by words and by meaning. */
export const CANDIDATES = { newest: 200, ofFile: 50, nearest: 50, patterns: 200 } as const
/**
 * Minimum similarity of a memory from another project, which must also match the current language (fabric contract
 * §2.6).
 */
const LEAST_AWAY = 0.7
/** Number of working memories that are part of the text for comparison. */
export const CONTEXT_WORKING = 3

/** A memory with the features that its rank is computed from. */
export interface MemoryInContext extends Pick<Memory, 'id' | 'layer' | 'kind' | 'weight' | 'updatedAt'> {
  /** Time of the last report of a counted error; milliseconds since 1970. */
  readonly lastSeen: number | null
  /** Files in its metadata. */
  readonly paths: readonly string[]
  /** Language in its metadata; null without one. */
  readonly language: string | null
  /** Whether this session stored it. */
  readonly isOwn: boolean
  /** Whether it was captured from an agent's events and not written down on purpose. */
  readonly isCaptured: boolean
  /** Time of the last access, else of creation; milliseconds since 1970. */
  readonly usedAt: Millis
  /** Whether it belongs to another project. */
  readonly isAway: boolean
  /** The start of its text where it may mention a file or the command; else empty. */
  readonly naming: string
}

const SHARES = { file: 0.6, named: 0.4, place: 0.2, session: 0.2, fresh: 0.2 } as const
/** Factor for captured memories. */
const CAPTURED = 0.5
/** Days after which freshness decays to 1/e. */
const FADING_DAYS = 14
export const DAY = 86_400_000

const known = (language: string): string | null => (language === NO_LANGUAGE ? null : language)

/** The language of a memory: from its metadata, else from its file. */
const languageOfOne = ({ language, paths }: Pick<MemoryInContext, 'language' | 'paths'>): string | null =>
  language === null ? known(languageOf(paths[0] ?? '')) : known(normalizeLanguage(language))

/** The current language: the requested one, else that of the open file. */
const languageNow = ({ language, currentFile }: WorkContext): string | null =>
  known(language === null ? languageOf(currentFile ?? '') : normalizeLanguage(language))

const sharesFolder = (a: string, b: string): boolean => {
  const [one, other] = [folderOf(a), folderOf(b)]
  return one === other || (one !== '' && other !== '' && isSameFile(one, other))
}

const sharesEnding = (a: string, b: string): boolean => extensionOf(a) !== '' && extensionOf(a) === extensionOf(b)

/** Proximity of a memory to the open file: 1 in the same folder, 0.5 with the same extension or language. */
function placeOf(one: MemoryInContext, moment: WorkContext): number {
  const near = moment.currentFile ?? moment.filePath
  if (near === null) return 0
  if (one.paths.some((path) => sharesFolder(path, near))) return 1
  const language = known(languageOf(near))
  const isAlike = one.paths.some((path) => sharesEnding(path, near))
  return isAlike || (language !== null && languageOfOne(one) === language) ? 0.5 : 0
}

/** @param similarity similarity to the text of the current work; 0 without a text */
function scoreNow(one: MemoryInContext, similarity: number, moment: WorkContext, now: Millis): number {
  const share = (holds: boolean, weight: number): number => (holds ? weight : 0)
  const days = Math.max(0, now - Math.max(one.updatedAt, one.lastSeen ?? 0)) / DAY
  const isOfFile = one.paths.some((path) => filesOf(moment).some((file) => isSameFile(path, file)))
  const sum =
    similarity +
    share(isOfFile, SHARES.file) +
    share(namesWork(one.naming, moment), SHARES.named) +
    SHARES.place * placeOf(one, moment) +
    share(one.isOwn, SHARES.session) +
    SHARES.fresh * Math.exp(-days / FADING_DAYS)
  return sum * weightFactor(one.weight) * (one.isCaptured ? CAPTURED : 1)
}

const PATTERN_TYPES: readonly string[] = ['code_pattern', 'convention']

const isPattern = ({ kind, layer }: Pick<Memory, 'kind' | 'layer'>): boolean =>
  layer > 1 && PATTERN_TYPES.includes(typeOfKind(kind))

/** Whether a pattern matches the requested language and file. */
function passes(one: MemoryInContext, { language, filePath }: WorkContext): boolean {
  if (language !== null && normalizeLanguage(one.language ?? NO_LANGUAGE) !== normalizeLanguage(language)) return false
  return (
    filePath === null ||
    one.paths.some((path) => isSameFile(path, filePath) || sharesFolder(path, filePath) || sharesEnding(path, filePath))
  )
}

/** Whether a memory of another project fits the current work. */
const fits = (one: MemoryInContext, similarity: number, moment: WorkContext): boolean => {
  const language = languageNow(moment)
  return !one.isAway || (language !== null && languageOfOne(one) === language && similarity >= LEAST_AWAY)
}

/** A candidate and its similarity to the text of the current work. */
export interface Candidate {
  readonly one: MemoryInContext
  readonly similarity: number
}

/** The selected memories, best first, and all errors and fixes. */
export interface Chosen {
  readonly working: readonly MemoryInContext[]
  readonly relevant: readonly MemoryInContext[]
  readonly patterns: readonly MemoryInContext[]
  readonly bugs: readonly MemoryInContext[]
}

export function choose(candidates: readonly Candidate[], moment: WorkContext, now: Millis): Chosen {
  const ranked = candidates
    .filter(({ one, similarity }) => fits(one, similarity, moment))
    .map(({ one, similarity }) => ({ one, score: scoreNow(one, similarity, moment, now) }))
    .sort((a, b) => b.score - a.score || b.one.id - a.one.id)
    .map(({ one }) => one)
  const working = ranked.filter(({ layer }) => layer === 1)
  const lasting = ranked.filter(({ layer }) => layer > 1)
  return {
    working: [...working.filter((one) => !one.isCaptured), ...working.filter((one) => one.isCaptured)].slice(
      0,
      MAX_SHOWN.working,
    ),
    relevant: lasting.filter((one) => !isPattern(one)).slice(0, MAX_SHOWN.relevant),
    patterns: lasting.filter((one) => isPattern(one) && passes(one, moment)).slice(0, MAX_SHOWN.patterns),
    bugs: lasting.filter(({ kind }) => typeOfKind(kind) === 'bug_fix'),
  }
}
