import * as z from 'zod'
import { hasEnded } from '../../domain/currency/validity'
import type { EntryPreview } from '../../domain/entry/entry'
import { titleOf } from '../../domain/entry/title'
import { inspected } from '../../domain/flaws'
import { cutAround } from '../../domain/pack/content'
import { expressionPattern } from '../../domain/reading/expression'
import { literalPattern, narrowingOf } from '../../domain/reading/literal'
import { and, type Filter } from '../../domain/search/filter'
import { MAX_OFFSET } from '../../domain/search/window'
import { codePointLength, trim } from '../../domain/text'
import type { RankedResult } from '../../services/searching/ranked/ranked-page'
import type { CallContext } from '../context'
import { defineTool } from '../define-tool'
import { flag, jsonObject, listOf, output, part, strings } from '../fields'
import { laterMember } from '../may-replace'
import { soundArguments } from '../parse-arguments'
import { namedProject } from '../project'
import { MAX_QUERY } from '../query-field'
import { score } from '../threads/scores'
import { core } from './family'
import { conditions, DEFAULT_ANSWER, fields, inProject, lean, memoryOutput, ofProject, shownMemory } from './vocabulary'
import { whereOf } from './where'

const MODES = ['hybrid', 'words', 'meaning', 'exact', 'regex'] as const

/** Characters of ten results: 1,500 tokens. Longer lists share those of a default answer. */
const TEN = 6_000
const EXCERPT = { most: 600, least: 60 } as const
const MAX_RESULTS = 50
/** Entries that one search for exact text looks through. */
const SCANNED = 1_000

const input = z.strictObject({
  query: z
    .string()
    .refine((query) => codePointLength(query) <= MAX_QUERY, { error: `query has more than ${MAX_QUERY} characters` })
    .optional()
    .meta({ description: 'Question or words; omit: newest' }),
  mode: z.enum(MODES).optional().meta({ description: 'Default hybrid; exact, regex: within lines' }),
  project: fields.project,
  kind: fields.kinds,
  tags: fields.tags,
  by: fields.by,
  since: fields.since,
  until: fields.until,
  thread: fields.thread,
  where: jsonObject('Metadata: {"n": {"gte": 3}}', 'status').optional(),
  limit: z.int().optional().meta({ description: 'At most 50; default 10' }),
  offset: z.int().min(0).max(MAX_OFFSET).default(0).meta({ description: 'To skip' }),
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
}

interface FoundPage {
  readonly found: readonly Found[]
  readonly total: number | null
  readonly more: boolean
  readonly warnings: readonly string[]
}

/** @throws Problem invalid_input with all that is wrong */
const filterOf = (args: Partial<Given>, now: number): Filter =>
  and([...conditions(args, now), ...whereOf(args.where ?? {})])

/** The newest memories that the filter admits. */
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
    found: page.results.map(
      (one): Found => ({
        ...{ entry: one.entry, excerpt: one.excerpt ?? '', scores: scoresOf(one) },
        later: one.later,
      }),
    ),
    total: page.total,
    more: page.total > offset + page.results.length,
    warnings: page.warnings,
  }
}

/** Memories with a matching line, newest first; the excerpt is the matching lines with their numbers. */
async function grepped(
  { services }: CallContext,
  scope: CallContext['principal'],
  filter: Filter,
  { query = '', mode, limit, offset }: Arguments,
): Promise<FoundPage> {
  const pattern = inspected((wrong) =>
    wrong.check('query', query, () =>
      mode === 'regex' ? expressionPattern(query, false) : literalPattern(query, false),
    ),
  )
  const found = await services.grepTexts(scope, {
    pattern: pattern as NonNullable<typeof pattern>,
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
      const text = lines.map(({ number, line }) => `${number}: ${line}`).join('\n')
      return [{ entry, excerpt: cutAround({ text, at: [0], goesOn: { before: false, after: false } }, EXCERPT.most) }]
    }),
    total: found.nextBeforeId === null ? found.entries.length : null,
    more: found.nextBeforeId !== null || found.entries.length > offset + page.length,
    warnings:
      found.nextBeforeId === null ? [] : [`Only the newest ${found.scanned} memories were searched: add a filter`],
  }
}

/** Results that fit: every one keeps its head, excerpts share what is left. */
function fitted(found: readonly Found[], limit: number, explain: boolean, now: number) {
  const budget = limit <= 10 ? TEN : DEFAULT_ANSWER
  const heads = found.map(({ entry, scores, later }) => ({
    ...{
      ...shownMemory(entry),
      ...laterMember(later ?? []),
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

/** A text, cut so that its JSON stays within a number of characters. */
function shortenedTo(text: string, most: number): string {
  let wanted = most
  for (let tries = 0; tries < 4; tries++) {
    const cut = codePointLength(text) <= wanted ? text : `${[...text].slice(0, Math.max(1, wanted - 1)).join('')}…`
    const size = JSON.stringify(cut).length
    if (size <= most + 2) return cut
    wanted = Math.floor((wanted * most) / size)
  }
  return ''
}

export const search = defineTool({
  family: core,
  name: 'search',
  title: 'Search',
  description: 'Find memories by question, words or filters; shows excerpts.',
  input,
  output: output({
    results: listOf(part('Memory', memoryOutput), 'Best first'),
    total: z.int(),
    more: z.boolean(),
    warnings: strings('Warning'),
  }),
  inspect: (args, { services }) => void filterOf(soundArguments(input, args), services.now()),
  async handler(context, given) {
    const limit = Math.max(1, Math.min(given.limit ?? 10, MAX_RESULTS))
    const args = { ...given, limit }
    const scope = inProject(context.principal, args.project)
    const filter = filterOf(args, context.services.now())
    const isBlank = trim(args.query ?? '') === ''
    // A list of a project holds the memories of the project alone; an answer to a question may also belong to none.
    const named = namedProject(context.principal, args.project)
    const listed = named === null ? filter : and([filter, ofProject(context.principal, named)])
    const page = isBlank
      ? await newest(context, scope, listed, args)
      : args.mode === 'exact' || args.mode === 'regex'
        ? await grepped(context, scope, filter, args)
        : await ranked(context, scope, filter, args)
    const results = fitted(page.found, args.limit, args.explain, context.services.now())
    const omitted = page.found.slice(results.length).map(({ entry }) => ({ id: entry.id, title: titleOf(entry) }))
    return {
      results,
      ...lean({ more: page.more, total: page.more ? page.total : null, omitted, warnings: page.warnings }),
    }
  },
})
