// Which lines of two texts differ? The shortest answer where few do, else one by what occurs once in both, so that the work is bounded.
import { diffArrays } from 'diff'

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
