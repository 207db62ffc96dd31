import { sql } from 'drizzle-orm'
import { createR2ImageStore } from '../../../src/adapters/r2/image-store'
import type { SqlConnection } from '../../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../../src/adapters/sql/stores/entries/entry-store'
import { createSqlOutbox } from '../../../src/adapters/sql/stores/maintenance/outbox'
import { createSqlRetention } from '../../../src/adapters/sql/stores/maintenance/retention'
import { createSqlScheduleJournal } from '../../../src/adapters/sql/stores/maintenance/schedule-journal'
import { createSqlIndexMaintenance } from '../../../src/adapters/sql/stores/search/index-maintenance'
import { createSqlLongTexts } from '../../../src/adapters/sql/stores/texts/staged-texts'
import { createUnfinishedDeletes } from '../../../src/adapters/sql/tables/changes/pending-deletion'
import type { Caller } from '../../../src/domain/identity/scope'
import { NO_QUOTAS, type Quotas } from '../../../src/domain/quota'
import { createAnalyzer } from '../../../src/domain/search/analysis'
import type { EntryStore } from '../../../src/ports/entry-store'
import type { ImageStore } from '../../../src/ports/image-store'
import type { Outbox } from '../../../src/ports/outbox'
import { createOutboxWork } from '../../../src/services/maintenance/outbox-work'
import { createGenerate } from '../../../src/services/writing/entries/generate'
import { createStoreEntries } from '../../../src/services/writing/entries/store-entries'
import { createUpdateEntries } from '../../../src/services/writing/entries/update-entries'
import { base64, LIMITS, pngBytes, type TestClock } from '../../support/scope'

/** A separate database and bucket, because the schedule works for every organization. */
export interface Ground {
  readonly connection: SqlConnection
  readonly bucket: R2Bucket
  readonly clock: TestClock
}

/** A hook just before or just after a call, once. */
export class Interruption {
  private step: (() => Promise<unknown>) | null = null

  /** Runs a step at the next call. */
  next(step: () => Promise<unknown>): void {
    this.step = step
  }

  async happen(): Promise<void> {
    const step = this.step
    this.step = null
    await step?.()
  }
}

/** Tables that tests of the schedule fill, and that none of them reads as another left them. */
const FILLED = [
  ...['entries', 'entry_versions', 'long_texts', 'text_line_index', 'vector_removals', 'links', 'dangling_links'],
  ...['receipts', 'image_removals', 'pending_deletes', 'usage_counters', 'outbox', 'changes', 'schedule'],
]

/** The services over real adapters, with places where a test may come between two steps. */
export function keepingWorld({ connection, bucket, clock }: Ground, quotas: Quotas = NO_QUOTAS) {
  const analyzer = createAnalyzer('english')
  const entries = createSqlEntryStore(connection, analyzer, clock, new Map(), quotas)
  const outbox = createSqlOutbox(connection, clock)
  const images = createR2ImageStore(bucket)
  const [afterPut, beforeDelete, afterClaim] = [new Interruption(), new Interruption(), new Interruption()]

  const interruptedImages: ImageStore = {
    ...images,
    put: async (scope, image) => {
      await images.put(scope, image)
      await afterPut.happen()
    },
    delete: async (scope, hash) => {
      await beforeDelete.happen()
      await images.delete(scope, hash)
    },
  }
  const interruptedOutbox: Outbox = {
    ...outbox,
    claim: async (lanes) => {
      const items = await outbox.claim(lanes)
      await afterClaim.happen()
      return items
    },
  }
  const generate = createGenerate({
    embedder: null,
    summarizer: null,
    chunking: null,
    onEmbeddingFailure: 'fail',
    minContentLength: 0,
  })
  const index = createSqlIndexMaintenance(connection, analyzer)
  const longTexts = createSqlLongTexts(connection)
  const deletes = createUnfinishedDeletes(connection)
  const worker = (queue: Outbox, store: ImageStore) =>
    createOutboxWork({
      ...{ outbox: queue, images: store, index, deletes, longTexts, generation: null },
      ...{ syncOrg: async () => {}, log: () => {} },
    })
  const writing = (store: EntryStore) => ({
    entries: store,
    images: interruptedImages,
    outbox,
    limits: LIMITS,
    generate,
  })

  const storeEntries = createStoreEntries({ ...writing(entries) })
  const updateEntries = createUpdateEntries({ ...writing(entries) })
  return {
    connection,
    analyzer,
    clock,
    bucket,
    entries,
    /** Deletes all data of earlier tests, so that each finds all steps due and counts only its own. */
    async empty(): Promise<void> {
      for (const table of FILLED) await connection.batch([sql.raw(`DELETE FROM ${table}`)], 'all')
      for (let cursor: string | undefined; ; ) {
        const { objects, ...page } = await bucket.list({ ...(cursor !== undefined && { cursor }) })
        if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key))
        if (!page.truncated) return
        cursor = page.cursor
      }
    },
    outbox,
    images,
    longTexts,
    retention: createSqlRetention(connection, clock),
    journal: createSqlScheduleJournal(connection),
    index,
    deletes,
    afterPut,
    beforeDelete,
    afterClaim,
    /** A cleaner that does its work without being interrupted. */
    clean: worker(outbox, images),
    /** One that may be. */
    cleanSlowly: worker(interruptedOutbox, interruptedImages),

    /** Stores an entry with one image that the note makes unique; returns its id. */
    async store(by: Caller, note: string, text = `text ${crypto.randomUUID()}`): Promise<number> {
      const draft = {
        threadId: crypto.randomUUID(),
        source: 'user' as const,
        text,
        images: [{ data: base64(pngBytes(note)) }],
      }
      const [outcome] = await storeEntries(by, [{ ok: true, value: draft }], { atomic: true, dedupe: true })
      if (!outcome?.ok) throw outcome?.problem
      return outcome.value?.id as number
    },
    /** Gives an entry this one image. */
    async illustrate(by: Caller, id: number, note: string): Promise<void> {
      const value = { id, images: [{ data: base64(pngBytes(note)) }] }
      const [outcome] = await updateEntries(by, [{ ok: true, value }], true)
      if (!outcome?.ok) throw outcome?.problem
    },
    /** Hashes of images that entries of the org show and whose bytes are missing: there must never be one. */
    async missing(org: string): Promise<string[]> {
      const [rows] = await connection.batch([sql`SELECT DISTINCT hash FROM image_uses WHERE org = ${org}`])
      const lost: string[] = []
      for (const { hash } of rows ?? [])
        if ((await images.get({ org, projects: null, owner: null }, hash as string)) === null) lost.push(hash as string)
      return lost
    },
    objects: async (org: string): Promise<number> => (await bucket.list({ prefix: `images/${org}` })).objects.length,
    async queue(org: string): Promise<Record<string, unknown>[]> {
      const [rows] = await connection.batch([
        sql`SELECT topic, key, state, attempts FROM outbox WHERE org = ${org} ORDER BY id`,
      ])
      return rows ?? []
    },
  }
}

export type KeepingWorld = ReturnType<typeof keepingWorld>
