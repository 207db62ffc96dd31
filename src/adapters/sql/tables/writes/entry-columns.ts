import { type SQL, sql } from 'drizzle-orm'
import type { LifeChange } from '../../../../domain/entry/entry-write'
import type { ExtractedMetadata } from '../../../../domain/entry/extracted-metadata'
import type { ImageRef } from '../../../../domain/entry/image'
import { kindOfTags } from '../../../../domain/entry/kind'
import type { LinkTarget } from '../../../../domain/entry/link'
import type { Metadata } from '../../../../domain/entry/metadata'
import type { Caller } from '../../../../domain/identity/scope'
import { jsonText } from '../../../../domain/json/write'
import type { Millis } from '../../../../domain/time'
import { addressesAgent } from '../../../../domain/trust/agent-directed'
import type { SqlDialect } from '../../core/dialect'
import { linkColumn } from '../links/links'
import { inlineText } from '../texts/long-texts'

/** Context of the call that writes. */
export interface WriteContext {
  readonly dialect: SqlDialect
  readonly scope: Caller
  /** Milliseconds since 1970. */
  readonly now: Millis
  /** Hashes of long texts that are already in the database. */
  readonly sent: ReadonlySet<string>
}

/** Columns of an entry and their values, always bound. */

export type Assignments = Record<string, SQL>

export const flag = (value: boolean): number => (value ? 1 : 0)

const imageJson = (images: readonly ImageRef[]): string | null =>
  images.length === 0
    ? null
    : jsonText(
        images.map(({ hash, mimeType, size, metadata }) => ({
          hash,
          mimeType,
          size,
          ...(metadata === undefined ? {} : { metadata }),
        })),
      )

/** Returns the columns for metadata. @param changed the ID of the existing entry; null for a new one */
export function metadataColumns(
  context: WriteContext,
  given: { metadata: Metadata | null; lifted: ExtractedMetadata; links: readonly LinkTarget[] },
  changed: SQL | null,
): Assignments {
  const { metadata, lifted, links } = given
  const value = sql`${metadata === null ? null : jsonText(metadata)}`
  return {
    metadata: changed === null ? value : context.dialect.asWritten(changed, () => value),
    named_kind: sql`${lifted.namedKind}`,
    work_item: sql`${flag(lifted.workItem)}`,
    title: sql`${lifted.title}`,
    project: sql`${lifted.project}`,
    domain: sql`${lifted.domain}`,
    agent: sql`${lifted.agent}`,
    audience: sql`${lifted.audience}`,
    diary: sql`${flag(lifted.diary)}`,
    captured: sql`${flag(lifted.captured)}`,
    status: sql`${lifted.status}`,
    // Columns of the life cycle are separate: no write of metadata changes them.
    named_weight: sql`${lifted.weight}`,
    named_pinned: sql`${lifted.pinned === null ? null : flag(lifted.pinned)}`,
    named_expires_at: sql`${lifted.expiresAt}`,
    confidence: sql`${lifted.confidence}`,
    links: linkColumn(context, links, changed),
  }
}

export const tagColumns = (tags: readonly string[]): Assignments => ({
  tags: sql`${JSON.stringify(tags)}`,
  tag_kind: sql`${kindOfTags(tags)}`,
})

export const imageColumns = (images: readonly ImageRef[]): Assignments => ({
  images: sql`${imageJson(images)}`,
  image_count: sql`${images.length}`,
})

/** Returns the columns for a text. @param title of the same entry */
export const textColumns = (text: string, hash: string, words: number, title: string | null): Assignments => ({
  text: sql`${inlineText(text)}`,
  text_hash: sql`${hash}`,
  text_words: sql`${words}`,
  addresses_agent: sql`${flag(addressesAgent({ text, title }))}`,
})

/**
 * Returns the columns for use: a changed memory is in use, archived or not; a captured one stays unlisted until it is approved.
 */
export const lifeColumns = ({ pinned, layer }: LifeChange, now: Millis): Assignments => ({
  archived: sql`captured`,
  accessed_at: sql`${now}`,
  ...(pinned === undefined ? {} : { given_pinned: sql`${flag(pinned)}` }),
  ...(layer === undefined ? {} : { layer: sql`${layer}`, layer_expires_at: sql`NULL` }),
})

/** Returns `archived` after a write: captured entries are unlisted, approved ones are listed. */
export const archivedAfter = ({ captured }: ExtractedMetadata, isUsed: boolean): SQL =>
  captured || isUsed ? sql`${flag(captured)}` : sql`CASE WHEN captured = 1 THEN 0 ELSE archived END`

/**
 * Returns the columns for the author of a version. @param agent the name given in this write, otherwise that of the caller's key
 */
export const writerColumns = ({ keyId, agent: stamped }: Caller, agent?: string | null): Assignments => ({
  changed_by: sql`${keyId}`,
  changed_agent: sql`${agent ?? stamped}`,
  restored: sql`0`,
})

/**
 * Returns the columns for the approval of a version that a person writes; NULL for any other writer.
 *
 * @param version that is written
 * @param addresses whether its text addresses an agent, which a person has to approve separately
 */
export const approvalColumns = ({ keyId, isPerson }: Caller, version: SQL, addresses: SQL): Assignments =>
  isPerson ? { approved_by: sql`${keyId}`, approved_version: sql`CASE WHEN ${addresses} = 0 THEN ${version} END` } : {}

/** Returns the columns for the approval of a version with the content of the one before: approved if that one is. */
export const retainedApproval = (steps: number): Assignments => ({
  approved_version: sql`CASE WHEN approved_version = version THEN version + ${steps} ELSE approved_version END`,
})

export const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)
export const names = (columns: Assignments): SQL => sql.raw(Object.keys(columns).join(', '))
export const assignments = (columns: Assignments): SQL =>
  list(Object.entries(columns).map(([name, value]) => sql`${sql.raw(name)} = ${value}`))
