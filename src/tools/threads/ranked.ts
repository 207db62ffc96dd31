import * as z from 'zod'
import { clampLimit, RANK_DEPTH, reachesBeyondRankDepth, type Window } from '../../domain/search/window'
import type { RankedResult } from '../../services/searching/ranked/ranked-page'
import type { CallContext } from '../context'
import { explainQuery, includeImages, limit, offset, part, strings } from '../fields'
import { filterFields } from '../filters'
import { type ImageArguments, imageFormat, withImages } from '../images'
import { fitting, omittedMember } from '../result-size'
import { foundEntry, pageOutput } from './entry-serializer'

/** Arguments that all ranked searches share (threads contract §8). */
export const rankedInput = {
  ...filterFields,
  limit: limit(5),
  offset,
  include_images: includeImages(false),
  image_format: imageFormat,
  explain_query: explainQuery,
}

/** Results that all ranked searches share. */
export const rankedOutput = {
  query: z.string(),
  ...pageOutput,
  rank_depth_limit: part('When the page reaches beyond the best 100', {}),
  warnings: strings('Warning'),
}

/** Returns the window to search, and notes for the result if it differs from the request. */
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

/** Serializes the entries of a page with the members of the tool and images, and lists entries without space. */
export async function rankedEntries(
  context: CallContext,
  results: readonly RankedResult[],
  args: ImageArguments,
  extra: (result: RankedResult) => Record<string, unknown>,
): Promise<{ readonly results: Record<string, unknown>[]; readonly omitted: ReturnType<typeof omittedMember> }> {
  const { kept, omitted, left } = await fitting(
    results.map((result) => ({
      entry: result.entry,
      show: () => ({ ...foundEntry(result.entry, context.config.truncationLength), ...extra(result) }),
    })),
  )
  return { results: await withImages(context, kept, args, left), omitted: omittedMember(omitted) }
}

/** Rounds a score to four significant digits (threads contract §6.4, §7). The order uses the unrounded value. */
export const score = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(4)))

/** Rounds a distance to four decimals. */
export const distance = (value: number | null): number | null =>
  value === null ? null : Math.round(value * 10_000) / 10_000
