import { type SQL, sql } from 'drizzle-orm'
import type { ImageRef } from '../../../../domain/entry/image'
import { changedParts } from '../../../../domain/history/version'
import { parseExactJson } from '../../../../domain/transfer/lines'
import type { EntryRecord } from '../../../../domain/transfer/records'
import type { VersionRecord } from '../../../../ports/export-store'
import type { Row } from '../../core/connection'

/** Converts rows of entries and retained versions to records of the format (docs/contracts/operate.md §2). */

const PLAIN = (
  'thread_id source layer project agent owner created_by imported_from created_at updated_at version changed_by changed_agent summary ' +
  'metadata tags images expires_at archived kind title domain audience diary status confidence'
).split(' ')

const named = (alias: string, names: readonly string[]): string => names.map((name) => `${alias}.${name}`).join(', ')

export const ENTRY_RECORD_COLUMNS = sql.raw(
  `${named('e', ['id', ...PLAIN, 'weight', 'pinned', 'captured', 'accessed_at', 'access_count'])}`,
)

/** Columns of a retained version `v`, with how it ended. */
export const VERSION_RECORD_COLUMNS = sql.raw(
  `${named('v', ['entry_id', ...PLAIN, 'links', 'ended_at', 'ended_version', 'ended_by', 'ended_agent', 'change_id'])},
  v.changed AS changed_mask, v.deleted, v.edges, coalesce(v.named_weight, v.given_weight) AS weight,
  coalesce(v.named_pinned, v.given_pinned) AS pinned`,
)

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const truth = (value: unknown): boolean => Number(value ?? 0) === 1
export const isoOf = (value: unknown): string | undefined =>
  value === null || value === undefined ? undefined : new Date(Number(value)).toISOString()

const isObject = (value: unknown): value is NonNullable<EntryRecord['metadata']> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed<T>(json: unknown, is: (value: unknown) => value is T): T | undefined {
  if (typeof json !== 'string') return undefined
  const value = parseExactJson(json)
  return is(value) ? value : undefined
}

const isList = <T>(value: unknown): value is T[] => Array.isArray(value)

type Image = NonNullable<EntryRecord['images']>[number]

const imageOf = ({ hash, mimeType, size, metadata }: ImageRef): Image => ({
  sha256: hash,
  mime_type: mimeType,
  size,
  ...(typeof metadata === 'string' || isObject(metadata) ? { metadata } : {}),
})

/** Members of an entry's record that have no column shared by entries and retained versions. */
type Beside = 'record' | 'links' | 'accessed_at' | 'access_count'

/** All other members, so that the compiler reports a missing one. */
type Shared = { readonly [Name in Exclude<keyof EntryRecord, Beside>]: EntryRecord[Name] }

/** Reads the columns that entries and retained versions share. */
function sharedOf(row: Row, id: number, captured: boolean): Shared {
  const { confidence } = row
  return {
    id,
    thread_id: String(row.thread_id),
    source: row.source === 'user' ? ('user' as const) : ('agent' as const),
    text: String(row.text ?? ''),
    metadata: parsed(row.metadata, isObject),
    tags: parsed(row.tags, isList<string>) ?? [],
    images: (parsed(row.images, isList<ImageRef>) ?? []).map(imageOf),
    project: text(row.project),
    agent: text(row.agent),
    owner: text(row.owner),
    created_by: text(row.created_by),
    imported_from: text(row.imported_from),
    created_at: isoOf(row.created_at),
    updated_at: isoOf(row.updated_at),
    version: Number(row.version),
    changed_by: text(row.changed_by),
    changed_agent: text(row.changed_agent),
    summary: text(row.summary),
    layer: Number(row.layer),
    weight: Number(row.weight),
    pinned: truth(row.pinned),
    expires_at: isoOf(row.expires_at),
    // A captured entry has the column `archived`, but is not an archived entry.
    archived: truth(row.archived) && !captured,
    captured,
    kind: text(row.kind),
    title: text(row.title),
    domain: text(row.domain),
    audience: text(row.audience),
    diary: truth(row.diary),
    status: text(row.status),
    confidence: confidence === null || confidence === undefined ? undefined : Number(confidence),
  }
}

/** Converts a row. @param row of `ENTRY_RECORD_COLUMNS` and `text` */
export const toEntryRecord = (row: Row, links: EntryRecord['links']): EntryRecord => ({
  record: 'entry',
  ...sharedOf(row, Number(row.id), truth(row.captured)),
  links,
  accessed_at: isoOf(row.accessed_at),
  access_count: Number(row.access_count),
})

type Link = NonNullable<EntryRecord['links']>[number]
export type Origin = Link['origin']
export const originOf = (value: unknown): Origin =>
  value === 'remember' ? 'remember' : value === 'system' ? 'system' : 'metadata'

/**
 * Returns the links of a retained version: those of its metadata and, of a deleted entry, those that were deleted with it.
 */
function linksOf(row: Row): Link[] {
  const made = (parsed(row.links, isList<[string, number]>) ?? []).map(
    ([relation, to]): Link => ({ relation, to: Number(to), origin: 'metadata' }),
  )
  const gone = (parsed(row.edges, isList<[number, string, number, string]>) ?? []).map(
    ([, relation, to, origin]): Link => ({ relation, to: Number(to), origin: originOf(origin) }),
  )
  return [...made, ...gone.filter(({ origin }) => origin !== 'metadata')]
}

/** Converts a row. @param row of `VERSION_RECORD_COLUMNS` and `text` */
export function toVersionRecord(row: Row): VersionRecord {
  const metadata = parsed(row.metadata, isObject)
  return {
    record: 'version',
    ...sharedOf(row, Number(row.entry_id), metadata !== undefined && metadata.captured === true),
    links: linksOf(row),
    ended: {
      at: new Date(Number(row.ended_at)).toISOString(),
      version: Number(row.ended_version),
      by: text(row.ended_by),
      agent: text(row.ended_agent),
      change_id: text(row.change_id),
      changed: changedParts(Number(row.changed_mask)),
      deleted: truth(row.deleted),
    },
  }
}

/** Sorts links, so that their order does not depend on the database. */
export const inOrder = (links: readonly Link[]): Link[] =>
  links.toSorted(
    (a, b) => Number(a.to) - Number(b.to) || compare(a.relation, b.relation) || compare(a.origin, b.origin),
  )
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns an `IN` condition for IDs. */
export const idsJson = (ids: readonly number[]): SQL => sql`${JSON.stringify(ids)}`
