import { titleOf } from '../../../domain/entry/title'
import type { GraphNode, LinkGraph } from '../../../domain/statistics'
import { firstCodePoints } from '../../../domain/text'
import { entryAt, plain } from '../parts/words'

/** Draws the memories within two links in three columns: this memory, its neighbors, and theirs. */

const MOST_FAR = 10
const [ROW, BOX, TOP] = [44, 30, 8]
const [WIDTH, COLUMN] = [188, 266]
const LABEL = 22

interface Placed {
  readonly node: GraphNode
  readonly column: number
  readonly y: number
}

const labelOf = (node: GraphNode): string => {
  const title = titleOf(node) || `Memory ${node.id}`
  const short = firstCodePoints(title, LABEL)
  return short.length < title.length ? `${short.trimEnd()}…` : title
}

/** Distances from the memory: 1 for a neighbor, 2 for others. */
function placed(id: number, { nodes, edges }: LinkGraph): readonly Placed[] {
  const near = new Set(edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : [])))
  const own = nodes.filter((node) => node.id === id)
  const first = nodes.filter((node) => near.has(node.id)).toSorted((a, b) => b.id - a.id)
  const place = new Map(first.map((node, i) => [node.id, i]))
  const lastOf = (node: GraphNode) =>
    Math.min(
      ...edges.flatMap(({ from, to }) =>
        from === node.id ? [place.get(to) ?? 99] : to === node.id ? [place.get(from) ?? 99] : [99],
      ),
    )
  // Next to the neighbor that links to it, so that few lines cross.
  const far = nodes
    .filter((node) => node.id !== id && !near.has(node.id))
    .toSorted((a, b) => lastOf(a) - lastOf(b) || b.id - a.id)
    .slice(0, MOST_FAR)
  const rows = Math.max(first.length, far.length, 1)
  const inColumn = (column: readonly GraphNode[], at: number) =>
    column.map((node, i) => ({ node, column: at, y: TOP + (i + (rows - column.length) / 2) * ROW }))
  return [...inColumn(own, 0), ...inColumn(first, 1), ...inColumn(far, 2)]
}

const left = ({ column }: Placed): number => column * COLUMN + 2
const middle = ({ y }: Placed): number => y + BOX / 2

const Line = ({ from, to, relation }: { from: Placed; to: Placed; relation: string }) => {
  const [a, b] = from.column <= to.column ? [from, to] : [to, from]
  const isSame = a.column === b.column
  const [x1, x2] = [left(a) + WIDTH, isSame ? left(b) + WIDTH : left(b)]
  const bend = isSame ? 40 : (x2 - x1) / 2
  return (
    <path
      class={`line line-${relation}`}
      d={`M${x1} ${middle(a)} C${x1 + bend} ${middle(a)} ${isSame ? x2 + bend : x2 - bend} ${middle(b)} ${x2} ${middle(b)}`}
      marker-end={b === to ? 'url(#arrow)' : undefined}
      marker-start={b === to ? undefined : 'url(#arrow)'}
    >
      <title>{`${labelOf(from.node)} ${plain(relation)} ${labelOf(to.node)}`}</title>
    </path>
  )
}

/** The graph, if it shows more than the list of links does. */
export const Graph = ({ id, graph }: { id: number; graph: LinkGraph }) => {
  const all = placed(id, graph)
  const of = new Map(all.map((one) => [one.node.id, one]))
  const lines = graph.edges.flatMap(({ from, to, relation }) => {
    const [a, b] = [of.get(from), of.get(to)]
    return a === undefined || b === undefined ? [] : [{ from: a, to: b, relation }]
  })
  if (all.length < 3) return null
  const columns = all.some(({ column }) => column === 2) ? 3 : 2
  const [width, height] = [(columns - 1) * COLUMN + WIDTH + 4, Math.max(...all.map(({ y }) => y)) + BOX + TOP]
  const names = [...new Set(lines.map(({ relation }) => plain(relation)))]
  return (
    <section class="graph" tabindex={0} aria-label="Graph of links">
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-label={`Links: ${names.join(', ')}`}>
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path class="head" d="M0 1 7 4 0 7Z" />
          </marker>
        </defs>
        {lines.map((line) => (
          <Line {...line} />
        ))}
        {all.map((one) => (
          <a
            href={entryAt(one.node.id)}
            class={one.node.id === id ? 'node here' : 'node'}
            aria-current={one.node.id === id ? 'page' : undefined}
          >
            <rect x={left(one)} y={one.y} width={WIDTH} height={BOX} rx="7" />
            <text x={left(one) + 10} y={middle(one) + 4}>
              {labelOf(one.node)}
            </text>
            <title>{titleOf(one.node) || `Memory ${one.node.id}`}</title>
          </a>
        ))}
      </svg>
      <ul class="legend">
        {[...new Set(lines.map(({ relation }) => relation))].map((relation) => (
          <li class={`line-${relation}`}>{plain(relation)}</li>
        ))}
      </ul>
    </section>
  )
}
