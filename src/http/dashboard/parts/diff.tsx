/** Renders a unified diff of two texts, line by line, and highlights the differences within a replaced line. */
type Kind = 'place' | 'add' | 'cut'

const kindOf = (line: string): Kind | undefined =>
  line.startsWith('@@') ? 'place' : line.startsWith('+') ? 'add' : line.startsWith('-') ? 'cut' : undefined

/** Header lines and the note about a missing line break at the end, which the page does not show. */
const isBeside = (line: string, i: number): boolean => (i < 2 && /^(---|\+\+\+) /.test(line)) || line.startsWith('\\ ')

/** The header of a hunk, for people. */
const placeOf = (line: string): string => `Line ${/\+(\d+)/.exec(line)?.[1] ?? ''}`

/** Limit of a line that is compared by character, in code units. */
const COMPARED = 5_000

/** Returns the lengths of the common prefix and suffix of two texts; never half a character. */
function shared(a: string, b: string): readonly [start: number, end: number] {
  const [left, right] = [[...a], [...b]]
  const most = Math.min(left.length, right.length)
  let [start, end] = [0, 0]
  while (start < most && left[start] === right[start]) start++
  while (end < most - start && left.at(-1 - end) === right.at(-1 - end)) end++
  const units = (part: readonly string[]) => part.join('').length
  return [units(left.slice(0, start)), units(left.slice(left.length - end))]
}

/** Pairs removed and added lines where equally many follow each other. */
function partners(kinds: readonly (Kind | undefined)[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  const runFrom = (from: number, kind: Kind): number => {
    let to = from
    while (kinds[to] === kind) to++
    return to - from
  }
  for (let i = 0; i < kinds.length; ) {
    const cut = runFrom(i, 'cut')
    const added = runFrom(i + cut, 'add')
    if (cut === added)
      for (let j = i; j < i + cut; j++) {
        found.set(j, j + cut)
        found.set(j + cut, j)
      }
    i += Math.max(1, cut + added)
  }
  return found
}

/** A line with its sign, and its differences from its pair. */
function Differing({ line, other }: { line: string; other: string | undefined }) {
  if (other === undefined || line.length > COMPARED || other.length > COMPARED) return <>{line}</>
  const [start, end] = shared(line.slice(1), other.slice(1))
  if (start + end === 0) return <>{line}</>
  return (
    <>
      {line.slice(0, 1 + start)}
      <b>{line.slice(1 + start, line.length - end)}</b>
      {line.slice(line.length - end)}
    </>
  )
}

export const Diff = ({ text }: { text: string }) => {
  const all = text.split('\n')
  const lines = all.filter((line, i) => !isBeside(line, i) && !(i === all.length - 1 && line === ''))
  const kinds = lines.map(kindOf)
  const others = partners(kinds)
  return (
    <pre class="diff" tabindex={0}>
      {lines.map((line, i) => {
        const other = others.get(i)
        return (
          <span class={kinds[i]}>
            {kinds[i] === 'place' ? (
              placeOf(line)
            ) : line === '' ? (
              ' '
            ) : (
              <Differing line={line} other={other === undefined ? undefined : lines[other]} />
            )}
          </span>
        )
      })}
    </pre>
  )
}
