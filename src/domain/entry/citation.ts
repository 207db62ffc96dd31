/**
 * The places in files that a memory is about: the metadata key `sources`.
 *
 * A citation names lines of a file of the repository, and a hash of their text. `commonplace check` and the hooks compare
 * it with the working tree. Elements of other shapes are ordinary metadata: they are stored and never compared.
 */

import { type JsonObject, type JsonValue, type Metadata, own } from './metadata'

export interface Citation {
  /** From the root of the repository, with forward slashes. */
  readonly path: string
  /** The first and last line, from 1: "12-20", or "12" for one line. */
  readonly lines: string
  /** Hexadecimal SHA-256 of the lines without white space. The first check sets it. */
  readonly hash?: string | undefined
  /** The text next to the lines, to tell equal passages of a file apart (`aroundOf`). Set with the hash. */
  readonly around?: string | undefined
  /** The commit whose lines are cited. */
  readonly commit?: string | undefined
  /** The date on which a check found that the text changed, such as "2026-11-28"; absent while it is unchanged. */
  readonly changed_at?: string | undefined
}

/** Citations of a memory that are read. */
export const MAX_CITATIONS = 20
const MAX_CITED_LINES = 200
const MAX_PATH = 500

/** Reads "12-20" or "12"; null for other texts and for more than 200 lines. */
export function readLines(lines: string): { readonly from: number; readonly to: number } | null {
  const found = /^([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?$/.exec(lines)
  if (found === null) return null
  const from = Number(found[1])
  const to = Number(found[2] ?? from)
  return to < from || to - from >= MAX_CITED_LINES ? null : { from, to }
}

/** Writes a range of lines as `readLines` reads it. */
export const linesText = (from: number, to: number): string => (from === to ? `${from}` : `${from}-${to}`)

const isControl = (char: string): boolean => char < ' ' || char === '\u007f'

/** Whether a path is relative to the root of a repository, has forward slashes, and does not leave it. */
export const isCitedPath = (path: string): boolean =>
  path !== '' &&
  path.length <= MAX_PATH &&
  !path.includes('\\') &&
  !/^(?:\/|[A-Za-z]:)/.test(path) &&
  ![...path].some(isControl) &&
  path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')

const HASH = /^[0-9a-f]{64}$/
const COMMIT = /^[0-9a-f]{7,64}$/
const AROUND = /^[0-9a-f]{8}:[0-9a-f]{8}:\d{1,6}$/
const DATE = /^\d{4}-\d{2}-\d{2}$/

const matching = (value: JsonValue | undefined, form: RegExp): string | undefined =>
  typeof value === 'string' && form.test(value) ? value : undefined

/** Reads one element of `sources`, a citation or a place such as "src/a.ts:12-20"; null for anything else. */
export function readCitation(given: unknown): Citation | null {
  if (typeof given === 'string') return readPlace(given)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null
  const value = given as JsonObject
  const [path, lines] = [own(value, 'path'), own(value, 'lines')]
  if (typeof path !== 'string' || typeof lines !== 'string' || !isCitedPath(path) || readLines(lines) === null)
    return null
  const hash = matching(own(value, 'hash'), HASH)
  const around = matching(own(value, 'around'), AROUND)
  const commit = matching(own(value, 'commit'), COMMIT)
  const changedAt = matching(own(value, 'changed_at'), DATE)
  return {
    ...{ path, lines },
    ...(hash === undefined ? {} : { hash }),
    ...(around === undefined ? {} : { around }),
    ...(commit === undefined ? {} : { commit }),
    ...(changedAt === undefined ? {} : { changed_at: changedAt }),
  }
}

/** The citations of a memory, at most 20. */
export function citationsOf(metadata: Metadata | null): Citation[] {
  const sources = own(metadata, 'sources')
  if (!Array.isArray(sources)) return []
  return sources
    .slice(0, MAX_CITATIONS)
    .map(readCitation)
    .filter((one) => one !== null)
}

/** The place of a citation as people write it: "src/a.ts:12-20". */
export const placeOf = ({ path, lines }: Pick<Citation, 'path' | 'lines'>): string => `${path}:${lines}`

/** Reads "src/a.ts:12-20" or "src/a.ts:12-20@3f2c9a1"; null for other texts. */
function readPlace(place: string): Citation | null {
  const text = place.trim()
  const colon = text.lastIndexOf(':')
  const [lines = '', commit] = text.slice(colon + 1).split('@')
  const path = text.slice(0, Math.max(0, colon)).replace(/^\.\//, '')
  const citation = readCitation({ path, lines, ...(commit === undefined ? {} : { commit }) })
  return citation?.commit === commit ? citation : null
}

/** The date on which the first of its sources changed; null while all are unchanged. */
const sourceChangedAt = (metadata: Metadata | null): string | null =>
  citationsOf(metadata)
    .flatMap(({ changed_at: at }) => at ?? [])
    .sort()[0] ?? null

/** The note about a changed source that readers of a memory get; null while all are unchanged. */
export function sourceNote(metadata: Metadata | null): string | null {
  const at = sourceChangedAt(metadata)
  return at === null ? null : `its source changed on ${at}`
}

/** Whether a citation has members of the known forms alone, so that nothing else is stored with it. */
const isPlain = (value: JsonValue): boolean => {
  if (typeof value === 'string') return false
  const citation = readCitation(value)
  return citation !== null && Object.keys(value as JsonObject).every((key) => Object.hasOwn(citation, key))
}

/**
 * Whether a patch changes only where the sources of a memory are and whether they changed, as `commonplace check` does.
 *
 * Such a patch keeps the approval of a person. A new path has no white space, so that it cannot address an agent.
 */
export function isReanchoring(before: Metadata | null, patch: JsonObject): boolean {
  const [was, next] = [own(before, 'sources'), own(patch, 'sources')]
  if (Object.keys(patch).length !== 1 || !Array.isArray(was) || !Array.isArray(next)) return false
  return (
    was.length === next.length &&
    next.every((value, i) => {
      const old = was[i] as JsonValue
      if (!isPlain(value)) return JSON.stringify(value) === JSON.stringify(old)
      const [from, to] = [readCitation(old), readCitation(value) as Citation]
      return from !== null && from.commit === to.commit && (from.path === to.path || !/\s/.test(to.path))
    })
  )
}
