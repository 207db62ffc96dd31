import { noSuchEntry, notFound, Problem } from '../../../domain/errors'
import type { Scope } from '../../../domain/identity/scope'
import { lineIndex } from '../../../domain/reading/lines'
import type { OutlineNode, ShownOutline } from '../../../domain/reading/outline'
import { checkPart, cutRange, type Part, rangeFor, type TextRange } from '../../../domain/reading/range'
import { scheduler } from '../../../domain/scheduler'
import type { EntryStore } from '../../../ports/entry-store'
import type { EntryTexts } from '../../../ports/entry-texts'

/** Attempts if the text changes between two reads. */
const TRIES = 3

interface Totals {
  readonly chars: number
  readonly lines: number
}

/** Loads the parser of Markdown. */
const outlining = () => import('../../../domain/reading/outline')

export type ReadTexts = ReturnType<typeof createReadTexts>

export function createReadTexts({
  texts,
  entries,
}: {
  readonly texts: EntryTexts
  readonly entries: Pick<EntryStore, 'read'>
}) {
  async function wholeText(scope: Scope, id: number): Promise<string> {
    const [entry] = await entries.read(scope, [id])
    if (entry === undefined) throw noSuchEntry(id)
    return entry.text
  }

  function cutWhole(text: string, part: Part): TextRange & { totals: Totals } {
    const totals = lineIndex(text)
    return { ...cutRange(text, { from: 0, to: totals.chars, line: 1 }, part, totals), totals }
  }

  return {
    /** Returns the outline of an entry. @throws Problem not_found */
    async outline(scope: Scope, id: number, maxDepth: number): Promise<ShownOutline & { totals: Totals }> {
      const text = await wholeText(scope, id)
      const { readOutline, shownOutline } = await outlining()
      const root: OutlineNode = await scheduler.run(readOutline(text))
      return { ...shownOutline(root, maxDepth), totals: lineIndex(text) }
    },

    /**
     * Returns a range of a text. Reads only that range and a few thousand characters more.
     *
     * @throws Problem not_found; invalid_input for a range that ends before it starts
     * @example
     * await services.readTexts.range(principal, 42, { by: 'lines', first: 10, last: 40 })
     */
    async range(scope: Scope, id: number, asked: Part): Promise<TextRange & { totals: Totals }> {
      const part = checkPart(asked)
      for (let tries = 0; tries < TRIES; tries++) {
        const measure = await texts.measure(scope, id, part)
        if (measure === null) throw noSuchEntry(id)
        const { marks, textHash, range: near } = measure
        if (marks === null) return cutWhole(measure.text as string, part)
        const stretch = rangeFor(part, marks)
        const isHere = near !== null && near.from === stretch.from && near.to >= stretch.to
        const text = isHere ? near.text : await texts.range(scope, id, textHash, stretch)
        if (text !== null) return { ...cutRange(text, stretch, part, marks), totals: marks }
      }
      throw new Problem('conflict', 'The text changed while it was read; try again')
    },

    /** Returns the text of an outline node. @throws Problem not_found; for an unknown node, with the most similar one */
    async node(scope: Scope, id: number, nodeId: string): Promise<TextRange & { totals: Totals }> {
      const text = await wholeText(scope, id)
      const { findNode, readOutline } = await outlining()
      const found = findNode(await scheduler.run(readOutline(text)), nodeId)
      if ('nearest' in found)
        throw notFound(`Entry ${id} has no node "${nodeId.slice(0, 200)}"; the most similar is "${found.nearest}"`)
      return cutWhole(text, { by: 'chars', start: found.node.start, end: found.node.end })
    },

    /**
     * Returns the section below a heading, given by its title or node ID, ignoring case.
     *
     * @throws Problem not_found; for an unknown heading, with the list of headings
     */
    async section(scope: Scope, id: number, heading: string): Promise<TextRange & { totals: Totals }> {
      const text = await wholeText(scope, id)
      const { nodesBelow, readOutline, slug } = await outlining()
      const nodes = [...nodesBelow(await scheduler.run(readOutline(text)))]
      const wanted = slug(heading)
      const named = (test: (name: string) => boolean) => nodes.find((node) => test(slug(node.title)) || test(node.id))
      const node =
        named((name) => name === wanted || name === heading) ?? named((name) => wanted !== '' && name.includes(wanted))
      if (node !== undefined) return cutWhole(text, { by: 'chars', start: node.start, end: node.end })
      const titles = nodes.slice(0, 20).map(({ title, id: nodeId }) => `"${(title || nodeId).slice(0, 80)}"`)
      throw notFound(`Entry ${id} has no heading "${heading.slice(0, 200)}". Headings: ${titles.join(', ') || 'none'}`)
    },
  }
}
