import { type SQL, sql } from 'drizzle-orm'
import type { JsonObject, JsonValue } from '../../../../domain/entry/metadata'
import { Problem } from '../../../../domain/errors'
import type { HistoryTerms } from '../../../../domain/history/version'
import type { Caller } from '../../../../domain/identity/scope'
import { jsonText } from '../../../../domain/json/write'
import type { Quotas } from '../../../../domain/quota'
import type { Analyzer } from '../../../../domain/search/analysis'
import { utf8Length } from '../../../../domain/text'
import { withIds } from '../../../../domain/transfer/content-checksum'
import { parseExactJson } from '../../../../domain/transfer/lines'
import type { Clock } from '../../../../ports/clock'
import type { ImportBatch, ImportedEntry, ImportStore, Remembered } from '../../../../ports/import-store'
import { Batch, type Handle, runOne } from '../../core/batch'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { asRows, howMany, jsonGroups } from '../../core/rows'
import { changeable, readByAllOf } from '../../core/visibility'
import { auditStatement } from '../../tables/changes/audit-statements'
import { changedSince } from '../../tables/changes/change-rows'
import { createWrite } from '../../tables/changes/publish-changes'
import { countedLater } from '../../tables/counts/visible-counts'
import { rescanFrom } from '../../tables/currency/scanned-pairs'
import { imageGuard } from '../../tables/outbox/image-use'
import { storeLineIndexes } from '../../tables/texts/long-texts'
import {
  imagesInUseStatement,
  keeperOf,
  memoryStatements,
  ofOwnStore,
  ownStatements,
  reserveStatements,
  toRemembered,
} from '../../tables/transfer/import-memory'
import { type Context, entryStatements, longTexts, versionStatements } from '../../tables/transfer/import-rows'
import { createIndexWriter, insertVectorsOf } from '../../tables/vectors/index-writer'

/**
 * Returns a precondition: each replaced entry has its version and may be changed by the caller, and no entry exists under a new ID.
 */
function importGuard({ dialect, caller }: Context, { entries, deleted }: ImportBatch): SQL {
  const replaced = [
    ...entries.flatMap(({ id, replaces }) => (replaces === null ? [] : [[id, replaces]])),
    ...deleted.map(({ id, version }) => [id, version]),
  ]
  const added = entries.filter(({ replaces }) => replaces === null).map(({ id }) => id)
  const expected = dialect.jsonTable(sql`${JSON.stringify(replaced)}`, { id: 'integer', version: 'integer' })
  return sql`INSERT INTO guards (holds) SELECT (SELECT count(*) FROM ${expected} expected
      ${dialect.plan.follow('entries', 'e', sql`e.id = expected.id`)}
      WHERE e.version = expected.version AND ${changeable(dialect, caller, 0)}) = ${replaced.length}
    AND NOT EXISTS (SELECT 1 FROM entries e
      WHERE e.id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(added)}`)} AS added`)})`
}

/** The rows that belong to imported entries. */
interface AuxiliaryContext {
  readonly dialect: SqlDialect
  readonly caller: Caller
}

/** Stores which entries were imported under which IDs. */
function rememberedStatements({ dialect, caller }: AuxiliaryContext, batch: ImportBatch): SQL[] {
  const rows = [
    ...batch.entries.map(({ theirId, id, version }) => [theirId, id, version]),
    ...batch.deletedEntries.map(({ theirId, id, version }) => [theirId, id, version]),
  ]
  const columns = { their_id: 'text', entry_id: 'integer', version: 'integer' } as const
  return jsonGroups(rows).map(
    (json) => sql`
      INSERT INTO imported (org, store, their_id, owner, entry_id, version, at)
      SELECT ${caller.org}, ${batch.store}, r.their_id,
        coalesce((SELECT m.owner FROM imported m WHERE m.org = ${caller.org} AND m.store = ${batch.store}
          AND m.their_id = r.their_id AND m.entry_id = r.entry_id ORDER BY m.owner LIMIT 1), ${keeperOf(caller)}),
        r.entry_id, r.version, ${batch.at}
      FROM ${dialect.jsonTable(sql`${json}`, columns)} r WHERE 1 = 1
      ON CONFLICT (org, store, their_id, owner) DO UPDATE
        SET entry_id = excluded.entry_id, version = excluded.version,
          at = CASE WHEN excluded.at > imported.at THEN excluded.at ELSE imported.at END`,
  )
}

/** Replaces the stored references of these entries to others that were not imported yet. */
function waitingStatements({ dialect, caller }: AuxiliaryContext, { store, entries }: ImportBatch): SQL[] {
  const rows = entries.flatMap(({ id, waiting }) =>
    waiting.map(({ theirId, link }) => [theirId, id, link?.relation ?? '', link?.origin ?? '']),
  )
  const columns = { their_id: 'text', entry_id: 'integer', relation: 'text', origin: 'text' } as const
  const ids = JSON.stringify(entries.map(({ id }) => id))
  return [
    sql`DELETE FROM import_references
      WHERE entry_id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${ids}`)} AS given`)}`,
    ...jsonGroups(rows).map(
      (json) => sql`
        INSERT INTO import_references (org, store, their_id, entry_id, relation, origin)
        SELECT ${caller.org}, ${store}, r.their_id, r.entry_id, r.relation, r.origin
        FROM ${dialect.jsonTable(sql`${json}`, columns)} r WHERE 1 = 1 ON CONFLICT DO NOTHING`,
    ),
  ]
}

const queue = ({ dialect, now }: Context, topic: 'index' | 'embed', ids: readonly number[], due: number): SQL[] =>
  ids.length === 0
    ? []
    : [
        sql`INSERT INTO outbox (org, topic, key, created_at, due_at)
          SELECT e.org, ${topic}, CAST(e.id AS TEXT), ${now}, ${due} FROM entries e
          WHERE e.id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} AS given`)}
          ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = excluded.due_at`,
      ]

/** Inserts links that are not in metadata. */
function linkStatements({ dialect, caller }: Context, entries: readonly ImportedEntry[]): SQL[] {
  const rows = entries.flatMap(({ id, links }) =>
    links.filter(({ origin }) => origin !== 'metadata').map(({ relation, to, origin }) => [id, relation, to, origin]),
  )
  const replaced = JSON.stringify(entries.filter(({ replaces }) => replaces !== null).map(({ id }) => id))
  const columns = { from_id: 'integer', relation: 'text', to_id: 'integer', origin: 'text' } as const
  return [
    sql`DELETE FROM links WHERE org = ${caller.org} AND origin <> 'metadata'
      AND from_id ${dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${replaced}`)} AS given`)}`,
    ...jsonGroups(rows).map(
      (json) => sql`INSERT INTO links (org, from_id, relation, to_id, origin)
        SELECT ${caller.org}, r.from_id, r.relation, r.to_id, r.origin
        FROM ${dialect.jsonTable(sql`${json}`, columns)} r WHERE 1 = 1 ON CONFLICT DO NOTHING`,
    ),
  ]
}

/** Returns the statements of a batch of entries, without its preconditions, audit row and images. */
function importStatements(
  context: Context,
  batch: ImportBatch,
  since: SQL,
): {
  readonly before: readonly SQL[]
  readonly versions: readonly SQL[]
  readonly after: readonly SQL[]
} {
  const { dialect, caller, now } = context
  const { entries, deleted, versions, vectors } = batch
  const ids = (list: readonly number[]) =>
    dialect.plan.oneOf(sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(list)}`)} AS given`)
  const states = [...entries.map(({ entry }) => entry), ...versions.map(({ state }) => state)]
  const ended = [
    ...entries.flatMap(({ id, replaces }) => (replaces === null ? [] : [[id, replaces]])),
    ...deleted.map(({ id, version }) => [id, version]),
  ]
  const ofVersions = new Set(versions.map(({ id, state }) => `${id} ${state.version}`))
  const ofFile = JSON.stringify(ended.filter(([id, version]) => ofVersions.has(`${id} ${version}`)))
  const reembedded = entries.filter(
    ({ vectors: made, queueVectors, replaces }) => replaces !== null && (made !== null || queueVectors),
  )
  const given = [
    ...entries.flatMap(({ id, version, vectors: made }) => (made === null ? [] : [{ id, version, vectors: made }])),
    ...vectors,
  ]
  const embed = entries.filter(({ queueVectors }) => queueVectors).map(({ id }) => id)
  const owners = [
    ...new Set(states.flatMap(({ columns }) => (typeof columns.owner === 'string' ? [columns.owner] : []))),
  ]
  const counting = countedLater(dialect, caller.org, entries.filter(({ replaces }) => replaces === null).length)
  return {
    before: [
      ...counting.before,
      ...entryStatements(context, entries),
      ...counting.after,
      ...longTexts(caller.org, states),
      ...storeLineIndexes(
        dialect,
        entries.map(({ id, entry }) => ({ id, text: entry.text, textHash: entry.textHash })),
      ),
      ...(deleted.length === 0
        ? []
        : [sql`DELETE FROM entries WHERE org = ${caller.org} AND id ${ids(deleted.map(({ id }) => id))}`]),
      // The file states how a version ended, more exactly than the import knows.
      ...(ofVersions.size === 0
        ? []
        : [
            sql`DELETE FROM entry_versions WHERE id ${dialect.plan.oneOf(sql`SELECT v.id
              FROM ${dialect.jsonTable(sql`${ofFile}`, { id: 'integer', version: 'integer' })} r
              ${dialect.plan.follow('entry_versions', 'v', sql`v.entry_id = r.id AND v.version = r.version`)}`)}`,
            ...longTexts(caller.org, states),
          ]),
    ],
    versions: versions.length === 0 ? [] : versionStatements(context, versions),
    after: [
      ...(entries.length === 0
        ? []
        : [
            ...linkStatements(context, entries),
            ...waitingStatements(context, batch),
            sql`DELETE FROM dangling_links WHERE entry_id ${ids(entries.map(({ id }) => id))}`,
            ...entries.filter(({ replaces }) => replaces !== null).map(({ id }) => dialect.unindexEntry(id)),
          ]),
      ...(reembedded.length === 0
        ? []
        : [sql`DELETE FROM entry_vectors WHERE entry_id ${ids(reembedded.map(({ id }) => id))}`]),
      ...insertVectorsOf(dialect, given),
      ...(vectors.length === 0
        ? []
        : [
            sql`DELETE FROM outbox WHERE org = ${caller.org} AND topic = 'embed' AND state = 'pending'
              AND key ${dialect.inList(sql`${JSON.stringify(vectors.map(({ id }) => String(id)))}`)}`,
          ]),
      ...queue(
        context,
        'index',
        entries.map(({ id }) => id),
        now + INDEXED_SOON,
      ),
      ...queue(context, 'embed', embed, now),
      ...rememberedStatements(context, batch),
      ...(owners.length === 0
        ? []
        : [
            sql`INSERT INTO owners (org, name) SELECT ${caller.org}, value FROM ${dialect.jsonRows(sql`${JSON.stringify(owners)}`)} AS given
              WHERE 1 = 1 ON CONFLICT DO NOTHING`,
          ]),
      // The feed shows the time of the import, not when the entries were written.
      sql`UPDATE changes SET at = ${now}, key_id = ${caller.keyId}
        WHERE ${dialect.plan.filterOnly(sql`org = ${caller.org}`)}
          AND seq ${dialect.plan.oneOf(sql`SELECT c.seq FROM changes c WHERE ${changedSince(dialect, caller.org, since)}`)}`,
    ],
  }
}

/** The call indexes words right after its commit; if it dies, the schedule does after this time. */
const INDEXED_SOON = 60_000

/** Links from imported entries to entries of a later batch are created when those arrive. */

/** Entries whose links one batch creates. */
const AT_ONCE = 100

/**
 * Returns waiting references of some entries to imported ones, with the present entries, if unchanged since.
 *
 * @param theirs a JSON list of imported IDs
 */
const resolvedStatement = (dialect: SqlDialect, org: string, store: string, theirs: string): SQL => {
  // Of the entries imported under this ID: one by the same owner, or one that every reader of the waiting entry may read.
  const come = sql`SELECT max(m.entry_id) FROM imported m
    WHERE m.org = ${org} AND m.store = ${store} AND m.their_id = w.their_id AND m.version > 0 AND (
      EXISTS (SELECT 1 FROM imported o WHERE o.entry_id = w.entry_id AND o.org = ${org} AND o.owner = m.owner)
      OR EXISTS (SELECT 1 FROM entries t WHERE t.id = m.entry_id AND ${readByAllOf('t', sql`w.entry_id`)}))`
  const untouched = sql`EXISTS (SELECT 1 FROM imported o WHERE o.entry_id = e.id AND o.org = ${org} AND o.version = e.version)`
  return sql`
    SELECT w.entry_id, w.their_id, w.relation, w.origin, (${come}) AS to_id, e.version, e.metadata, e.links, e.bytes
    FROM (
      SELECT DISTINCT w.entry_id FROM import_references w
      WHERE w.org = ${org} AND w.store = ${store} AND w.their_id ${dialect.inList(sql`${theirs}`)} AND (${come}) IS NOT NULL
      ORDER BY w.entry_id LIMIT ${AT_ONCE}
    ) heads
    ${dialect.plan.follow('import_references', 'w', sql`w.entry_id = heads.entry_id AND w.org = ${org} AND w.store = ${store}`)}
    ${dialect.plan.followLeft('entries', 'e', sql`e.id = w.entry_id AND e.org = ${org} AND ${untouched}`)}
    WHERE (${come}) IS NOT NULL
    ORDER BY w.entry_id`
}

interface Settled {
  readonly statements: SQL[]
  readonly links: number
  readonly entries: number
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Replaces IDs in metadata; a text stays a text. */
const mapped = (metadata: JsonObject, ours: ReadonlyMap<string, number>): JsonObject =>
  withIds(metadata, (id): JsonValue => {
    const here = ours.get(String(id))
    return here === undefined ? id : typeof id === 'string' ? String(here) : here
  })

function settlements(dialect: SqlDialect, org: string, store: string, rows: readonly Row[]): Settled {
  const statements: SQL[] = []
  let links = 0
  const groups = Map.groupBy(rows, (row) => Number(row.entry_id))
  for (const [id, all] of groups) {
    const [first] = all
    if (first?.version !== null && first?.version !== undefined) {
      const ours = new Map(all.map((row) => [String(row.their_id), Number(row.to_id)]))
      const before: unknown = typeof first.metadata === 'string' ? parseExactJson(first.metadata) : null
      const after = isObject(before) ? mapped(before, ours) : null
      const old = typeof first.metadata === 'string' ? first.metadata : ''
      const text = after === null ? null : jsonText(after)
      const known: unknown = typeof first.links === 'string' ? JSON.parse(first.links) : []
      const named = all
        .filter(({ origin }) => origin === 'metadata')
        .map(({ relation, to_id: to }): [string, number] => [String(relation), Number(to)])
      const both = [...(Array.isArray(known) ? known : []), ...named]
      const bytes = Number(first.bytes) - utf8Length(old) + utf8Length(text ?? '')
      statements.push(
        sql`UPDATE entries SET metadata = ${text}, links = ${both.length === 0 ? null : JSON.stringify(both)}, bytes = ${bytes}
          WHERE id = ${id} AND org = ${org} AND version = ${Number(first.version)}`,
      )
      for (const { relation, to_id: to, origin } of all) {
        if (relation === '') continue
        links++
        if (origin === 'metadata') continue
        statements.push(
          sql`INSERT INTO links (org, from_id, relation, to_id, origin)
            SELECT e.org, e.id, ${String(relation)}, ${Number(to)}, ${String(origin)} FROM entries e WHERE e.id = ${id} AND e.org = ${org}
            ON CONFLICT DO NOTHING`,
        )
      }
    }
    const done = JSON.stringify([...new Set(all.map((row) => String(row.their_id)))])
    statements.push(doneStatement(dialect, org, store, id, done))
  }
  return { statements, links, entries: groups.size }
}

const doneStatement = (dialect: SqlDialect, org: string, store: string, id: number, theirs: string): SQL =>
  sql`DELETE FROM import_references WHERE org = ${org} AND store = ${store} AND entry_id = ${id}
    AND their_id ${dialect.inList(sql`${theirs}`)}`

const LOST = 'An imported entry is being changed by another call; send the volume again'

/** Returns an ID of this database in its record form; null if it is not one. */
const ownId = (theirId: string): number | null => (/^[1-9]\d{0,15}$/.test(theirId) ? Number(theirId) : null)

/** Creates the import store over any SQL connection. */
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

  /** Runs several statements that return the same columns, and returns all rows. */
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
        // Of several, an existing entry takes precedence; in the same store, the first one.
        if (remembered === null || (before && (isOwn || before.existing !== null || remembered.existing === null)))
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
        const take = importStatements(context, batch, since)
        const all = new Batch(importGuard(context, batch), ...take.before)
        fresh = take.versions.map((statement) => all.add(statement, howMany))
        return all.do([
          ...take.after,
          auditStatement(caller.org, now, { ...caller, allowed: true, ids, detail }),
          ...imageGuard(dialect, caller.org, hashes, knownRemovals),
          ...(entries.length === 0 ? [] : [rescanFrom(Math.min(...entries.map(({ id }) => id)))]),
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
        if (error instanceof PreconditionFailed) throw new Problem('conflict', LOST)
        throw error
      }
    },

    async resolveLinks(caller, store, theirIds) {
      let links = 0
      for (const json of jsonGroups(theirIds)) {
        const rows = await runOne(connection, resolvedStatement(dialect, caller.org, store, json), asRows)
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
      // Retained versions are removed first when space is needed.
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
