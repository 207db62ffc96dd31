// Compares two texts line by line. Finds the shortest diff for few differences, else one anchored at unique lines, so
// that the work is bounded.

import { diffArrays, FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk } from 'diff'

/** A run of consecutive lines: in both texts, in the old one only, or in the new one only. */
export interface Run {
  readonly kind: 'same' | 'removed' | 'added'
  readonly count: number
}

/** Maximum number of differing lines for the shortest diff; the work grows with its square. */
const MAX_EDITS = 300
/** The same limit between two anchors. */
const MAX_EDITS_BETWEEN = 100
/** Limit of the sum of squared edits between all anchors: about 50 ms of work. */
const MOST_WORK = 400_000

interface Stretch {
  readonly old: readonly number[]
  readonly now: readonly number[]
}

/** Numbers the lines, equal lines alike, so that each line is read once. */
function numbered(old: readonly string[], now: readonly string[]): Stretch {
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size
    numbers.set(line, known)
    return known
  }
  return { old: old.map(numberOf), now: now.map(numberOf) }
}

/** The shortest diff. @returns null where more than `maxEditLength` lines differ */
function shortest({ old, now }: Stretch, maxEditLength: number): Run[] | null {
  const parts = diffArrays([...old], [...now], { maxEditLength })
  return (
    parts?.map(({ added, removed, count }) => ({ kind: removed ? 'removed' : added ? 'added' : 'same', count })) ?? null
  )
}

const replaced = ({ old, now }: Stretch): Run[] => [
  { kind: 'removed', count: old.length },
  { kind: 'added', count: now.length },
]

/** The places of lines that occur exactly once in both texts, the longest sequence in the same order. */
function anchors({ old, now }: Stretch): [old: number, now: number][] {
  const onlyPlaces = (lines: readonly number[]): Map<number, number> => {
    const places = new Map<number, number>()
    for (const [place, line] of lines.entries()) places.set(line, places.has(line) ? -1 : place)
    return places
  }
  const inNow = onlyPlaces(now)
  const pairs = [...onlyPlaces(old)].flatMap(([line, place]): [number, number][] => {
    const other = inNow.get(line) ?? -1
    return place < 0 || other < 0 ? [] : [[place, other]]
  })
  // The end of the best sequence of each length, and the predecessor of each pair.
  const ends: number[] = []
  const before: number[] = []
  for (const [i, [, place]] of pairs.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] as number] as [number, number])[1] < place) low = middle + 1
      else high = middle
    }
    before.push(low === 0 ? -1 : (ends[low - 1] as number))
    ends[low] = i
  }
  const chosen: [number, number][] = []
  for (let i = ends.at(-1) ?? -1; i >= 0; i = before[i] as number) chosen.push(pairs[i] as [number, number])
  return chosen.reverse()
}

/**
 * A diff anchored at the lines that occur once in both texts. The parts between them are compared separately, or
 * replaced completely.
 */
function betweenAnchors(whole: Stretch): Run[] {
  const { old, now } = whole
  const runs: Run[] = []
  let work = MOST_WORK
  let [fromOld, fromNow] = [0, 0]
  for (const [toOld, toNow] of [...anchors(whole), [old.length, now.length] as const]) {
    const part = { old: old.slice(fromOld, toOld), now: now.slice(fromNow, toNow) }
    const edits = Math.min(MAX_EDITS_BETWEEN, part.old.length + part.now.length)
    const compares = part.old.length > 0 && part.now.length > 0 && edits ** 2 <= work
    if (compares) work -= edits ** 2
    runs.push(...((compares ? shortest(part, edits) : null) ?? replaced(part)), { kind: 'same', count: 1 })
    ;[fromOld, fromNow] = [toOld + 1, toNow + 1]
  }
  // No line follows the last part.
  return runs.slice(0, -1)
}

/** The runs that turn the old lines into the new ones, in order; consecutive runs have different kinds. */
export function differingLines(old: readonly string[], now: readonly string[]): Run[] {
  const whole = numbered(old, now)
  const runs = shortest(whole, MAX_EDITS) ?? betweenAnchors(whole)
  const joined: Run[] = []
  for (const run of runs) {
    const last = joined.at(-1)
    if (last?.kind === run.kind) joined[joined.length - 1] = { kind: run.kind, count: last.count + run.count }
    else if (run.count > 0) joined.push(run)
  }
  return joined
}

/** Maximum characters of a diff in a result. */
const MAX_SHOWN = 20_000
/** Maximum lines of each text that are compared, from the first difference on. */
const MAX_LINES = 20_000
/** Unchanged lines shown around a difference. */
const CONTEXT = 3

const CUT = '\n(cut; read both versions for the rest)'
const NO_END = '\\ No newline at end of file'

interface VersionText {
  readonly version: number
  readonly text: string
}

/** The start of the line that contains a position, or of the line `before` lines above it. */
function lineStart(text: string, place: number, before = 0): number {
  let start = text.lastIndexOf('\n', place - 1) + 1
  for (let i = 0; i < before && start > 0; i++) start = start === 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1
  return place === 0 ? 0 : start
}

/** The part of both texts that differs, with some lines before the first difference. */
function differingPart(old: string, now: string): { from: number; oldEnd: number; nowEnd: number } {
  const shorter = Math.min(old.length, now.length)
  let same = 0
  while (same < shorter && old.charCodeAt(same) === now.charCodeAt(same)) same++
  const first = lineStart(old, same)
  let tail = 0
  while (tail < shorter - first && old.charCodeAt(old.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail))
    tail++
  // The common end starts at a line, and some of its lines are shown.
  let kept = old.indexOf('\n', old.length - tail)
  for (let i = 0; i < CONTEXT && kept >= 0; i++) kept = old.indexOf('\n', kept + 1)
  const end = kept < 0 || tail === 0 ? 0 : old.length - kept - 1
  return { from: lineStart(old, first, CONTEXT), oldEnd: old.length - end, nowEnd: now.length - end }
}

/** Lines with their line ends, up to the maximum. */
function linesOf(text: string, from: number, end: number): { lines: string[]; more: boolean } {
  const lines: string[] = []
  let at = from
  while (at < end && lines.length < MAX_LINES) {
    const next = text.indexOf('\n', at) + 1 || text.length
    lines.push(text.slice(at, next))
    at = next
  }
  return { lines, more: at < end }
}

function count(text: string, end: number): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** Lines of a diff with their sign. */
const signed = (sign: string, lines: readonly string[]): string[] =>
  lines.flatMap((line) => (line.endsWith('\n') ? [`${sign}${line.slice(0, -1)}`] : [`${sign}${line}`, NO_END]))

/** Drops the last differences where both texts continue: the lines that follow could change them. */
const known = (runs: readonly Run[]): readonly Run[] =>
  runs.slice(0, runs.findLastIndex(({ kind }) => kind === 'same') + 1 || undefined)

/** Groups runs into hunks with context. @param before number of lines of both texts before these */
function hunksOf(
  runs: readonly Run[],
  old: readonly string[],
  now: readonly string[],
  before: number,
): StructuredPatchHunk[] {
  const hunks: StructuredPatchHunk[] = []
  let [inOld, inNow] = [0, 0]
  for (const [i, { kind, count: length }] of runs.entries()) {
    const isLast = i === runs.length - 1
    if (kind === 'same') {
      // Context after a hunk and before the next one; one block where the two touch.
      const joins = i > 0 && !isLast && length <= 2 * CONTEXT
      const behind = i === 0 ? 0 : joins ? length : Math.min(CONTEXT, length)
      const ahead = isLast || joins ? 0 : Math.min(CONTEXT, length)
      const open = hunks.at(-1)
      if (open !== undefined) {
        open.lines.push(...signed(' ', old.slice(inOld, inOld + behind)))
        open.oldLines += behind
        open.newLines += behind
      }
      if (!isLast && !joins)
        hunks.push({
          ...{ oldStart: before + inOld + length - ahead + 1, oldLines: ahead },
          ...{ newStart: before + inNow + length - ahead + 1, newLines: ahead },
          lines: signed(' ', old.slice(inOld + length - ahead, inOld + length)),
        })
    } else if (i === 0) hunks.push({ oldStart: before + 1, oldLines: 0, newStart: before + 1, newLines: 0, lines: [] })
    const hunk = hunks.at(-1)
    if (kind === 'removed' && hunk) {
      for (const line of signed('-', old.slice(inOld, inOld + length))) hunk.lines.push(line)
      hunk.oldLines += length
    }
    if (kind === 'added' && hunk) {
      for (const line of signed('+', now.slice(inNow, inNow + length))) hunk.lines.push(line)
      hunk.newLines += length
    }
    if (kind !== 'added') inOld += length
    if (kind !== 'removed') inNow += length
  }
  return hunks
}

/**
 * A unified diff of two versions of a text, possibly cut. It is the shortest diff where few lines differ; the work is
 * bounded for any texts.
 */
export function textDiff(before: VersionText, after: VersionText): string {
  const { from, oldEnd, nowEnd } = differingPart(before.text, after.text)
  const [old, now] = [linesOf(before.text, from, oldEnd), linesOf(after.text, from, nowEnd)]
  const runs = differingLines(old.lines, now.lines)
  const sure = old.more && now.more ? known(runs) : runs
  const name = ({ version }: VersionText) => `version ${version}`
  const patch = formatPatch(
    {
      ...{ oldFileName: name(before), newFileName: name(after), oldHeader: '', newHeader: '' },
      hunks: hunksOf(sure, old.lines, now.lines, count(before.text, from)),
    },
    FILE_HEADERS_ONLY,
  )
  if (patch.length <= MAX_SHOWN && !old.more && !now.more) return patch
  return `${patch.slice(0, MAX_SHOWN).replace(/[\ud800-\udbff]$/, '')}${CUT}`
}
