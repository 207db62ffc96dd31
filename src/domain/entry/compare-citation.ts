// Compares a citation with the text of a file. The hook program bundles this file, so it imports only the types of citations.
import type { Citation } from './citation'

/** Hashes a text: hexadecimal SHA-256. Synchronous, because a search for a moved passage hashes thousands of texts. */
export type Sha256 = (text: string) => string

/** The state of a citation in one file. `moved` has the new lines. */
export type Comparison =
  | { readonly state: 'unchanged' }
  | { readonly state: 'moved'; readonly lines: string }
  | { readonly state: 'changed' }

/**
 * The work that searches for a moved passage may still do, in characters that are joined and hashed. A file that a stranger wrote may
 * hold a line of a megabyte, or a million empty ones. Beyond it the passage counts as changed, and `left` is not positive.
 */
export interface SearchBudget {
  left: number
}

/** A budget for one citation: about 0.2 seconds. */
export const searchBudget = (left = 40_000_000): SearchBudget => ({ left })

/** Characters that cost as much as the start of one hash. */
const HASH_START = 100

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

/** Characters of the lines next to a passage that identify it. */
const NEIGHBOR = 20

/** Short hashes of the text before and after a passage: the closest filled lines that together have 20 characters. */
function neighbors(lines: string, bare: readonly string[], sha256: Sha256): readonly [string, string] {
  const [from, to] = bounds(lines)
  let [before, after] = ['', '']
  for (let i = from - 2; i >= 0 && before.length < NEIGHBOR; i--) before = bare[i] + before
  for (let i = to; i < bare.length && after.length < NEIGHBOR; i++) after += bare[i]
  return [sha256(before).slice(0, 8), sha256(after).slice(0, 8)]
}

/**
 * Describes where a passage is, to find it again between equal passages: hashes of its neighbors, and how many equal
 * passages the file has.
 *
 * @returns for instance "1f0c2ab4:9e8d7c6b:2"
 */
export function aroundOf(citation: Hashed, bare: readonly string[], sha256: Sha256): string {
  const [before, after] = neighbors(citation.lines, bare, sha256)
  return `${before}:${after}:${Math.max(1, occurrences(citation, bare, sha256).length)}`
}

type Hashed = Pick<Citation, 'lines' | 'around'> & { readonly hash: string }

/** Returns all passages of the hash with the same number of lines. */
function occurrences(
  { lines, hash }: Hashed,
  bare: readonly string[],
  sha256: Sha256,
  budget = searchBudget(),
): string[] {
  const [from, to] = bounds(lines)
  const size = to - from + 1
  const known = new Map<string, boolean>()
  const found = new Set<string>()
  for (let at = 0; at + size <= bare.length && budget.left > 0; at++) {
    const text = bare.slice(at, at + size).join('')
    budget.left -= HASH_START + size + text.length
    if (text === '') continue
    const isIt = known.get(text) ?? sha256(text) === hash
    known.set(text, isIt)
    // Windows that differ in blank lines at their ends are one passage.
    if (isIt) found.add(filledRange(bare, at, at + size))
  }
  return [...found]
}

const distanceTo =
  (lines: string) =>
  (other: string): number =>
    Math.abs(bounds(other)[0] - bounds(lines)[0])

/**
 * Chooses the cited passage from equal ones: the one with the same neighbors, else the closest.
 *
 * @returns null where one of the equal passages has disappeared and no other has the neighbors of the cited one
 */
function chosenFrom(
  found: readonly string[],
  citation: Hashed,
  bare: readonly string[],
  sha256: Sha256,
): string | null {
  const [before, after, copies = '1'] = (citation.around ?? '').split(':')
  const distance = distanceTo(citation.lines)
  const matches = new Map(
    found.map((lines) => {
      const [own, next] = neighbors(lines, bare, sha256)
      return [lines, Number(own === before) + Number(next === after)]
    }),
  )
  const of = (lines: string): number => matches.get(lines) ?? 0
  // The hook program runs on Node 18.
  const [best] = [...found].sort((a, b) => of(b) - of(a) || distance(a) - distance(b))
  return best === undefined || (found.length < Number(copies) && of(best) < 2) ? null : best
}

/**
 * Finds the passage of a hash that has another number of lines, because formatting adds and removes line breaks.
 *
 * @returns the lines of the closest one; null if there is none
 */
function reflowed(
  { lines, hash }: Hashed,
  bare: readonly string[],
  sha256: Sha256,
  budget: SearchBudget,
): string | null {
  const [from, to] = bounds(lines)
  const size = to - from + 1
  const filled = bare.flatMap((line, i) => (line === '' ? [] : [i]))
  const start = filled.findIndex((i) => i >= from - 1)
  for (const at of byDistance(start < 0 ? filled.length - 1 : start, filled.length)) {
    let text = ''
    for (let end = at; end < Math.min(filled.length, at + 2 * size); end++) {
      if (budget.left <= 0) return null
      text += bare[filled[end] as number]
      budget.left -= HASH_START + text.length
      if (sha256(text) === hash) return rangeOf((filled[at] as number) + 1, (filled[end] as number) + 1)
    }
  }
  return null
}

/** Indexes of lines, the closest to `at` first. */
function* byDistance(at: number, end: number): Generator<number> {
  for (let away = 0; away < Math.max(at, end - at) + 1; away++) {
    if (at - away >= 0 && at - away < end) yield at - away
    if (away > 0 && at + away >= 0 && at + away < end) yield at + away
  }
}

/**
 * Compares a citation with a file.
 *
 * @param bare the lines of the file, from `bareLines`
 * @param budget limits the search; several comparisons may share one
 * @example
 * compareCitation({ lines: '2', hash: sha256('b') }, bareLines('a\nx\nb\n'), sha256) // { state: 'moved', lines: '3' }
 */
export function compareCitation(
  citation: Hashed,
  bare: readonly string[],
  sha256: Sha256,
  budget = searchBudget(),
): Comparison {
  const { lines, hash, around } = citation
  const isThere = hashOf(lines, bare, sha256) === hash
  // Without equal passages no other one can have moved here.
  if (isThere && (around === undefined || around.endsWith(':1'))) return { state: 'unchanged' }
  const found = occurrences(citation, bare, sha256, budget)
  const best = found.length === 0 ? reflowed(citation, bare, sha256, budget) : chosenFrom(found, citation, bare, sha256)
  if (best === null) return { state: 'changed' }
  const [at, own] = [bounds(best), bounds(lines)]
  return isThere && at[0] >= own[0] && at[1] <= own[1] ? { state: 'unchanged' } : { state: 'moved', lines: best }
}
