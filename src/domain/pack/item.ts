// Converts ranked entries to items of a pack.

import { type JsonValue, type Metadata, own } from '../entry/metadata'
import { titleOf } from '../entry/title'
import { jsonText } from '../json/write'
import { codePointLength, firstCodePoints } from '../text'
import type { PackEntry } from './candidate'
import type { PackItem, Quality } from './pack'
import { type RankedEntry, reasonOf } from './rank-entries'

const iso = (ms: number): string => new Date(ms).toISOString()

const MAX_SOURCE = 500
const textOf = (metadata: Metadata | null, ...keys: string[]): string | null => {
  for (const key of keys) {
    const value = own(metadata, key)
    if (typeof value === 'string' && value.trim() !== '' && value.length <= MAX_SOURCE) return value
  }
  return null
}

function qualityOf({ id, createdBy, metadata, createdAt, updatedAt, project }: PackEntry): Quality {
  return {
    origin: createdBy,
    source: textOf(metadata, 'source') ?? String(id),
    url: textOf(metadata, 'source_url', 'url'),
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
    valid_at: textOf(metadata, 'valid_at'),
    project_id: project,
  }
}

/** Metadata keys with their own place in an item, which are not repeated. */
const SAID = [
  ...['title', 'task_name', 'kind', 'type', 'project', 'domain', 'category', 'source', 'source_url', 'url', 'valid_at'],
  ...[
    'tags',
    'supersedes',
    'conflicts_with',
    'later',
    'contradicts',
    'depends_on',
    'references',
    'learnings',
    'pinned',
    'sources',
    'weight',
  ],
  ...[
    'confidence',
    'expires_at',
    'audience',
    'diary',
    'agent_name',
    'status',
    'version',
    'captured',
    'imported',
    'approved',
  ],
]
/** Maximum characters of one further metadata field, and of all of them. */
const LARGEST_FIELD = 200
const LARGEST_FIELDS = 500

function furtherFields(metadata: Metadata | null): Metadata {
  const fields: Metadata = Object.create(null)
  let size = 0
  for (const [key, value] of Object.entries(metadata ?? {})) {
    if (SAID.includes(key) || value === null) continue
    const taken = key.length + jsonText(value).length
    if (taken > LARGEST_FIELD || size + taken > LARGEST_FIELDS) continue
    fields[key] = value
    size += taken
  }
  return fields
}

/** The metadata of an item: status, links and values that differ from their defaults. */
function metadataOf(
  { entry, evidence: { replacedBy } }: RankedEntry,
  supersedes: readonly number[],
  contradicts: readonly number[],
): Metadata {
  const {
    tags,
    status,
    pinned,
    weight,
    confidence,
    expiresAt,
    version,
    reader,
    diary,
    agent,
    domain,
    imported,
    approved,
  } = entry
  const known: Record<string, JsonValue | undefined> = {
    status: status ?? undefined,
    tags: tags.length > 0 ? [...tags].slice(0, 20) : undefined,
    domain: domain ?? undefined,
    agent: agent ?? undefined,
    audience: reader === '' ? undefined : 'private',
    diary: diary || undefined,
    pinned: pinned || undefined,
    weight: weight === 3 ? undefined : weight,
    confidence: confidence ?? undefined,
    expires_at: expiresAt === null ? undefined : iso(expiresAt),
    version: version === 1 ? undefined : version,
    imported: imported || undefined,
    approved: approved || undefined,
    supersedes: supersedes.length > 0 ? supersedes.map(String) : undefined,
    conflicts_with: contradicts.length > 0 ? contradicts.map(String) : undefined,
    later: replacedBy === null ? undefined : String(replacedBy),
  }
  const metadata = furtherFields(entry.metadata)
  for (const [key, value] of Object.entries(known)) if (value !== undefined) metadata[key] = value
  return metadata
}

const shown = (score: number): number => Number(score.toPrecision(4))

/** Maximum code points of the name of an entry without a title, whose first words are in its content too. */
const FIRST_WORDS = 40

function nameOf({ title, beginning }: PackEntry): string {
  const name = titleOf({ title, text: beginning })
  if ((title ?? '').trim() !== '' || codePointLength(name) <= FIRST_WORDS) return name
  const first = firstCodePoints(name, FIRST_WORDS)
  const space = first.lastIndexOf(' ')
  return `${space > FIRST_WORDS / 2 ? first.slice(0, space) : first}…`
}

/** The members of an item that identify an omitted entry. */
export const headOf = ({ entry, score }: RankedEntry): Pick<PackItem, 'name' | 'type' | 'score'> => ({
  name: nameOf(entry),
  type: entry.kind,
  score: shown(score),
})

/** An item without content and linked entries. */
export function itemOf(
  weighed: RankedEntry,
  supersedes: readonly number[] = [],
  contradicts: readonly number[] = [],
): PackItem {
  const { entry, facet } = weighed
  const { type, name, score } = headOf(weighed)
  const quality = qualityOf(entry)
  return {
    id: String(entry.id),
    ...{ type, name, content: '', score, facet },
    reason: reasonOf(weighed),
    source: quality.source,
    quality,
    metadata: metadataOf(weighed, supersedes, contradicts),
    related: [],
  }
}

/**
 * Lengths in an item with as few fields as possible. Its keys alone take 300 of the 400 characters of the smallest
 * pack.
 */
const BARE = { name: 40, reason: 24 } as const
/** Metadata keys that an item always contains. */
const WARNINGS = ['status', 'supersedes', 'conflicts_with', 'later']

const cut = (text: string, most: number): string =>
  codePointLength(text) > most ? `${firstCodePoints(text, most - 1)}…` : text

/** The item with only the fields it cannot be used without, for a budget that is nearly used up. */
export const minimalItem = (item: PackItem): PackItem => ({
  ...item,
  name: cut(item.name, BARE.name),
  reason: cut(item.reason.split('; ', 1)[0] ?? '', BARE.reason),
  source: item.id,
  quality: {
    origin: null,
    source: item.id,
    url: null,
    created_at: null,
    updated_at: null,
    valid_at: null,
    project_id: null,
  },
  metadata: Object.fromEntries(Object.entries(item.metadata).filter(([key]) => WARNINGS.includes(key))),
})
