// Which lines of two texts differ? The shortest answer where few do, else one by what occurs once in both, so that the work is bounded.

import { diffArrays, FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk } from 'diff'

/** So many lines of one kind: of both texts, of the old one alone, or of the new one alone. */
export interface Run {
  readonly kind: 'same' | 'removed' | 'added'
  readonly count: number
}

/** Lines that differ at most where the shortest answer is looked for in the whole; the work grows with the square of it. */
const MAX_EDITS = 300
/** The same between two lines that occur once in both. */
const MAX_EDITS_BETWEEN = 100
/** Squares of those numbers that are spent in all on what lies between: some 50 ms of work. */
const MOST_WORK = 400_000

interface Stretch {
  readonly old: readonly number[]
  readonly now: readonly number[]
}

/** Lines as numbers, equal ones alike, so that each is read once. */
function numbered(old: readonly string[], now: readonly string[]): Stretch {
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size
    numbers.set(line, known)
    return known
  }
  return { old: old.map(numberOf), now: now.map(numberOf) }
}

/** @returns null where more than so many lines differ */
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

/** Places of the lines that occur once in both, as many as stand in the same order. */
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
  // Where the best sequence of each length ends, and what goes before each pair.
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

/** By the lines that occur once in both; what lies between two of them is compared by itself, or all of it is replaced. */
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
  // Behind the last one stands no line.
  return runs.slice(0, -1)
}

/** What leads from the old lines to the new ones, in order; no two runs of a kind follow each other. */
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

/** Characters of a diff that a result shows. */
const MAX_SHOWN = 20_000
/** Lines of each text that are compared, from the first that differs on: no diff shows more. */
const MAX_LINES = 20_000
/** Lines that stay, shown around those that differ. */
const CONTEXT = 3

const CUT = '\n(cut; read both versions for the rest)'
const NO_END = '\\ No newline at end of file'

interface VersionText {
  readonly version: number
  readonly text: string
}

/** Where the line begins that holds a place, or one so many lines before it. */
function lineStart(text: string, place: number, before = 0): number {
  let start = text.lastIndexOf('\n', place - 1) + 1
  for (let i = 0; i < before && start > 0; i++) start = start === 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1
  return place === 0 ? 0 : start
}

/** What differs: where it begins in both texts, some lines before the first difference, and where it ends in each. */
function differingPart(old: string, now: string): { from: number; oldEnd: number; nowEnd: number } {
  const shorter = Math.min(old.length, now.length)
  let same = 0
  while (same < shorter && old.charCodeAt(same) === now.charCodeAt(same)) same++
  const first = lineStart(old, same)
  let tail = 0
  while (tail < shorter - first && old.charCodeAt(old.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail))
    tail++
  // The end begins with a whole line, and some of its lines are shown.
  let kept = old.indexOf('\n', old.length - tail)
  for (let i = 0; i < CONTEXT && kept >= 0; i++) kept = old.indexOf('\n', kept + 1)
  const end = kept < 0 || tail === 0 ? 0 : old.length - kept - 1
  return { from: lineStart(old, first, CONTEXT), oldEnd: old.length - end, nowEnd: now.length - end }
}

/** Lines with their ends, as many as are compared. */
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

/** Lines of a diff, each behind the sign of what became of it. */
const signed = (sign: string, lines: readonly string[]): string[] =>
  lines.flatMap((line) => (line.endsWith('\n') ? [`${sign}${line.slice(0, -1)}`] : [`${sign}${line}`, NO_END]))

/** Without what differs at the end, where more lines follow in both: what became of these is known by those alone. */
const known = (runs: readonly Run[]): readonly Run[] =>
  runs.slice(0, runs.findLastIndex(({ kind }) => kind === 'same') + 1 || undefined)

/** @param before lines of both texts that go before these */
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
      // What follows a hunk, and what goes before the next one; both where they meet.
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
 * A unified diff of two versions of a text, which leads from one to the other unless it is cut. It is the shortest one where few lines
 * differ; the work is bounded whatever the texts are.
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
