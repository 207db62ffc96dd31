import * as z from 'zod'
import { contentTypeOf, type Entry, type EntryPreview } from '../../domain/entry/entry'
import { truncate } from '../../domain/text'
import { formatSecond } from '../../domain/time'
import { VECTORS_LATER } from '../../services/writing/entries/store-entries'
import { archivedNote } from '../../services/writing/entries/update-entries'
import { listOf, part, strings } from '../fields'
import { provenance } from '../provenance'

/** How the threads family spells an entry (threads contract §1). */

/** Which entry holds in its place, so that nobody takes it for what stands. */
const replaced = ({ supersededBy }: Pick<Entry, 'supersededBy'>) =>
  supersededBy === undefined ? {} : { superseded_by: supersededBy }

/** An entry as `get_context_by_ids` returns it: whole, without summary. */
export const completeEntry = (entry: Entry): Record<string, unknown> => ({
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
  ...provenance(entry),
  ...(entry.archived ? { archived: true } : {}),
  ...replaced(entry),
})

/** An entry as the searches return it: truncated. */
export function foundEntry(entry: EntryPreview, truncationLength: number): Record<string, unknown> {
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
    ...(shown.truncated ? { total_chars: entry.chars } : {}),
    ...provenance(entry),
    ...replaced(entry),
  }
}

const imageOutput = part('Image', {
  mime_type: z.string(),
  size: z.int(),
  sha256: z.string(),
  url: z.string(),
  block: z.int().meta({ description: 'Its index in content' }),
  data: z.string().meta({ description: 'Base64, inline only' }),
})

/** What both shapes of an entry have. */
const entryOutput = {
  id: z.int(),
  thread_id: z.string(),
  source: z.string(),
  content_type: z.string(),
  text_content: z.string(),
  metadata: z.looseObject({}).meta({ description: 'As stored' }).nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  version: z.int(),
  tags: strings('Tag'),
  images: z.array(imageOutput),
  superseded_by: z.int(),
  by: z.string().meta({ description: 'Agent and key' }),
  captured: z.boolean(),
  imported: z.boolean(),
  approved: z.boolean().meta({ description: 'By a person' }),
}

export const completeEntryOutput = part('Entry', { ...entryOutput, archived: z.boolean() })

const foundEntryOutput = part('Entry', {
  ...entryOutput,
  summary: z.string(),
  is_text_content_truncated: z.boolean(),
  total_chars: z.int(),
})

export const omittedOutput = listOf(z.int(), 'ID of an entry that did not fit; fetch it alone')

/** What all searches answer. */
export const pageOutput = {
  results: z.array(foundEntryOutput),
  count: z.int(),
  total: z.int(),
  has_more: z.boolean(),
  omitted: omittedOutput,
  stats: part('With explain_query', {}),
  clamped_limit: part('When limit was above 100', {}),
  validation_errors: strings('A bad filter'),
}

/** The bracket that says what happened beside the store: nothing happened, no bracket. */
export const bracket = (parts: readonly string[]): string => (parts.length === 0 ? '' : ` (${parts.join(', ')})`)

/** An entry as a write has left it. */
export interface Written {
  readonly id: number
  readonly made: readonly string[]
  readonly archived?: boolean
  readonly warnings?: readonly string[]
}

/** What to tell of a write some of whose vectors are still to be made, or that nobody finds. */
export function later(written: readonly Written[]): { warnings?: string[] } {
  const queued = written.some(({ made }) => made.includes('embedding queued'))
  const warnings = [
    ...(queued ? [VECTORS_LATER] : []),
    ...archivedNote(written.filter(({ archived }) => archived).map(({ id }) => id)),
    ...new Set(written.flatMap(({ warnings = [] }) => warnings)),
  ]
  return warnings.length === 0 ? {} : { warnings }
}
