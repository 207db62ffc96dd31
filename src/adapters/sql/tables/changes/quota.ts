import { type SQL, sql } from 'drizzle-orm'
import type { ImageRef } from '../../../../domain/entry/image'
import type { Metadata } from '../../../../domain/entry/metadata'
import type { Scope } from '../../../../domain/identity/scope'
import { jsonText } from '../../../../domain/json/write'
import { QUOTA_NAMES, type Quotas, quotaProblem } from '../../../../domain/quota'
import { scheduler } from '../../../../domain/scheduler'
import { utf8Length } from '../../../../domain/text'
import { Batch, type Decode, runOne } from '../../core/batch'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { num, onlyRow, str } from '../../core/rows'

/** Retained versions that one transaction removes to free space, and their bytes; the first one is always removed. */
const FORGOTTEN = 250
const FORGOTTEN_BYTES = 8_000_000
/** Maximum number of transactions that free space for one write. */
const MOST_PARTS = 50

/**
 * Removes the oldest retained versions of an organization until the additional bytes fit within the limit, or a bounded part of them.
 */
function forgetOldest(dialect: SqlDialect, org: string, limit: number, more = 0): SQL {
  const excess = sql`(SELECT coalesce(sum(u.bytes), 0) + ${more} - ${limit} FROM org_usage u WHERE u.org = ${org})`
  return sql`
    DELETE FROM entry_versions WHERE id IN (
      SELECT sized.id FROM (
        SELECT oldest.id, oldest.size, sum(oldest.size) OVER (ORDER BY oldest.id) AS up_to_here
        FROM (
          SELECT v.id, v.size FROM entry_versions v WHERE v.id > 0 AND ${dialect.plan.rangeOf(sql`v.org`, sql`${org}`)}
          ORDER BY ${dialect.plan.inOrder(sql`v.org`, sql`v.id`)} LIMIT CASE WHEN ${excess} > 0 THEN ${FORGOTTEN} ELSE 0 END
        ) oldest
      ) sized
      WHERE sized.up_to_here - sized.size < ${excess} AND (sized.up_to_here <= ${FORGOTTEN_BYTES} OR sized.up_to_here = sized.size)
    )`
}

/**
 * Returns the quotas of an organization as preconditions of a batch. Triggers maintain its usage in `org_usage`. Above the limit the oldest
 * retained versions are removed first. A write that adds only its audit row is never refused, so that usage can be reduced.
 */
export function quotaGuards(
  dialect: SqlDialect,
  quotas: Quotas,
  org: string,
): { readonly before: SQL[]; readonly after: SQL[] } {
  const { entries, bytes } = quotas
  if (entries === null && bytes === null) return { before: [], after: [] }
  const guard = (name: string, holds: SQL): SQL => sql`
    INSERT INTO guards (holds, precondition) SELECT ${holds}, ${name} FROM org_usage u WHERE u.org = ${org}`
  const items = sql`coalesce(sum(CASE WHEN u.part = 'entries' THEN u.items ELSE 0 END), 0)`
  const unaudited = sql`coalesce(sum(CASE WHEN u.part <> 'audit' THEN u.bytes ELSE 0 END), 0)`
  const before = (column: string) => sql`(SELECT ${sql.raw(column)} FROM write_context WHERE org = ${org})`
  return {
    before: [
      sql`INSERT INTO write_context (org, change_id, after_seq, items_before, bytes_before)
        SELECT ${org}, '', 0, ${items}, ${unaudited} FROM org_usage u WHERE u.org = ${org}
        ON CONFLICT (org) DO UPDATE SET items_before = excluded.items_before, bytes_before = excluded.bytes_before`,
    ],
    after: [
      ...(bytes === null ? [] : [forgetOldest(dialect, org, bytes)]),
      ...(entries === null
        ? []
        : [guard(QUOTA_NAMES.entries, sql`${items} <= ${entries} OR ${items} <= ${before('items_before')}`)]),
      ...(bytes === null
        ? []
        : [
            guard(
              QUOTA_NAMES.bytes,
              sql`coalesce(sum(u.bytes), 0) <= ${bytes} OR ${unaudited} <= ${before('bytes_before')}`,
            ),
          ]),
    ],
  }
}

interface QuotaCheck {
  readonly connection: SqlConnection
  readonly quotas: Quotas
  readonly scope: Scope
  /** Maximum bytes that the write adds; called when it was refused. */
  readonly takes: () => number
}

const toUsage = (row: Row) => ({ held: num(row, 'held'), versions: num(row, 'versions') })

/** Returns the usage of each part. */
const toParts: Decode<Map<string, number>> = (rows) => new Map(rows.map((row) => [str(row, 'part'), num(row, 'bytes')]))

/** Removes retained versions. @returns whether the write may fit now; removes none if even all would not be enough */
async function forgetVersions({ connection, quotas: { bytes: limit }, scope, takes }: QuotaCheck): Promise<boolean> {
  if (limit === null) return false
  const { org } = scope
  const more = takes()
  const usage = sql`
    SELECT coalesce(sum(bytes), 0) AS held, coalesce(sum(CASE WHEN part = 'versions' THEN bytes ELSE 0 END), 0) AS versions
    FROM org_usage WHERE org = ${org}`
  let made = false
  for (let part = 0; part < MOST_PARTS; part++) {
    const { held, versions } = await runOne(connection, usage, onlyRow(toUsage))
    if (held + more <= limit) return true
    if (versions === 0 || held + more - limit > versions) return made
    await new Batch(forgetOldest(connection.dialect, org, limit, more)).run(connection, { org })
    await scheduler.yield()
    made = true
  }
  return made
}

/**
 * Runs a write whose batch includes `quotaGuards`. When a quota refuses it, removes retained versions and runs it again.
 *
 * @throws Problem limit_exceeded that lists the usage by part; any other error of the write
 */
export async function withinQuotas<T>(check: QuotaCheck, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      const premise = error instanceof PreconditionFailed ? error.premise : null
      if (quotaProblem(premise, check.quotas, null) === null) throw error
      if (attempt === 1 && premise === QUOTA_NAMES.bytes && (await forgetVersions(check))) continue
      const { connection, quotas, scope } = check
      // A narrowed key must not learn the usage of other projects.
      const parts =
        scope.projects === null
          ? await runOne(connection, sql`SELECT part, bytes FROM org_usage WHERE org = ${scope.org}`, toParts)
          : new Map<string, number>()
      throw quotaProblem(premise, quotas, parts)
    }
  }
}

/** Sizes of a version to be written. */
export interface VersionSize {
  readonly text?: string | { readonly text: string }
  readonly metadata?: Metadata | { readonly value: Metadata } | null
  readonly images?: readonly ImageRef[] | null
}

/** Returns the maximum bytes of versions. */
export const maxBytesOf = (states: readonly VersionSize[]): number =>
  states.reduce((sum, { text = '', metadata = null, images }) => {
    const pictures = (images ?? []).reduce((all, { size }) => all + size, 0)
    return sum + utf8Length(typeof text === 'string' ? text : text.text) + utf8Length(jsonText(metadata)) + pictures
  }, 0)
