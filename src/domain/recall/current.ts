import { extensionOf, languageOf, normalizeLanguage } from '../code/languages'
import type { Millis } from '../time'
import type { Memory } from './memory'
import { typeOfKind } from './memory'
import { filesOf, namesWork, type WorkContext } from './moment'
import { folderOf, isSameFile } from './paths'
import { NO_LANGUAGE } from './pattern'
import { weightFactor } from './similarity'

/** What stands before a coding agent at this moment (fabric contract §5): which memories, and in which order. */
export const MAX_SHOWN = { working: 10, relevant: 10, patterns: 5, suggestions: 5, ghostMessages: 5 } as const

/** Where memories come from: the newest, those of the open file, and those nearest to what is being done by words and by meaning. */
export const CANDIDATES = { newest: 200, ofFile: 50, nearest: 50, patterns: 200 } as const
/** Similarity from which what is at home in another project is shown, in the language of the moment (fabric contract §2.6). */
const LEAST_AWAY = 0.7
/** Working memories whose contents belong to it. */
export const CONTEXT_WORKING = 3

/** A memory with regard to a moment: what its place follows from. */
export interface MemoryInContext extends Pick<Memory, 'id' | 'layer' | 'kind' | 'weight' | 'updatedAt'> {
  /** Of an error that is counted, the last time; milliseconds since 1970. */
  readonly lastSeen: number | null
  /** The files that its metadata name. */
  readonly paths: readonly string[]
  /** As it names its language itself; null where it does not. */
  readonly language: string | null
  /** Stored by this session. */
  readonly isOwn: boolean
  /** What an agent reported, as against what somebody wrote down. */
  readonly isCaptured: boolean
  /** The last access, else the creation; milliseconds since 1970. */
  readonly usedAt: Millis
  /** At home in another project. */
  readonly isAway: boolean
  /** Where it may name a file or the command of the moment, its beginning; else empty. */
  readonly naming: string
}

const SHARES = { file: 0.6, named: 0.4, place: 0.2, session: 0.2, fresh: 0.2 } as const
/** Of what was captured. */
const CAPTURED = 0.5
/** Days after which freshness counts a third. */
const FADING_DAYS = 14
export const DAY = 86_400_000

const known = (language: string): string | null => (language === NO_LANGUAGE ? null : language)

/** The language that a memory is in: as it says itself, else as its file tells. */
const languageOfOne = ({ language, paths }: Pick<MemoryInContext, 'language' | 'paths'>): string | null =>
  language === null ? known(languageOf(paths[0] ?? '')) : known(normalizeLanguage(language))

/** The language of the moment: the one that is named, else that of the open file. */
const languageNow = ({ language, currentFile }: WorkContext): string | null =>
  known(language === null ? languageOf(currentFile ?? '') : normalizeLanguage(language))

const sharesFolder = (a: string, b: string): boolean => {
  const [one, other] = [folderOf(a), folderOf(b)]
  return one === other || (one !== '' && other !== '' && isSameFile(one, other))
}

const sharesEnding = (a: string, b: string): boolean => extensionOf(a) !== '' && extensionOf(a) === extensionOf(b)

/** How near a memory stands to the open file: 1 in its folder, half as much by its ending or language. */
function placeOf(one: MemoryInContext, moment: WorkContext): number {
  const near = moment.currentFile ?? moment.filePath
  if (near === null) return 0
  if (one.paths.some((path) => sharesFolder(path, near))) return 1
  const language = known(languageOf(near))
  const isAlike = one.paths.some((path) => sharesEnding(path, near))
  return isAlike || (language !== null && languageOfOne(one) === language) ? 0.5 : 0
}

/** @param similarity to the text that stands for the moment; 0 without one */
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

/** Whether language and file of the moment let a pattern pass. */
function passes(one: MemoryInContext, { language, filePath }: WorkContext): boolean {
  if (language !== null && normalizeLanguage(one.language ?? NO_LANGUAGE) !== normalizeLanguage(language)) return false
  return (
    filePath === null ||
    one.paths.some((path) => isSameFile(path, filePath) || sharesFolder(path, filePath) || sharesEnding(path, filePath))
  )
}

/** Whether what is at home elsewhere fits here. */
const fits = (one: MemoryInContext, similarity: number, moment: WorkContext): boolean => {
  const language = languageNow(moment)
  return !one.isAway || (language !== null && languageOfOne(one) === language && similarity >= LEAST_AWAY)
}

/** A candidate, and how similar it is to the text that stands for the moment. */
export interface Candidate {
  readonly one: MemoryInContext
  readonly similarity: number
}

/** What is shown, best first, and all errors and fixes there are. */
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
