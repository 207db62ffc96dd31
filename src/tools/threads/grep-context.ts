import * as z from 'zod'
import { literalPattern, narrowingOf } from '../../domain/reading/literal'
import { expressionLibrary, expressionPattern, namesLineEnd } from '../../domain/reading/regular-expression'
import type { Pattern } from '../../domain/reading/search-pattern'
import type { Filter } from '../../domain/search/filter'
import { codePointLength } from '../../domain/text'
import { collectIssues, type IssueCollector } from '../../domain/validation'
import type { GreppedEntry } from '../../services/searching/texts/grep-texts'
import { defineTool } from '../define-tool'
import { contextId, contextIds, flag, listOf, output, strings } from '../fields'
import { filterFields, inspectFilter, readFilter } from '../filters'
import { soundArguments } from '../parse-arguments'
import { threads } from './family'

const MAX_PATTERN = 1000
const MODES = ['content', 'count', 'files_with_matches'] as const
type Mode = (typeof MODES)[number]

const pattern = z
  .string()
  .refine((given) => given !== '', { error: 'pattern is empty' })
  .refine((given) => codePointLength(given) <= MAX_PATTERN, {
    error: `pattern has more than ${MAX_PATTERN} characters`,
  })
  .meta({ description: 'Text within a line, ≤ 1,000 characters' })

/** A number that is reduced to its maximum if it is larger, as `limit` is. */
const count = (min: number, fallback: number, description: string) =>
  z.int().min(min).default(fallback).meta({ description })
const MOST = { context_lines: 20, max_matches: 1000, max_entries_scanned: 10_000 } as const

/** Serializes the matches of an entry, by output mode. */
const rowsOf: Record<Mode, (entry: GreppedEntry) => Record<string, unknown>[]> = {
  content: ({ id, lines }) =>
    lines.map((line) => ({
      context_id: id,
      line_number: line.number,
      line: line.line,
      match_start: line.matchStart,
      match_end: line.matchEnd,
      start_char: line.start,
      end_char: line.end,
      before: line.before,
      after: line.after,
    })),
  count: ({ id, matches }) => [{ context_id: id, matches }],
  files_with_matches: ({ id, threadId }) => [{ context_id: id, thread_id: threadId }],
}

const input = z.strictObject({
  pattern,
  is_regex: flag(false, 'RE2 syntax'),
  case_sensitive: flag(false, 'Match case'),
  ...filterFields,
  context_ids: contextIds('Only these').optional(),
  output_mode: z.enum(MODES).default('content').meta({ description: 'What to return' }),
  context_lines: count(0, 0, 'Lines around, 0–20'),
  max_matches: count(1, 100, 'Rows, 1–1,000'),
  max_entries_scanned: count(1, 1000, 'Entries, 1–10,000'),
  before_id: contextId('Only older entries').optional(),
})

/** Reads the pattern; notes an invalid expression and returns undefined. */
const readPattern = (
  { pattern: wanted, is_regex, case_sensitive }: Record<'is_regex' | 'case_sensitive', boolean> & { pattern: string },
  wrong: IssueCollector,
): Pattern | undefined => {
  return wrong.check('pattern', wanted, () =>
    is_regex ? expressionPattern(wanted, case_sensitive) : literalPattern(wanted, case_sensitive),
  )
}

const OF_LINES =
  'A pattern matches within a line, and this one contains a line break. Search for one of its lines, and raise context_lines'

/** Reports whether a pattern contains a line break, which no line contains. */
const spansLines = (wanted: string, isRegex: boolean): boolean =>
  /[\n\r]/.test(wanted) || (isRegex && namesLineEnd(wanted))

export const grepContext = defineTool({
  family: threads,
  name: 'grep_context',
  title: 'Search in texts',
  description:
    'Find exact strings, code or error text in lines, newest first; read_context_range reads around a ' +
    'hit. If truncated, continue with before_id = next_before_id.',
  example: { pattern: 'ledger' },
  promise: 'THREADS-157',
  budget: { tokens: 590, trips: 2, reads: [5_930, 32_700], writes: 0 },
  input,
  loads: ({ is_regex: isRegex }) => (isRegex ? expressionLibrary.load() : null),
  inspect: (args) => {
    const { pattern: wanted, is_regex = false, case_sensitive = false } = soundArguments(input, args)
    collectIssues((wrong) => {
      wrong.check('metadata', args.metadata, () => inspectFilter(args))
      if (wanted !== undefined) readPattern({ pattern: wanted, is_regex, case_sensitive }, wrong)
    })
  },
  output: output({
    mode: z.string(),
    total_matches: z.int(),
    truncated: z.boolean(),
    entries_scanned: z.int(),
    results: z.array(
      z
        .looseObject({
          context_id: z.int(),
          line_number: z.int(),
          line: z.string(),
          match_start: z.int(),
          match_end: z.int(),
          start_char: z.int(),
          end_char: z.int(),
          before: strings('Line'),
          after: strings('Line'),
          matches: z.int(),
          thread_id: z.string(),
        })
        .partial()
        .meta({ description: 'Row' }),
    ),
    next_before_id: z.int(),
    cut_entries: listOf(z.int(), 'Not all matches returned'),
    warnings: strings('Warning'),
  }),
  async handler({ services, principal }, args) {
    const { pattern: wanted, is_regex, case_sensitive, output_mode: mode, context_ids } = args
    const { filter, pattern: looked } = collectIssues((wrong) => ({
      filter: wrong.check('metadata', args.metadata, () => readFilter(args, { mode }).filter) as Filter,
      pattern: readPattern(args, wrong) as Pattern,
    }))
    const found = await services.grepTexts(principal, {
      pattern: looked,
      narrowing: is_regex ? null : narrowingOf(wanted, case_sensitive),
      filter,
      // An empty list counts as absent, as in other filters.
      ids: context_ids === undefined || context_ids.length === 0 ? null : [...new Set(context_ids)],
      beforeId: args.before_id ?? null,
      context: mode === 'content' ? Math.min(args.context_lines, MOST.context_lines) : null,
      maxMatches: Math.min(args.max_matches, MOST.max_matches),
      maxEntries: Math.min(args.max_entries_scanned, MOST.max_entries_scanned),
    })
    const warnings = [
      ...Object.entries(MOST).flatMap(([name, most]) => {
        const asked = args[name as keyof typeof MOST]
        return asked > most ? [`${name} ${asked} was applied as ${most}`] : []
      }),
      ...(found.totalMatches === 0 && spansLines(wanted, is_regex) ? [OF_LINES] : []),
    ]
    return {
      mode,
      total_matches: found.totalMatches,
      truncated: found.nextBeforeId !== null,
      entries_scanned: found.scanned,
      results: found.entries.flatMap(rowsOf[mode]),
      ...(found.nextBeforeId === null ? {} : { next_before_id: found.nextBeforeId }),
      ...(found.cut.length === 0 ? {} : { cut_entries: found.cut }),
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  },
})
