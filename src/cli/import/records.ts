// Converts found entries to records of the format. Projects and links are resolved; the store handles the rest.

import { createHash } from 'node:crypto'
import { extractMetadata } from '../../domain/entry/extracted-metadata'
import { linksOfMetadata } from '../../domain/entry/link'
import { type JsonObject, type JsonValue, own } from '../../domain/entry/metadata'
import type { Millis } from '../../domain/time'
import { KnownIds, withIds } from '../../domain/transfer/content-checksum'
import type { CarriedRecord, EntryRecord, RecordId } from '../../domain/transfer/records'
import { ANYBODY, type Collector, type Found, type FoundImage } from './collector'

export interface Projects {
  /** Project of entries without one. */
  readonly otherwise: string | null
  /** A project's name in the source → its name here. */
  readonly map: ReadonlyMap<string, string>
}

const iso = (ms: Millis): string => new Date(ms).toISOString()
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Entries as records, in the order in which they get ids. */
export class Packed {
  readonly known = new KnownIds()
  private readonly found: readonly Found[]
  private readonly ids: ReadonlyMap<string, RecordId>

  constructor(
    collector: Collector,
    private readonly projects: Projects,
  ) {
    const isNumbered = collector.entries.every(({ id }) => typeof id === 'number')
    const byId = (a: Found, b: Found) => Number(a.id) - Number(b.id)
    const byTime = (a: Found, b: Found) => a.createdAt - b.createdAt
    this.found = collector.entries.toSorted(isNumbered ? byId : byTime)
    this.ids = new Map(this.found.map(({ id }) => [String(id), id]))
    for (const { id, text, createdAt } of this.found) this.known.note({ id, text, created_at: iso(createdAt) })
  }

  get entries(): number {
    return this.found.length
  }

  /** Each image once, before the first entry that uses it. */
  *records(): Generator<CarriedRecord> {
    const written = new Set<string>()
    for (const found of this.found) {
      for (const { bytes, mimeType } of found.images ?? []) {
        const hash = sha256(bytes)
        if (written.has(hash)) continue
        written.add(hash)
        const data = Buffer.from(bytes).toString('base64')
        yield { record: 'image', sha256: hash, mime_type: mimeType, size: bytes.length, data }
      }
      yield this.entry(found)
    }
  }

  private entry(found: Found): EntryRecord {
    const metadata = this.withProject(found.metadata ?? null)
    const lifted = extractMetadata(metadata, ANYBODY, null)
    return {
      record: 'entry',
      id: found.id,
      thread_id: found.threadId,
      source: found.source,
      text: found.text,
      metadata: metadata ?? undefined,
      tags: found.tags,
      images: (found.images ?? []).map(imageOf),
      project: lifted.project ?? undefined,
      agent: lifted.agent ?? undefined,
      created_at: iso(found.createdAt),
      updated_at: iso(found.updatedAt ?? found.createdAt),
      version: 1,
      summary: found.summary ?? undefined,
      links: this.links(metadata),
      layer: found.layer ?? 2,
      weight: lifted.weight ?? 3,
      pinned: found.pinned === true || lifted.pinned === true,
      expires_at: lifted.expiresAt === null ? undefined : iso(lifted.expiresAt),
      accessed_at: found.accessedAt == null ? undefined : iso(found.accessedAt),
      access_count: found.accessCount ?? 0,
    }
  }

  private withProject(metadata: JsonObject | null): JsonObject | null {
    const given = own(metadata, 'project')
    const named = typeof given === 'string' && given.trim() !== '' ? given : null
    // A value that is not a string is not a project, and is preserved.
    if (given !== undefined && named === null) return metadata
    const project = named === null ? this.projects.otherwise : (this.projects.map.get(named) ?? named)
    return project === null || project === named ? metadata : { ...metadata, project }
  }

  /** Links of the metadata to entries of the import; other ids stay in metadata without a link. */
  private links(metadata: JsonObject | null): NonNullable<EntryRecord['links']> {
    if (metadata === null) return []
    // The rule that finds links accepts numbers only, so each id of the import gets one.
    const asked: RecordId[] = []
    const numbered = withIds(metadata, (id): JsonValue => {
      const there = this.ids.get(String(id))
      return there === undefined ? 0 : asked.push(there)
    })
    return linksOfMetadata(numbered)
      .map(({ relation, to }) => ({ relation, to: asked[to - 1], origin: 'metadata' as const }))
      .flatMap((link) => (link.to === undefined ? [] : [{ ...link, to: link.to }]))
      .filter(({ relation, to }, i, all) => i === all.findIndex((one) => one.relation === relation && one.to === to))
  }
}

const imageOf = ({ bytes, mimeType, metadata }: FoundImage) => ({
  sha256: sha256(bytes),
  mime_type: mimeType,
  size: bytes.length,
  metadata,
})
