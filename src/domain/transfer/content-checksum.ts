import { createHash } from 'node:crypto'
import { type JsonObject, type JsonValue, own } from '../entry/metadata'
import { membersOf } from './codec'
import { type EntryRecord, type RecordId, SHAPES } from './records'

/**
 * Canonical JSON (RFC 8785): members in UTF-16 order of their names, no white space, numbers as in JavaScript.
 * @param value plain data, nested no deeper than stored data; undefined members are left out
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
}

/** Computes `content`, a checksum of entries that is equal in every store (docs/contracts/operate.md §2). */
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Identifies an entry in `content` in place of its ID, equal in every store. */
export const stableId = (entry: Pick<EntryRecord, 'text' | 'created_at'>): string =>
  `${sha256(entry.text)}@${entry.created_at ?? ''}`

/** The entries of an export, for links between them. */
export interface Inside {
  /** The stable ID of an entry by its decimal ID; null for an entry outside of the export. */
  readonly stable: (id: string) => string | null
  /** Whether the bytes of an image are missing everywhere. */
  readonly isMissing: (sha256: string) => boolean
}

/**
 * Whether `content` includes a member as it is in the record; images and links are included in another form. An import
 * skips entries with equal `content` as `unchanged`.
 */
const COUNTED: { readonly [Name in keyof EntryRecord]-?: boolean } = {
  record: false,
  id: false,
  thread_id: true,
  source: true,
  text: true,
  metadata: true,
  tags: true,
  images: false,
  project: true,
  agent: true,
  owner: true,
  created_by: true,
  imported_from: false,
  created_at: true,
  updated_at: false,
  version: false,
  changed_by: false,
  changed_agent: false,
  summary: false,
  links: false,
  layer: true,
  weight: true,
  pinned: true,
  expires_at: true,
  archived: true,
  captured: true,
  accessed_at: false,
  access_count: false,
  kind: false,
  title: false,
  domain: false,
  audience: false,
  diary: false,
  status: false,
  confidence: false,
}
const COUNTED_NAMES = Object.entries(COUNTED).flatMap(([name, isCounted]) => (isCounted ? [name] : []))

/** Keys of metadata that contain IDs of entries, or lists of them. */
export const ID_KEYS = ['supersedes', 'depends_on', 'contradicts'] as const

/** Replaces an ID, or each ID in a list; any other value does not change. */
function changed(value: JsonValue, change: (id: RecordId) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => (Array.isArray(item) ? item : changed(item, change)))
  return typeof value === 'number' || typeof value === 'string' ? change(value) : value
}

const withMember = (object: JsonObject, key: string, value: JsonValue): JsonObject => {
  const copy: JsonObject = Object.assign(Object.create(null), object)
  copy[key] = value
  return copy
}

/** Metadata with each entry ID replaced (references.context_ids, supersedes, depends_on, contradicts). */
export function withIds(metadata: JsonObject, change: (id: RecordId) => JsonValue): JsonObject {
  let kept = metadata
  const references = own(metadata, 'references')
  if (typeof references === 'object' && references !== null && !Array.isArray(references)) {
    const ids = own(references, 'context_ids')
    if (ids !== undefined)
      kept = withMember(kept, 'references', withMember(references, 'context_ids', changed(ids, change)))
  }
  for (const key of ID_KEYS) {
    const ids = own(metadata, key)
    if (ids !== undefined) kept = withMember(kept, key, changed(ids, change))
  }
  return kept
}

/** SHA-256 of an entry's canonical form, as a number. */
export function entryContent(entry: EntryRecord, { stable, isMissing }: Inside): bigint {
  const { metadata, images = [], links = [] } = entry
  const said: JsonObject = JSON.parse(`{${membersOf(SHAPES.entry, entry).join(',')}}`)
  const form: Record<string, unknown> = {}
  for (const name of COUNTED_NAMES) form[name] = said[name]
  // The original creator counts, not the key that imported the entry.
  if (entry.imported_from !== undefined) form.created_by = entry.imported_from
  if (metadata !== undefined) form.metadata = withIds(metadata, (id) => stable(String(id)) ?? id)
  const shown = images.filter(({ sha256 }) => !isMissing(sha256)).map(({ size, ...image }) => image)
  if (shown.length > 0) form.images = shown
  const linked = links.flatMap(({ to, ...link }) => {
    const target = stable(String(to))
    return target === null ? [] : [{ ...link, to: target }]
  })
  if (linked.length > 0)
    form.links = linked
      .map((link) => [canonicalJson(link), link] as const)
      .sort(byText)
      .map(second)
  return BigInt(`0x${sha256(canonicalJson(form))}`)
}

const byText = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0
const second = ([, value]: readonly [string, unknown]): unknown => value

const MODULUS = 1n << 256n

/** The sum of the hashes of entries, in any order. */
export class ContentSum {
  private sum = 0n

  add(entry: EntryRecord, inside: Inside): void {
    this.addHash(entryContent(entry, inside))
  }

  addSum(other: ContentSum): void {
    this.addHash(other.sum)
  }

  private addHash(hash: bigint): void {
    this.sum = (this.sum + hash) % MODULUS
  }

  /** 64 hexadecimal digits. */
  get text(): string {
    return this.sum.toString(16).padStart(64, '0')
  }
}

/** The IDs and missing images of a set of entries. */
export class KnownIds implements Inside {
  private readonly ids = new Map<string, string>()
  private readonly missing = new Set<string>()

  note(entry: Pick<EntryRecord, 'id' | 'text' | 'created_at'>): void {
    this.ids.set(String(entry.id), stableId(entry))
  }

  noteMissing(sha256: string): void {
    this.missing.add(sha256)
  }

  readonly stable = (id: string): string | null => this.ids.get(id) ?? null
  readonly isMissing = (sha256: string): boolean => this.missing.has(sha256)
}

/** The difference between the `content` of a volume and that of its entries in another store. */
interface ContentDifference {
  /**
   * @param sent the entry with IDs of the other store
   * @param standing the entry in the other store, null if absent
   * @param inside the volume, by IDs of the other store
   */
  note(sent: EntryRecord, standing: EntryRecord | null, inside: Inside): void
  appliedTo(content: string): string
}

export function createContentDifference(): ContentDifference {
  let sum = 0n
  return {
    note(sent, standing, inside) {
      const before = entryContent(sent, inside)
      const after = standing === null ? 0n : entryContent(asSent(sent, standing), inside)
      sum += after - before
    },
    appliedTo: (content) =>
      ((((BigInt(`0x${content}`) + sum) % MODULUS) + MODULUS) % MODULUS).toString(16).padStart(64, '0'),
  }
}

/** The stored entry without members that the source left out. */
export const asSent = (sent: EntryRecord, standing: EntryRecord): EntryRecord => ({
  ...standing,
  ...(sent.owner === undefined && sent.created_by === undefined ? { owner: undefined } : {}),
  ...(sent.created_by === undefined ? { created_by: undefined, imported_from: undefined } : {}),
  ...(sent.created_at === undefined ? { created_at: undefined } : {}),
})
