import * as z from 'zod'
import { contentTypeOf, type Entry, type EntryPreview } from '../../domain/entry/entry'
import { truncate } from '../../domain/text'
import { formatSecond } from '../../domain/time'
import { VECTORS_LATER } from '../../services/writing/entries/store-entries'
import { archivedNote } from '../../services/writing/entries/update-entries'
import { listOf, part, strings } from '../fields'
import { provenance } from '../provenance'

/** Returns the member with the ID of the entry that supersedes this one, if any. */
const replaced = ({ supersededBy }: Pick<Entry, 'supersededBy'>) =>
  supersededBy === undefined ? {} : { superseded_by: supersededBy }

/** Serializes a complete entry as `get_context_by_ids` returns it, without summary. */
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

/** Serializes an entry as searches return it, with a truncated text. */
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

/** Output members of complete and truncated entries. */
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

/** Output members of all searches. */
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

/** Formats the suffix of a message, such as " (embedding generated)"; empty without parts. */
export const bracket = (parts: readonly string[]): string => (parts.length === 0 ? '' : ` (${parts.join(', ')})`)

/** An entry after a write. */
export interface Written {
  readonly id: number
  readonly made: readonly string[]
  readonly archived?: boolean
  readonly warnings?: readonly string[]
}

/** Returns warnings of a write: pending vectors, archived entries, and others. */
export function later(written: readonly Written[]): { warnings?: string[] } {
  const queued = written.some(({ made }) => made.includes('embedding queued'))
  const warnings = [
    ...(queued ? [VECTORS_LATER] : []),
    ...archivedNote(written.filter(({ archived }) => archived).map(({ id }) => id)),
    ...new Set(written.flatMap(({ warnings = [] }) => warnings)),
  ]
  return warnings.length === 0 ? {} : { warnings }
}
