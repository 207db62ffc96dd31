import { type SQL, sql } from 'drizzle-orm'
import { QUOTA_NAMES, type Quotas } from '../../../domain/quota'

/**
 * The limits of an org as guards of a batch. What it holds stands in `org_usage`, which triggers keep (0008_quotas.sql). A write
 * that takes no more room than there was before it is never refused, whatever the limit: so what is too much can be reduced.
 */
export function quotaGuards(quotas: Quotas, org: string): { readonly before: SQL[]; readonly after: SQL[] } {
  if (quotas.entries === null && quotas.bytes === null) return { before: [], after: [] }
  const guard = (name: string, column: 'items' | 'bytes', limit: number | null, parts: SQL): SQL[] => {
    if (limit === null) return []
    const now = sql.raw(column)
    const before = sql.raw(`${column}_before`)
    return [
      sql`
        INSERT INTO guards (holds, premise)
        SELECT coalesce(sum(${now}), 0) <= ${limit} OR sum(${now}) <= sum(${before}), ${name}
        FROM org_usage WHERE org = ${org}${parts}`,
    ]
  }
  return {
    before: [sql`UPDATE org_usage SET items_before = items, bytes_before = bytes WHERE org = ${org}`],
    after: [
      ...guard(QUOTA_NAMES.entries, 'items', quotas.entries, sql` AND part = 'entries'`),
      ...guard(QUOTA_NAMES.bytes, 'bytes', quotas.bytes, sql``),
    ],
  }
}
