// Compares a citation with the text of a file. The hook program bundles this file, so it imports only the types of citations.
import type { Citation } from './citation'

/** Hashes a text: hexadecimal SHA-256. Synchronous, because a search for a moved passage hashes thousands of texts. */
export type Sha256 = (text: string) => string

/** The state of a citation in one file. `moved` has the new lines. */
export type Comparison =
  | { readonly state: 'unchanged' }
  | { readonly state: 'moved'; readonly lines: string }
  | { readonly state: 'changed' }

/** Hashes that one comparison may compute; a search beyond them reports the passage as changed. */
const MAX_HASHES = 60_000

/**
 * Divides a text into lines without white space: differences of indentation, line ends and blanks do not count.
 *
 * Letters of a text are compared exactly, so a renamed word is a change.
 */
export const bareLines = (text: string): string[] =>
  text
    .replace(/\r?\n$/, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.replace(/\s+/g, ''))

const bounds = (lines: string): readonly [number, number] => {
  const [from = '', to = from] = lines.split('-')
  return [Number(from), Number(to)]
}

const rangeOf = (from: number, to: number): string => (from === to ? `${from}` : `${from}-${to}`)

/** The hash of cited lines; null if the file does not have them or they are blank. */
export function hashOf(lines: string, bare: readonly string[], sha256: Sha256): string | null {
  const [from, to] = bounds(lines)
  const text = bare.slice(from - 1, to).join('')
  return to > bare.length || text === '' ? null : sha256(text)
}

/** The lines of a range without blank ones at its ends. */
function filledRange(bare: readonly string[], from: number, end: number): string {
  let [first, last] = [from, end - 1]
  while (bare[first] === '') first++
  while (bare[last] === '') last--
  return rangeOf(first + 1, last + 1)
}

/** Indexes of lines, the closest to `at` first. */
function* byDistance(at: number, end: number): Generator<number> {
  for (let away = 0; away < Math.max(at, end - at) + 1; away++) {
    if (at - away >= 0 && at - away < end) yield at - away
    if (away > 0 && at + away >= 0 && at + away < end) yield at + away
  }
}

/**
 * Finds the passage of a hash in a file: the occurrence that is closest to the cited lines.
 *
 * First as the same number of lines, then as another number, because formatting adds and removes line breaks.
 *
 * @returns its lines; null if the file does not contain it
 */
export function findPassage(
  { lines, hash }: Pick<Citation, 'lines'> & { readonly hash: string },
  bare: readonly string[],
  sha256: Sha256,
): string | null {
  const [from, to] = bounds(lines)
  const size = to - from + 1
  const known = new Set<string>()
  let left = MAX_HASHES
  const isIt = (text: string): boolean => {
    if (text === '' || known.has(text)) return false
    known.add(text)
    left--
    return sha256(text) === hash
  }
  for (const at of byDistance(from - 1, bare.length - size + 1)) {
    if (left <= 0) return null
    if (isIt(bare.slice(at, at + size).join(''))) return filledRange(bare, at, at + size)
  }
  const filled = bare.flatMap((line, i) => (line === '' ? [] : [i]))
  const start = filled.findIndex((i) => i >= from - 1)
  for (const at of byDistance(start < 0 ? filled.length - 1 : start, filled.length)) {
    let text = ''
    for (let end = at; end < Math.min(filled.length, at + 2 * size); end++) {
      if (left <= 0) return null
      text += bare[filled[end] as number]
      if (isIt(text)) return rangeOf((filled[at] as number) + 1, (filled[end] as number) + 1)
    }
  }
  return null
}

/**
 * Compares a citation with a file.
 *
 * @param bare the lines of the file, from `bareLines`
 * @example
 * compareCitation({ lines: '2', hash: sha256('b') }, bareLines('a\nx\nb\n'), sha256) // { state: 'moved', lines: '3' }
 */
export function compareCitation(
  citation: Pick<Citation, 'lines'> & { readonly hash: string },
  bare: readonly string[],
  sha256: Sha256,
): Comparison {
  if (hashOf(citation.lines, bare, sha256) === citation.hash) return { state: 'unchanged' }
  const lines = findPassage(citation, bare, sha256)
  return lines === null ? { state: 'changed' } : { state: 'moved', lines }
}
