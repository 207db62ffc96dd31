import { z } from 'zod'
import { codePointLength, trim } from '../../domain/text'
import { clampLimit, RANK_DEPTH, reachesBeyondRankDepth, type Window } from '../../domain/window'
import type { RankedResult } from '../../services/ranked-search'
import type { ToolContext } from '../context'
import { flag, limit, offset } from '../fields'
import { filterFields } from '../filters'
import { clampedOutput, foundEntry, foundEntryOutput, imagesToWire } from './wire'

/** What the three ranked searches share on the wire (threads contract §8). */
const MAX_QUERY = 10_000

export const queryField = z
  .string()
  .refine((query) => trim(query) !== '', { error: 'query cannot be empty or whitespace' })
  .refine((query) => codePointLength(query) <= MAX_QUERY, {
    error: `query has more than ${MAX_QUERY} characters`,
  })
  .meta({ minLength: 1, maxLength: MAX_QUERY, description: 'What to look for' })

/** Arguments of every ranked search beside its own. */
export const rankedInput = {
  ...filterFields,
  limit: limit(5),
  offset,
  include_images: flag(false, 'Bring image data too'),
  explain_query: flag(false, 'Add stats about how the search ran'),
}

export const rankedOutput = {
  results: z.array(foundEntryOutput),
  count: z.int(),
  total: z.int(),
  has_more: z.boolean(),
  clamped_limit: clampedOutput,
  rank_depth_limit: z.looseObject({ requested_offset: z.int(), requested_limit: z.int(), rank_depth: z.int() }),
  warnings: z.array(z.string()),
  validation_errors: z.array(z.string()),
}

/** The window to search, and the notes that the result carries when it is not the one that was asked for. */
export function readWindow(args: Window): { request: Window; notes: Record<string, unknown> } {
  const { limit, clamped } = clampLimit(args.limit)
  const request = { limit, offset: args.offset }
  const depth = { requested_offset: args.offset, requested_limit: limit, rank_depth: RANK_DEPTH }
  return {
    request,
    notes: {
      ...(clamped ? { clamped_limit: clamped } : {}),
      ...(reachesBeyondRankDepth(request) ? { rank_depth_limit: depth } : {}),
    },
  }
}

export const counts = (offset: number, count: number, total: number) => ({
  count,
  total,
  has_more: offset + count < total,
})

/** Entries of a page with what the tool adds to each, images last. */
export async function rankedEntries(
  context: ToolContext,
  results: readonly RankedResult[],
  args: { readonly include_images: boolean },
  extra: (result: RankedResult) => Record<string, unknown>,
): Promise<Record<string, unknown>[]> {
  const entries = results.map(({ entry }) => entry)
  const images = args.include_images ? await imagesToWire(context, entries) : null
  return results.map((result) => ({
    ...foundEntry(result.entry, context.config.truncationLength),
    ...extra(result),
    ...(images && result.entry.images.length > 0 ? { images: images.get(result.entry.id) } : {}),
  }))
}
