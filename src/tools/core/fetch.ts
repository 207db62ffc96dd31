import * as z from 'zod'
import type { Entry } from '../../domain/entry/entry'
import { own } from '../../domain/entry/metadata'
import { invalidInput, noSuchEntry } from '../../domain/errors'
import { cutAround } from '../../domain/pack/passages'
import { scheduler } from '../../domain/scheduler'
import { RESULT_BYTES } from '../../domain/search/window'
import { codePointLength, firstCodePoints, foldAscii } from '../../domain/text'
import { formatSecond } from '../../domain/time'
import { givenAs, shortForm } from '../../domain/validation'
import type { CallContext } from '../context'
import { defineTool } from '../define-tool'
import { flag, listOf, output, part, strings } from '../fields'
import { withImages } from '../images'
import { areSound, soundArguments } from '../parse-arguments'
import { core } from './family'
import { charactersOf, id, ids, lean, memoryOutput, shownMemory } from './vocabulary'

const input = z.strictObject({
  id: id('One memory ID').optional(),
  ids: ids('Or several IDs').optional(),
  lines: z.string().optional().meta({ description: 'Lines "10-40"' }),
  heading: z.string().optional().meta({ description: 'Only this section; a miss lists all headings' }),
  around: z.string().optional().meta({ description: 'Around this exact text' }),
  images: flag(false, 'Include images'),
  max_tokens: z.int().optional().meta({ description: 'Default 2,500; ≤ 32,000' }),
})
type Arguments = z.output<typeof input>

/** Metadata that the result shows under another name, or that only the server uses. */
const SHOWN_ELSEWHERE = [
  ...['title', 'task_name', 'kind', 'type', 'report_type', 'project', 'status', 'agent_name', 'audience', 'captured'],
  ...['expires_at', 'pinned', 'diary', 'supersedes', 'depends_on', 'contradicts', 'references'],
]
const LINKS = ['supersedes', 'depends_on', 'contradicts', 'references'] as const

const ownFields = (entry: Entry): Record<string, unknown> =>
  Object.fromEntries(Object.entries(entry.metadata ?? {}).filter(([key]) => !SHOWN_ELSEWHERE.includes(key)))

/** Returns the members of a memory except its content. */
function headOf(entry: Entry): Record<string, unknown> {
  const metadata = ownFields(entry)
  return lean({
    ...shownMemory(entry),
    version: entry.version,
    updated_at: entry.version > 1 ? formatSecond(entry.updatedAt) : null,
    audience: entry.reader === '' ? null : 'private',
    pinned: own(entry.metadata, 'pinned') === true,
    expires_at: own(entry.metadata, 'expires_at'),
    archived: entry.archived,
    ...Object.fromEntries(LINKS.map((relation) => [relation, own(entry.metadata, relation)])),
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
    images: entry.images.length > 0 ? entry.images.length : null,
  })
}

interface Shown {
  readonly content: string
  /** The size of the complete content, and the call that reads the next part. */
  readonly extra?: Record<string, unknown>
}

/** Checks that exactly one of `id` and `ids`, and at most one kind of part, is given. @throws Problem invalid_input */
function checkPart({ id: one, ids: several, lines, heading, around }: Partial<Arguments>): void {
  if ((one === undefined) === ((several ?? []).length === 0))
    throw invalidInput('Give either id or ids', [{ path: 'id', given: givenAs(one), example: 42 }])
  const ways = Object.entries({ lines, heading, around }).filter(([, value]) => value !== undefined)
  const [first, second] = ways
  if (second !== undefined)
    throw invalidInput('Give only one of lines, heading and around', [{ path: second[0], given: givenAs(second[1]) }])
  if (first !== undefined && one === undefined && several?.length !== 1)
    throw invalidInput(`${first[0]} needs exactly one id`, [{ path: first[0], given: givenAs(first[1]) }])
  if (lines !== undefined) linesOf(lines)
}

/** Parses a line range such as "10-40", "10-", "-40" or "10". @throws Problem invalid_input */
function linesOf(given: string): { readonly first: number; readonly last: number | null } {
  const [, from = '', dash = '', to = ''] =
    /^(\d{0,9})([-–:]?)(\d{0,9})$/.exec(given.slice(0, 50).replaceAll(' ', '')) ?? []
  const first = Number(from || '1')
  const last = to === '' ? (dash === '' ? first : null) : Number(to)
  if ((from === '' && to === '') || first < 1 || (last !== null && last < first))
    throw invalidInput(`lines "${shortForm(given, 50)}" is not a range such as "10-40"`, [
      { path: 'lines', given: givenAs(given), example: '10-40' },
    ])
  return { first, last }
}

/** Returns the part of the text that the arguments select. @throws Problem not_found, invalid_input */
async function partOf(
  { services, principal }: CallContext,
  entry: Entry,
  args: Arguments,
  most: number,
): Promise<Shown> {
  if (args.around !== undefined) {
    const at = foldAscii(entry.text).indexOf(foldAscii(args.around))
    if (at < 0)
      throw invalidInput(
        `Memory ${entry.id} does not contain "${shortForm(args.around, 100)}": search with mode "exact"`,
        [{ path: 'around', given: givenAs(args.around) }],
      )
    const content = cutAround({ text: entry.text, at: [at], goesOn: { before: false, after: false } }, most)
    return { content, extra: { total_chars: codePointLength(entry.text) } }
  }
  const range =
    args.heading === undefined
      ? await services.readTexts.range(principal, entry.id, { by: 'lines', ...linesOf(args.lines as string) })
      : await services.readTexts.section(principal, entry.id, args.heading)
  const total = range.totals.lines
  const { first, last: asked } =
    args.lines === undefined ? { first: range.startLine, last: range.endLine } : linesOf(args.lines)
  if (first > total)
    throw invalidInput(`Memory ${entry.id} has only ${total} lines`, [
      { path: 'lines', given: givenAs(args.lines), example: `1-${total}` },
    ])
  const content = firstLines(range.text, most)
  const end = range.truncated ? Math.min(asked ?? total, total) : range.endLine
  const shown = range.startLine + content.split('\n').length - 1
  const isCut = content.length < range.text.length || range.truncated
  const next = () => nextOf(entry.id, range.text, content, { shown, end: end < total ? end : null })
  return {
    content,
    extra: {
      lines: `${range.startLine}-${isCut ? shown : range.endLine}`,
      total_lines: total,
      ...(isCut ? { truncated: true, next: next() } : {}),
    },
  }
}

/**
 * Returns the call that reads the next part: the following lines, or the same line with more tokens if that line was cut.
 *
 * @param text the text that was cut to `content`
 * @param lines the last line shown, and the last line requested; null for the end
 */
function nextOf(id: number, text: string, content: string, lines: { shown: number; end: number | null }): string {
  const rest = text.slice(content.length)
  const isLineCut = rest !== '' && rest[0] !== '\n' && rest[0] !== '\r'
  const from = isLineCut ? lines.shown : lines.shown + 1
  const range = `"lines": "${from}-${lines.end ?? ''}"`
  if (!isLineCut) return `fetch {"id": ${id}, ${range}}`
  const tokens = Math.min(32_000, Math.ceil(text.length / 3.5) + 500)
  return `fetch {"id": ${id}, ${range}, "max_tokens": ${tokens}}`
}

/** Returns complete lines from the start of a text, within a number of code points; a longer first line is cut. */
function firstLines(text: string, most: number): string {
  if (codePointLength(text) <= most) return text
  const cut = firstCodePoints(text, most)
  const end = cut.lastIndexOf('\n')
  return end > 0 ? cut.slice(0, end) : cut
}

function completeOf(entry: Entry, most: number): Shown {
  const content = firstLines(entry.text, most)
  if (content.length === entry.text.length) return { content }
  const next = nextOf(entry.id, entry.text, content, { shown: content.split('\n').length, end: null })
  return { content, extra: { truncated: true, total_chars: codePointLength(entry.text), next } }
}

/** Serializes a memory, cut to a number of characters of JSON. */
async function shown(
  context: CallContext,
  entry: Entry,
  args: Arguments,
  most: number,
): Promise<Record<string, unknown>> {
  const head = headOf(entry)
  let budget = Math.max(200, most - JSON.stringify(head).length - 200)
  const hasPart = [args.lines, args.heading, args.around].some((one) => one !== undefined)
  for (let tries = 0; ; tries++) {
    const { content, extra = {} } = hasPart ? await partOf(context, entry, args, budget) : completeOf(entry, budget)
    const size = JSON.stringify(content).length
    if (size <= budget + 2 || tries === 3) return { ...head, content, ...extra }
    budget = Math.floor((budget * budget) / size) - 10
  }
}

export const fetch = defineTool({
  family: core,
  name: 'fetch',
  title: 'Fetch',
  description: 'Read memories by ID, in full or in part.',
  example: { id: 7 },
  promise: 'CORE-10',
  budget: { tokens: 170, trips: 6, reads: [57, 57], writes: 0 },
  input,
  inspect: (args) => {
    const sound = soundArguments(input, args)
    if (areSound(args, sound, ['id', 'ids'])) checkPart(sound)
  },
  output: output({
    ...memoryOutput,
    next: z.string().optional(),
    memories: listOf(part('Memory', {}), 'With ids'),
    missing: listOf(z.int(), 'Id'),
    warnings: strings('Warning'),
  }),
  async handler(context, args) {
    checkPart(args)
    const { services, principal } = context
    const wanted = args.id === undefined ? [...new Set(args.ids ?? [])] : [args.id]
    const { entries, omitted } = await services.entries.readWithin(principal, wanted, RESULT_BYTES)
    const most = charactersOf(args.max_tokens)
    const imageArguments = { include_images: args.images, image_format: 'block' } as const
    if (args.id !== undefined) {
      const [entry] = entries
      if (entry === undefined) throw noSuchEntry(args.id)
      const one = await shown(context, entry, args, most)
      const [result] = await withImages(context, [{ entry, shown: one }], imageArguments, 0)
      return result as Record<string, unknown>
    }
    const kept: { readonly entry: Entry; readonly shown: Record<string, unknown> }[] = []
    const left = [...omitted]
    let budget = most - 100
    for (const [i, entry] of entries.entries()) {
      const share = Math.floor(budget / (entries.length - i))
      if (budget < 300 && kept.length > 0) {
        left.push(entry.id)
        continue
      }
      const one = await shown(context, entry, args, Math.max(300, share))
      budget -= JSON.stringify(one).length + 1
      kept.push({ entry, shown: one })
      await scheduler.tick(entry.text.length)
    }
    const found = new Set([...entries.map((entry) => entry.id), ...omitted])
    return {
      memories: await withImages(context, kept, imageArguments, 0),
      ...lean({ missing: wanted.filter((one) => !found.has(one)), omitted: left }),
    }
  },
})
