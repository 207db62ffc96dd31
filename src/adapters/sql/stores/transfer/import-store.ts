import { type SQL, sql } from 'drizzle-orm'
import { Problem } from '../../../../domain/errors'
import type { HistoryTerms } from '../../../../domain/history/terms'
import type { Quotas } from '../../../../domain/quota'
import type { Analyzer } from '../../../../domain/search/analysis'
import type { Clock } from '../../../../ports/clock'
import type { ImportStore, Remembered } from '../../../../ports/import-store'
import { Batch, type Handle, runOne } from '../../core/batch'
import { PremiseFailed, type Row, type SqlConnection } from '../../core/connection'
import { jsonGroups } from '../../core/json-groups'
import { asRows, howMany } from '../../core/rows'
import { auditStatement } from '../../tables/changes/audit-log'
import { createWrite } from '../../tables/changes/writing'
import { imageGuard } from '../../tables/outbox/image-use'
import { importGuard } from '../../tables/transfer/import-guard'
import {
  imagesInUseStatement,
  memoryStatements,
  ofOwnStore,
  ownStatements,
  reserveStatements,
  toRemembered,
} from '../../tables/transfer/import-memory'
import { takeStatements } from '../../tables/transfer/import-statements'
import { settledStatement, settlements } from '../../tables/transfer/settling'
import { createIndexWriter } from '../../tables/vectors/index-writer'

const LOST = 'An entry that is imported is being changed at this moment; send the volume again'

/** An id of this database as records write it; null for what is none. */
const ownId = (theirId: string): number | null => (/^[1-9]\d{0,15}$/.test(theirId) ? Number(theirId) : null)

/** The import store over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlImportStore(
  connection: SqlConnection,
  given: {
    readonly analyzer: Analyzer
    readonly clock: Clock
    readonly quotas: Quotas
    readonly terms: HistoryTerms
  },
): ImportStore {
  const { analyzer, clock, quotas, terms } = given
  const { dialect } = connection
  const write = createWrite(connection, clock, terms)
  const indexWriter = createIndexWriter(connection, analyzer)

  /** The rows of several statements, which answer alike. */
  async function rowsOf(statements: readonly SQL[], lock?: { readonly org: string }): Promise<Row[]> {
    const batch = new Batch()
    const handles = statements.map((statement) => batch.add(statement, asRows))
    const results = await batch.run(connection, lock)
    return handles.flatMap((handle) => [...results.of(handle)])
  }

  return {
    async recall(scope, store, theirIds) {
      const [own] = await rowsOf([sql`SELECT store FROM transfer_stores WHERE org = ${scope.org}`])
      const context = { dialect, scope }
      const isOwn = own?.store === store
      const ids = isOwn ? theirIds.flatMap((id) => ownId(id) ?? []) : []
      const found = new Map<string, Remembered>()
      const rows = await rowsOf([...memoryStatements(context, store, theirIds), ...ownStatements(context, ids)])
      for (const row of isOwn ? ofOwnStore(rows, scope) : rows) {
        const remembered = toRemembered(row, scope)
        const before = found.get(String(row.their_id))
        // Of several, what stands there comes first; in the own store, what comes first.
        if (remembered === null || (before && (isOwn || before.standing !== null || remembered.standing === null)))
          continue
        found.set(String(row.their_id), remembered)
      }
      return found
    },

    async reserve(caller, store, rows) {
      if (rows.length === 0) return new Map()
      const { before, given: giving, after } = reserveStatements({ dialect, scope: caller }, store, rows)
      const batch = new Batch(...before)
      const handles = giving.map((statement) => batch.add(statement, asRows))
      const results = await batch.do(after).run(connection, { org: caller.org })
      const given = handles.flatMap((handle) => [...results.of(handle)])
      return new Map(given.map((row) => [String(row.their_id), Number(row.entry_id)]))
    },

    async write(caller, batch) {
      const now = clock.now()
      const context = { dialect, caller, now }
      const { entries, deleted, versions, knownRemovals, detail } = batch
      const ids = [...entries.map(({ id }) => id), ...deleted.map(({ id }) => id)]
      const states = [...entries.map(({ entry }) => entry), ...versions.map(({ state }) => state)]
      const hashes = [...new Set(states.flatMap(({ images }) => images.map(({ hash }) => hash)))]
      let fresh: readonly Handle<number>[] = []
      const own = (since: SQL): Batch => {
        const take = takeStatements(context, batch, since)
        const all = new Batch(importGuard(context, batch), ...take.before)
        fresh = take.versions.map((statement) => all.add(statement, howMany))
        return all.do([
          ...take.after,
          auditStatement(caller.org, now, { ...caller, allowed: true, ids, detail }),
          ...imageGuard(dialect, caller.org, hashes, knownRemovals),
        ])
      }
      const takes = () =>
        states.reduce((sum, { bytes, images }) => sum + bytes + images.reduce((all, { size }) => all + size, 0), 0)
      try {
        const results = await write(caller, own, { quotas, takes })
        await indexWriter.complete(
          caller.org,
          entries.map(({ id, entry }) => ({ id, textHash: entry.textHash, vectors: null })),
        )
        return { versions: fresh.reduce((sum, handle) => sum + results.of(handle), 0) }
      } catch (error) {
        if (error instanceof PremiseFailed) throw new Problem('conflict', LOST)
        throw error
      }
    },

    async settle(caller, store, theirIds) {
      let links = 0
      for (const json of jsonGroups(theirIds)) {
        const rows = await runOne(connection, settledStatement(dialect, caller.org, store, json), asRows)
        if (rows.length === 0) continue
        const settled = settlements(dialect, caller.org, store, rows)
        await new Batch(...settled.statements).run(connection, { org: caller.org })
        links += settled.links
        return { links, more: true }
      }
      return { links, more: false }
    },

    async projects(caller, projects) {
      if (projects.length === 0) return
      const rows = projects.map(({ id, name, createdAt }) => [id, name, createdAt])
      const columns = { id: 'text', name: 'text', created_at: 'integer' } as const
      await new Batch(
        ...jsonGroups(rows).map(
          (json) => sql`INSERT INTO projects (org, id, name, created_at)
            SELECT ${caller.org}, r.id, r.name, r.created_at FROM ${dialect.jsonTable(sql`${json}`, columns)} r WHERE 1 = 1
            ON CONFLICT DO NOTHING`,
        ),
      ).run(connection, { org: caller.org })
    },

    async remainingQuota({ org }) {
      if (quotas.entries === null && quotas.bytes === null) return { entries: null, bytes: null }
      const rows = await rowsOf([sql`SELECT part, items, bytes FROM org_usage WHERE org = ${org}`])
      // Kept states go first where room is needed.
      const held = rows.reduce((sum, { part, bytes }) => sum + (part === 'versions' ? 0 : Number(bytes)), 0)
      const entries = Number(rows.find(({ part }) => part === 'entries')?.items ?? 0)
      return {
        entries: quotas.entries === null ? null : quotas.entries - entries,
        bytes: quotas.bytes === null ? null : quotas.bytes - held,
      }
    },

    async imagesInUse(scope, hashes) {
      if (hashes.length === 0) return { seen: new Set(), hidden: new Set() }
      const rows = await rowsOf([imagesInUseStatement({ dialect, scope }, clock.now(), hashes)])
      const those = (seen: number) =>
        new Set(rows.flatMap((row) => (Number(row.seen) === seen ? [String(row.hash)] : [])))
      return { seen: those(1), hidden: those(0) }
    },

    async withoutVectors({ org }, model, wanted) {
      if (wanted.length === 0) return new Set()
      const list = dialect.jsonNumbers(sql`${JSON.stringify(wanted)}`)
      const rows = await rowsOf([
        sql`SELECT given.value AS id FROM ${list} AS given WHERE NOT EXISTS (
          SELECT 1 FROM entry_vectors v
            WHERE v.entry_id = given.value AND v.model = ${model} AND ${dialect.plan.unordered(sql`v.org`)} = ${org})`,
      ])
      return new Set(rows.map(({ id }) => Number(id)))
    },
  }
}
