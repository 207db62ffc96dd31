import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Filter } from '../../../../domain/search/filter'
import { LARGE } from '../../../../domain/search/filter-weight'
import type { Clock } from '../../../../ports/clock'
import type { LargeMetadata, LargeRequest } from '../../../../ports/large-metadata'
import { readOne } from '../../core/batch'
import { compileFilter, TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows } from '../../core/rows'
import { listed } from '../../core/visibility'
import { withPrelude } from '../../tables/entries/read-statements'
import { PASSED_OVER, shareOf } from '../../tables/entries/share'

/** Bytes of metadata that are brought at once, and up to the size of one entry's more. */
const BROUGHT_BYTES = 1_000_000
/** Entries with large metadata that one statement passes, whether they are admitted or not. */
const PASSED = 4_000

const number = (value: number): SQL => sql.raw(String(value))

export function createSqlLargeMetadata(connection: SqlConnection, clock: Clock): LargeMetadata {
  const { dialect } = connection

  /** Rows of the next entries with so many bytes, and one without an id that says where to go on. */
  async function look(
    scope: Scope,
    { filter, above, after }: LargeRequest,
    { bytes, columns, of }: { readonly bytes: number; readonly columns: SQL; readonly of: Filter | null },
  ): Promise<{ rows: Row[]; last: number | null }> {
    const bindings = dialect.bindings()
    const condition = compileFilter(filter, dialect, bindings.bind)
    const fulfilled = of === null ? TRUE : compileFilter(of, dialect, bindings.bind)
    const upTo = (sum: number): SQL => sql`before < ${number(sum)}`
    // By the index alone, which knows the sizes; to what stands behind metadata in a row they are passed over.
    const next = sql`next AS MATERIALIZED (
      SELECT e.id, octet_length(e.metadata) AS bytes FROM ${dialect.plan.entriesBy('entries_large_metadata_idx')}
      WHERE e.org = ${scope.org} AND e.listed = 1 AND octet_length(e.metadata) > ${number(LARGE)} AND e.id > ${after}
      ORDER BY e.id LIMIT ${number(PASSED)}
    )`
    const reached = sql`reached AS MATERIALIZED (
      SELECT id, bytes FROM (
        SELECT id, bytes, sum(bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - bytes AS before FROM next
      ) AS sized WHERE ${upTo(bytes * PASSED_OVER)}
    )`
    const found = sql`found AS MATERIALIZED (
      SELECT e.id, sum(reached.bytes) OVER (ORDER BY e.id ROWS UNBOUNDED PRECEDING) - reached.bytes AS before
      FROM reached ${dialect.plan.follow('entries', 'e', sql`e.id = reached.id`)}
      WHERE reached.bytes > ${number(above)} AND ${listed(dialect, scope, clock.now())} AND ${condition}
    )`
    const last = sql`CASE
      WHEN (SELECT count(*) FROM found WHERE NOT ${upTo(bytes)}) > 0 THEN (SELECT max(id) FROM found WHERE ${upTo(bytes)})
      WHEN (SELECT count(*) FROM next) = ${number(PASSED)} OR (SELECT count(*) FROM next) > (SELECT count(*) FROM reached)
        THEN (SELECT max(id) FROM reached)
    END`
    const rows = await readOne(
      connection,
      withPrelude(
        bindings,
        [next, reached, found],
        sql`SELECT e.id, ${columns} AS metadata, NULL AS last
          FROM found ${dialect.plan.follow('entries', 'e', sql`e.id = found.id`)} WHERE ${upTo(bytes)} AND ${fulfilled}
          UNION ALL SELECT NULL, NULL, ${last}`,
      ),
      asRows,
    )
    const { last: reachedId = null } = rows.find(({ id }) => id === null) ?? {}
    return { rows: rows.filter(({ id }) => id !== null), last: reachedId === null ? null : Number(reachedId) }
  }

  return {
    async next(scope, request) {
      const { rows, last } = await look(scope, request, { bytes: BROUGHT_BYTES, columns: sql`e.metadata`, of: null })
      return { metadata: rows.map(({ id, metadata }) => ({ id: Number(id), json: metadata as string })), last }
    },

    async admitted(scope, request, of) {
      // Half of a share: metadata of that size stand in pages of their own, which are read too.
      const bytes = Math.ceil((shareOf(dialect, of)?.bytes ?? BROUGHT_BYTES) / 2)
      const { rows, last } = await look(scope, request, { bytes, columns: sql`NULL`, of })
      return { ids: rows.map(({ id }) => Number(id)), last }
    },
  }
}
