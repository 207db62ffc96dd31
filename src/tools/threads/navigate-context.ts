import * as z from 'zod'
import type { OutlineNode } from '../../domain/reading/outline'
import { defineTool } from '../define-tool'
import { contextId, output, part } from '../fields'
import { threads } from './family'

const toNode = (node: OutlineNode): Record<string, unknown> => ({
  node_id: node.id,
  level: node.level,
  ordinal: node.ordinal,
  title: node.title,
  char_start: node.start,
  char_end: node.end,
  children: node.children.map(toNode),
})

export const navigateContext = defineTool({
  family: threads,
  name: 'navigate_context',
  title: 'Outline of an entry',
  description: 'Outline a long entry: Markdown headings, else part-1, part-2 … Then read_context_range by node_id.',
  example: { context_id: 3 },
  promise: 'THREADS-169',
  budget: { tokens: 110, trips: 2, reads: [9, 9], writes: 0 },
  input: z.strictObject({
    context_id: contextId('Entry id'),
    max_depth: z.int().min(1).max(6).default(6).meta({ description: '1–6' }),
  }),
  output: output({
    context_id: z.int(),
    total_chars: z.int(),
    total_lines: z.int(),
    node_count: z.int(),
    truncated: z.boolean(),
    root: part('node_id, level, ordinal, title, char_start, char_end, children', {}),
  }),
  async handler({ services, principal }, args) {
    const shown = await services.readTexts.outline(principal, args.context_id, args.max_depth)
    return {
      context_id: args.context_id,
      total_chars: shown.totals.chars,
      total_lines: shown.totals.lines,
      node_count: shown.nodes,
      truncated: shown.truncated,
      root: toNode(shown.root),
    }
  },
})
