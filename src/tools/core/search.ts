import * as z from 'zod'
import { hasEnded } from '../../domain/currency/validity'
import { sourceNote } from '../../domain/entry/citation'
import type { EntryPreview } from '../../domain/entry/entry'
import { titleOf } from '../../domain/entry/title'
import { cutAround } from '../../domain/pack/passages'
import { literalPattern, narrowingOf } from '../../domain/reading/literal'
import { expressionLibrary, expressionPattern } from '../../domain/reading/regular-expression'
import type { Pattern } from '../../domain/reading/search-pattern'
import { includesCaptured } from '../../domain/search/captured'
import { and, type Filter, ofProject } from '../../domain/search/filter'
import { MAX_OFFSET } from '../../domain/search/window'
import { codePointLength, trim } from '../../domain/text'
import { collectIssues } from '../../domain/validation'
import { ownCaptured } from '../../services/capture/own-sessions'
import type { RankedResult } from '../../services/searching/ranked/ranked-page'
import type { CallContext } from '../context'
import { defineTool } from '../define-tool'
import { flag, jsonObject, listOf, output, part, strings } from '../fields'
import { laterMember } from '../may-replace'
import { soundArguments } from '../parse-arguments'
import { namedProject } from '../project'
import { MAX_QUERY } from '../query-field'
import { score } from '../threads/ranked'
import { core } from './family'
import {
  conditions,
  DEFAULT_ANSWER,
  fields,
  inProject,
  lean,
  loadsTimes,
  memoryOutput,
  shortenedTo,
  shownMemory,
  unknownProject,
  whereOf,
} from './vocabulary'

const MODES = ['hybrid', 'words', 'meaning', 'exact', 'regex'] as const

/** Characters of up to ten results: 1,500 tokens. Longer lists use the budget of a default answer. */
const TEN = 6_000
const EXCERPT = { most: 600, least: 60 } as const
const MAX_RESULTS = 50
/** Returns the number of results that a call asks for, within the bounds. */
export const limitOf = (given: number | undefined): number => Math.max(1, Math.min(given ?? 10, MAX_RESULTS))
/** Entries that one search for exact text scans. */
const SCANNED = 1_000

const input = z.strictObject({
  query: z
    .string()
    .refine((query) => codePointLength(query) <= MAX_QUERY, { error: `query has more than ${MAX_QUERY} characters` })
    .optional()
    .meta({ description: 'Question or words; omit for newest' }),
  mode: z.enum(MODES).optional().meta({ description: 'Default hybrid; exact, regex match lines' }),
  project: fields.project,
  kind: fields.kinds,
  tags: fields.tags,
  by: fields.by,
  since: fields.since,
  until: fields.until,
  thread: fields.thread,
  captured: fields.captured,
  where: jsonObject('Metadata: {"n": {"gte": 3}}', 'status').optional(),
  limit: z.int().optional().meta({ description: '≤ 50; default 10' }),
  offset: z.int().min(0).max(MAX_OFFSET).default(0).meta({ description: 'Results to skip' }),
  explain: flag(false, 'Add scores'),
})
type Given = z.output<typeof input>
type Arguments = Given & { readonly limit: number }

interface Found {
  readonly entry: EntryPreview
  /** The part of the text that matches. */
  readonly excerpt: string
  readonly scores?: Record<string, unknown>
  /** IDs of later memories of the page on the same subject. */
  readonly later?: readonly number[]
  /** IDs of the later memories that a model judged to contradict this one. */
  readonly otherwise?: readonly number[]
}

interface FoundPage {
  readonly found: readonly Found[]
  readonly total: number | null
  readonly more: boolean
  readonly warnings: readonly string[]
}

/** Builds the filter of a call. @throws Problem invalid_input that lists every problem */
const filterOf = (args: Partial<Given>, now: number): Filter =>
  and([...conditions(args, now), ...whereOf(args.where ?? {})])

/** Returns the newest memories that match the filter. */
async function newest({ services }: CallContext, scope: CallContext['principal'], filter: Filter, args: Arguments) {
  const window = { limit: args.limit, offset: args.offset, previewLength: EXCERPT.most }
  const page = await services.entries.page(scope, filter, window)
  return {
    found: page.entries.map((entry): Found => ({ entry, excerpt: beginning(entry) })),
    total: page.totalIsExact === false ? null : page.total,
    more: page.total > args.offset + page.entries.length,
    warnings: [],
  }
}

const beginning = ({ text, chars }: EntryPreview): string =>
  cutAround({ text, at: [0], goesOn: { before: false, after: chars > codePointLength(text) } }, EXCERPT.most)

const scoresOf = ({ fused, ftsScore, distance, rerankScore }: RankedResult): Record<string, unknown> =>
  lean({ score: score(fused), words: score(ftsScore), distance: score(distance), rerank: score(rerankScore) })

async function ranked(
  { services, config }: CallContext,
  scope: CallContext['principal'],
  filter: Filter,
  { query = '', mode, limit, offset }: Arguments,
): Promise<FoundPage> {
  const request = { query, filter, limit, offset, previewLength: 300, excerpt: EXCERPT.most, laterFirst: true }
  const { byWords, byMeaning, byBoth } = services.rankedSearches
  const page =
    mode === 'words'
      ? await byWords(scope, { ...request, mode: 'match', highlight: false })
      : mode === 'meaning'
        ? await byMeaning(scope, request)
        : await byBoth(scope, {
            ...request,
            method: config.hybrid.fusion,
            k: config.hybrid.k,
            legs: { fts: config.fts.enabled, semantic: config.semantic.enabled },
          })
  return {
    found: page.results.map(foundOf),
    total: page.total,
    more: page.total > offset + page.results.length,
    warnings: page.warnings,
  }
}

const patternOf = (mode: Arguments['mode'], query: string): Pattern =>
  collectIssues((wrong) =>
    wrong.check('query', query, () =>
      mode === 'regex' ? expressionPattern(query, false) : literalPattern(query, false),
    ),
  ) as Pattern

type Lines = readonly { readonly number: number; readonly line: string }[]

/** Formats matching lines with their numbers. */
const linesOf = (lines: Lines): string =>
  cutAround(
    {
      text: lines.map(({ number, line }) => `${number}: ${line}`).join('\n'),
      at: [0],
      goesOn: { before: false, after: false },
    },
    EXCERPT.most,
  )

/** Searches the lines of the owner's captured sessions. */
async function grepOwn({ services }: CallContext, scope: CallContext['principal'], filter: Filter, args: Arguments) {
  const pattern = patternOf(args.mode, args.query ?? '')
  const all = await services.capture.own.withLines(scope, pattern, filter)
  const found = all
    .slice(args.offset, args.offset + args.limit)
    .map(({ entry, lines }): Found => ({ entry, excerpt: linesOf(lines) }))
  return { found, total: all.length, more: all.length > args.offset + found.length, warnings: [] }
}

/** Searches lines of memories, newest first; the excerpt contains the matching lines with their numbers. */
async function grepped(
  { services }: CallContext,
  scope: CallContext['principal'],
  filter: Filter,
  { query = '', mode, limit, offset }: Arguments,
): Promise<FoundPage> {
  const pattern = patternOf(mode, query)
  const found = await services.grepTexts(scope, {
    pattern,
    narrowing: mode === 'regex' ? null : narrowingOf(query, false),
    ...{ filter, ids: null, beforeId: null, context: 0, maxMatches: SCANNED, maxEntries: SCANNED },
  })
  const page = found.entries.slice(offset, offset + limit)
  const ids = page.map(({ id }) => id)
  const previews = new Map<number, EntryPreview>(
    (await services.entries.previews(scope, filter, ids, 300)).map((one) => [one.id, one]),
  )
  return {
    found: page.flatMap(({ id, lines }): Found[] => {
      const entry = previews.get(id)
      if (entry === undefined) return []
      return [{ entry, excerpt: linesOf(lines) }]
    }),
    total: found.nextBeforeId === null ? found.entries.length : null,
    more: found.nextBeforeId !== null || found.entries.length > offset + page.length,
    warnings:
      found.nextBeforeId === null ? [] : [`Only the newest ${found.scanned} memories were searched: add a filter`],
  }
}

/** Memories of a page that captured sessions may replace. */
const MOST_DISPLACED = 3

/** Matches warnings that no memory contains the words; they are wrong if a captured session does. */
const isOfNothing = (warning: string): boolean => /^(?:Nothing|No entry)\b/.test(warning)

/**
 * Appends the owner's captured sessions to a page.
 *
 * If the page is full, they replace memories that match the words worse; those are listed as omitted.
 */
function withOwn(
  page: FoundPage,
  own: readonly Found[],
  limit: number,
): FoundPage & { readonly displaced: readonly Found[] } {
  const wordsOf = ({ scores }: Found): number => Number(scores?.words ?? 0)
  const kept = [...page.found]
  const displaced: Found[] = []
  const added: Found[] = []
  for (const one of own) {
    const last = kept.at(-1)
    if (kept.length + added.length >= limit) {
      if (last === undefined || displaced.length === MOST_DISPLACED || wordsOf(last) >= wordsOf(one)) break
      displaced.unshift(kept.pop() as Found)
    }
    added.push(one)
  }
  const warnings = added.length === 0 ? page.warnings : page.warnings.filter((warning) => !isOfNothing(warning))
  return { ...page, found: [...kept, ...added], warnings, displaced }
}

/** Returns the owner's matching captured sessions if the call includes them. */
async function ownOf(
  call: CallContext,
  scope: CallContext['principal'],
  filter: Filter,
  args: Arguments,
): Promise<Found[]> {
  const { query = '', mode, offset } = args
  if (args.captured !== 'include' || offset > 0 || trim(query) === '' || includesCaptured(filter)) return []
  if (mode === 'exact' || mode === 'regex') {
    return (await grepOwn(call, scope, filter, args)).found
  }
  const request = { query, filter, limit: args.limit, excerpt: EXCERPT.most }
  return (await call.services.capture.own.holding(scope, request)).map(foundOf)
}

const foundOf = (one: RankedResult): Found => ({
  ...{ entry: one.entry, excerpt: one.excerpt ?? '', scores: scoresOf(one) },
  later: one.later,
  otherwise: one.otherwise,
})

/** Returns the note of a result: later memories on its subject, and a changed source. */
function noteMember({ metadata }: EntryPreview, of: Parameters<typeof laterMember>[0]): { readonly note?: string } {
  const note = [laterMember(of).note, sourceNote(metadata)].filter((part) => part !== undefined && part !== null)
  return note.length === 0 ? {} : { note: note.join('; ') }
}

/** Fits results into the budget: each keeps its members, and excerpts share the remaining characters. */
function fitted(found: readonly Found[], limit: number, explain: boolean, now: number) {
  const budget = limit <= 10 ? TEN : DEFAULT_ANSWER
  const heads = found.map(({ entry, scores, later, otherwise }) => ({
    ...{
      ...shownMemory(entry),
      ...noteMember(entry, { later, otherwise }),
      ...(hasEnded(entry.metadata, now) ? { ended: true } : {}),
      ...(explain ? { scores } : {}),
    },
  }))
  const shown: Record<string, unknown>[] = []
  let left = budget - 300
  for (const [i, head] of heads.entries()) {
    const size = JSON.stringify(head).length + 30
    const rest = heads.slice(i + 1).reduce((sum, other) => sum + JSON.stringify(other).length + 30, 0)
    const share = Math.floor((left - size - rest) / (heads.length - i))
    if (left - size < EXCERPT.least) break
    const { entry, excerpt } = found[i] as Found
    const content = shortenedTo(excerpt, Math.max(EXCERPT.least, Math.min(EXCERPT.most, share)))
    const isPart = codePointLength(content) < entry.chars
    const one = { ...head, content, ...(isPart ? { total_chars: entry.chars } : {}) }
    left -= JSON.stringify(one).length + 1
    shown.push(one)
  }
  return shown
}

export const search = defineTool({
  family: core,
  name: 'search',
  title: 'Search',
  description: 'Find memories by question, words or filters. Returns excerpts.',
  example: { query: 'why did a refund pay twice?', project: 'ferry', limit: 1 },
  promise: 'CORE-9',
  budget: { tokens: 350, trips: 5, reads: [12_050, 31_600], writes: 0 },
  input,
  output: output({
    results: listOf(part('Memory', memoryOutput), 'Best first'),
    total: z.int(),
    more: z.boolean(),
    warnings: strings('Warning'),
  }),
  loads: (args) => Promise.all([args.mode === 'regex' ? expressionLibrary.load() : null, loadsTimes(args)]),
  inspect: (args, { services }) => void filterOf(soundArguments(input, args), services.now()),
  async handler(context, given) {
    const limit = limitOf(given.limit)
    const args = { ...given, limit }
    const scope = inProject(context.principal, args.project)
    const wanted = filterOf(args, context.services.now())
    const filter = args.captured === 'only' ? and([wanted, ownCaptured(scope)]) : wanted
    const isBlank = trim(args.query ?? '') === ''
    // A list of a project contains only its memories; search results for a question also include memories without a project.
    const named = namedProject(context.principal, args.project)
    const listed = named === null ? filter : and([filter, ofProject('project', context.principal, named)])
    const finding = isBlank
      ? newest(context, scope, listed, args)
      : args.mode === 'exact' || args.mode === 'regex'
        ? (args.captured === 'only' ? grepOwn : grepped)(context, scope, filter, args)
        : ranked(context, scope, filter, args)
    const [memories, own] = await Promise.all([finding, ownOf(context, scope, filter, args)])
    const page = withOwn(memories, own, limit)
    const unknown = await unknownProject(
      context,
      args.project,
      page.found.map(({ entry }) => entry.project),
    )
    const results = fitted(page.found, args.limit, args.explain, context.services.now())
    const left = [...page.displaced, ...page.found.slice(results.length)]
    const omitted = left.map(({ entry }) => ({ id: entry.id, title: titleOf(entry) }))
    return {
      results,
      ...lean({
        more: page.more,
        total: page.more ? page.total : null,
        omitted,
        warnings: [...unknown, ...page.warnings],
      }),
    }
  },
})
