import { z } from 'zod'
import { contentTypeOf, type Entry } from '../../domain/entry'
import { truncate } from '../../domain/text'
import { formatSecond } from '../../domain/time'
import { type LoadedImage, loadImages } from '../../services/image-transfer'
import type { ToolContext } from '../context'

/** How the threads family spells an entry (threads contract §1). */

function imageToWire(image: LoadedImage, origin: string): Record<string, unknown> {
  return {
    ...(image.bytes === null ? {} : { data: image.bytes.toBase64() }),
    mime_type: image.mimeType,
    ...(image.metadata === undefined ? {} : { metadata: image.metadata }),
    url: `${origin}/images/${image.hash}`,
    ...(image.bytes === null ? { data_omitted: true } : {}),
  }
}

/** The `images` member by entry id; entries without images have none. */
export async function imagesToWire(
  context: ToolContext,
  entries: readonly Entry[],
): Promise<Map<number, Record<string, unknown>[]>> {
  const loaded = await loadImages(context.services.images, context.principal, entries)
  return new Map(
    [...loaded].map(([id, images]) => [id, images.map((image) => imageToWire(image, context.origin))] as const),
  )
}

/** An entry as `get_context_by_ids` returns it: whole, without summary. */
export const wholeEntry = (entry: Entry): Record<string, unknown> => ({
  id: entry.id,
  thread_id: entry.threadId,
  source: entry.source,
  content_type: contentTypeOf(entry),
  text_content: entry.text,
  metadata: entry.metadata,
  created_at: formatSecond(entry.createdAt),
  updated_at: formatSecond(entry.updatedAt),
  version: entry.version,
  tags: entry.tags,
  ...(entry.archived ? { archived: true } : {}),
})

/** An entry as the searches return it: truncated. */
export function foundEntry(entry: Entry, truncationLength: number): Record<string, unknown> {
  const shown = truncate(entry.text, truncationLength)
  return {
    id: entry.id,
    thread_id: entry.threadId,
    source: entry.source,
    content_type: contentTypeOf(entry),
    text_content: shown.text,
    metadata: entry.metadata,
    summary: entry.summary,
    created_at: formatSecond(entry.createdAt),
    updated_at: formatSecond(entry.updatedAt),
    version: entry.version,
    tags: entry.tags,
    is_text_content_truncated: shown.truncated,
  }
}

const imageOutput = z.looseObject({
  data: z.string().optional(),
  mime_type: z.string(),
  url: z.string(),
  data_omitted: z.boolean().optional(),
})

/** Output schemas of the two shapes. */
export const wholeEntryOutput = z.looseObject({
  id: z.int(),
  thread_id: z.string(),
  source: z.string(),
  content_type: z.string(),
  text_content: z.string(),
  metadata: z.looseObject({}).nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  version: z.int(),
  tags: z.array(z.string()),
  images: z.array(imageOutput).optional(),
  archived: z.boolean().optional(),
})

export const foundEntryOutput = z.looseObject({
  ...wholeEntryOutput.omit({ archived: true }).shape,
  summary: z.string(),
  is_text_content_truncated: z.boolean(),
  scores: z.looseObject({}).optional(),
  highlighted: z.string().nullable().optional(),
})

/** Part of a result when a limit above 100 was asked for. */
export const clampedOutput = z.looseObject({ requested: z.int(), applied: z.int() })

/** The bracket that says what happened beside the store: nothing happened, no bracket. */
export const bracket = (parts: readonly string[]): string => (parts.length === 0 ? '' : ` (${parts.join(', ')})`)
