import * as z from 'zod'
import { firstCodePoints } from '../../domain/text'
import { formatSecond } from '../../domain/time'
import { defineTool } from '../define-tool'
import { listOf, output, part } from '../fields'
import { core } from './family'
import { DEFAULT_ANSWER, id, lean, shownMemory } from './vocabulary'

const LIMIT = { usual: 5, most: 50 } as const
const PREVIEW = 100

/** Fields that changed, with the names of the core tools: the text of a memory is its `content`. */
const inCoreNames = (changed: readonly string[] | null | undefined): readonly string[] =>
  (changed ?? []).map((field) => (field === 'text' ? 'content' : field))

export const history = defineTool({
  family: core,
  name: 'history',
  title: 'History',
  description: 'Show who changed a memory and when, with diffs; with version: its text then.',
  example: { id: 7 },
  promise: 'CORE-13',
  budget: { tokens: 100, trips: 3, reads: [59, 59], writes: 0 },
  input: z.strictObject({
    id: id('Memory, even if deleted'),
    version: z.int().optional().meta({ description: 'Only this, in full' }),
    limit: z.int().optional().meta({ description: 'Default 5' }),
  }),
  output: output({
    id: z.int(),
    version: z.int(),
    deleted: z.boolean(),
    content: z.string(),
    versions: listOf(
      part('Version', { version: z.int(), at: z.string(), by: z.string(), diff: z.string() }),
      'Newest first',
    ),
  }),
  async handler({ services, principal }, { id: one, version, limit = LIMIT.usual }) {
    if (version !== undefined) {
      const entry = await services.readHistory.state(principal, one, version)
      const content = firstCodePoints(entry.text, DEFAULT_ANSWER - 1_000)
      return lean({
        ...{ ...shownMemory(entry), version, content },
        truncated: content.length < entry.text.length,
      })
    }
    const applied = Math.max(1, Math.min(limit, LIMIT.most))
    const page = await services.readHistory.versions(principal, one, { limit: applied, offset: 0 }, true)
    let left = DEFAULT_ANSWER - 500
    const versions = page.versions.map(({ version: number, at, action, agent, changed, preview, diff }) => {
      const head = {
        version: number,
        at: formatSecond(at),
        action,
        ...lean({ by: agent, changed: inCoreNames(changed) }),
      }
      const text = diff ?? firstCodePoints(preview, PREVIEW)
      const cut = firstCodePoints(text, Math.max(0, Math.min(Math.floor(left / 2), left - 200)))
      left -= JSON.stringify(head).length + JSON.stringify(cut).length + 20
      const name = diff === undefined ? 'content' : 'diff'
      return { ...head, ...lean({ [name]: cut.length < text.length ? `${cut}…` : cut }) }
    })
    return {
      ...{ id: one, version: page.currentVersion, ...lean({ deleted: page.deleted }) },
      versions,
      ...lean({ more: page.total > versions.length ? page.total - versions.length : null }),
    }
  },
})
