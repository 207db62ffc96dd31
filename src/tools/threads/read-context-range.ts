import * as z from 'zod'
import { invalidInput } from '../../domain/errors'
import { checkPart, type Part } from '../../domain/reading/range'
import { givenAs } from '../../domain/validation'
import { defineTool } from '../define-tool'
import { contextId, output } from '../fields'
import { soundArguments } from '../parse-arguments'
import { threads } from './family'

/** A position in a text. A position after the end is valid, however large. */
const place = (min: number, description: string) =>
  z
    .custom<number>((value) => Number.isInteger(value) && (value as number) >= min, {
      error: ({ path, input }) =>
        `${path?.map(String).join('.')} must be ${Number.isInteger(input) ? `at least ${min}` : 'an integer'}`,
    })
    .optional()
    .meta({ type: 'integer', minimum: min, description })

const input = z.strictObject({
  context_id: contextId('Entry id'),
  start_char: place(0, 'From 0'),
  end_char: place(0, 'Exclusive'),
  start_line: place(1, 'First line, from 1'),
  end_line: place(1, 'Inclusive'),
  node_id: z.string().optional().meta({ description: 'From navigate_context' }),
})

const PLACES = ['start_char', 'end_char', 'start_line', 'end_line', 'node_id'] as const

/** Reads the requested part: a range, or a node of an outline. @throws Problem invalid_input unless exactly one way is used */
function readPart(args: Partial<z.output<typeof input>>): Part | { readonly node: string } {
  const { start_char, end_char, start_line, end_line, node_id } = args
  const byChars = start_char !== undefined || end_char !== undefined
  const byLines = start_line !== undefined || end_line !== undefined
  const more = PLACES.findLast((name) => args[name] !== undefined)
  if (Number(byChars) + Number(byLines) + Number(node_id !== undefined) !== 1)
    throw invalidInput('Give exactly one of: start_char and/or end_char, start_line and/or end_line, node_id', [
      more === undefined
        ? { path: 'start_line', given: 'nothing', example: 1 }
        : { path: more, given: givenAs(args[more]) },
    ])
  if (node_id !== undefined) return { node: node_id }
  return byChars
    ? { by: 'chars', start: start_char ?? 0, end: end_char ?? null }
    : { by: 'lines', first: start_line ?? 1, last: end_line ?? null }
}

/** Checks the requested part independently of the entry ID. @throws Problem */
function inspectPart(args: Record<string, unknown>): void {
  const sound = soundArguments(input, args)
  // An invalid position is reported by the schema, and still counts as a way.
  const given = PLACES.filter((name) => args[name] !== undefined)
  if (given.every((name) => sound[name] !== undefined)) {
    const part = readPart(sound)
    if (!('node' in part)) checkPart(part)
  }
}

export const readContextRange = defineTool({
  family: threads,
  name: 'read_context_range',
  title: 'Read a part of an entry',
  description:
    'Read part of an entry by characters, lines or node_id (only one), ≤ 100,000 characters; if truncated, continue at next_start_char.',
  example: { context_id: 3, start_line: 3, end_line: 4 },
  promise: 'THREADS-177',
  budget: { tokens: 180, trips: 2, reads: [33, 33], writes: 0 },
  input,
  inspect: inspectPart,
  output: output({
    context_id: z.int(),
    start_char: z.int(),
    end_char: z.int(),
    start_line: z.int(),
    end_line: z.int(),
    total_chars: z.int(),
    total_lines: z.int(),
    text: z.string(),
    truncated: z.boolean(),
    next_start_char: z.int(),
  }),
  async handler({ services, principal }, args) {
    const id = args.context_id
    const part = readPart(args)
    const range = await ('node' in part
      ? services.readTexts.node(principal, id, part.node)
      : services.readTexts.range(principal, id, part))
    return {
      context_id: id,
      start_char: range.startChar,
      end_char: range.endChar,
      start_line: range.startLine,
      end_line: range.endLine,
      total_chars: range.totals.chars,
      total_lines: range.totals.lines,
      text: range.text,
      ...(range.truncated ? { truncated: true, next_start_char: range.endChar } : {}),
    }
  },
})
