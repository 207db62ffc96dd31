// How is an access noted that nobody asked for? What a moment shows is read often, and each note of it would be a commit of its own, so
// notes of an org are gathered and written together a moment later; by whoever writes accesses of the org anyway, if that is sooner.
import { type SQL, sql } from 'drizzle-orm'
import type { SqlDialect } from '../dialect'

export interface Uses {
  /** How often each memory was shown, by id. */
  readonly times: ReadonlyMap<number, number>
  /** When one of them was last, in milliseconds since 1970. */
  readonly at: number
}

/** Who promised to write may have been ended before; then the next one promises it. */
const FORGOTTEN_MS = 5_000

/** What one isolate knows of one database. */
export interface GatheredUses {
  /**
   * @param at milliseconds since 1970
   * @returns whether the caller has to see to it that they are written; else somebody has promised that already
   */
  add(org: string, ids: readonly number[], at: number): boolean
  /** Those of an org that are not written, which are then the caller's. */
  take(org: string): Uses
  /** What could not be written, to be written with the next. */
  giveBack(org: string, uses: Uses): void
}

export function gatherUses(): GatheredUses {
  const orgs = new Map<string, { readonly times: Map<number, number>; at: number; promised: number | null }>()
  const gather = (org: string, uses: Uses) => {
    const gathered = orgs.get(org) ?? { times: new Map<number, number>(), at: 0, promised: null }
    for (const [id, times] of uses.times) gathered.times.set(id, times + (gathered.times.get(id) ?? 0))
    gathered.at = Math.max(gathered.at, uses.at)
    orgs.set(org, gathered)
    return gathered
  }
  return {
    add(org, ids, at) {
      const gathered = gather(org, { times: new Map(ids.map((id) => [id, 1])), at })
      if (gathered.promised !== null && Math.abs(at - gathered.promised) < FORGOTTEN_MS) return false
      gathered.promised = at
      return true
    },
    take(org) {
      const { times = new Map<number, number>(), at = 0 } = orgs.get(org) ?? {}
      orgs.delete(org)
      return { times, at }
    },
    giveBack: (org, uses) => void gather(org, uses),
  }
}

/** Bytes of metadata from which a row is rewritten apart from others: what holds a note is written anew with all that stands beside it. */
const LARGE = 16_384
/** Large rows that one transaction rewrites, of a quarter of a megabyte at most. */
const LARGE_AT_ONCE = 8

export type Size = 'small' | 'large'

/** Which rows `entries` are meant, where the database runs in the server's own thread; elsewhere all are small. */
export const ofSize = (dialect: SqlDialect, size: Size): SQL =>
  dialect.walked === null
    ? sql`1 = 1`
    : sql`coalesce(octet_length(metadata), 0) ${sql.raw(size === 'small' ? '<=' : '>')} ${LARGE}`

/** One statement for all that were shown as often; it tells the ids. Columns that no version knows; what was deleted is not there. */
export function usesStatements(dialect: SqlDialect, org: string, { times, at }: Uses, size: Size): SQL[] {
  const later = sql`CASE WHEN accessed_at > ${at} THEN accessed_at ELSE ${at} END`
  return [...Map.groupBy(times.keys(), (id) => times.get(id) as number)].map(([shown, ids]) => {
    const list = sql`SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} used`
    return sql`UPDATE entries SET accessed_at = ${later}, access_count = access_count + ${shown}
      WHERE id ${dialect.oneOf(list)} AND ${dialect.aside(sql`${dialect.unordered(sql`org`)} = ${org}`)} AND ${ofSize(dialect, size)}
      RETURNING id`
  })
}

/** What is left of uses when those of small rows have been written, in parts that are written one by one. @param written rows with ids */
export function largeUses({ times, at }: Uses, written: readonly { readonly id?: unknown }[]): Uses[] {
  const done = new Set(written.map(({ id }) => Number(id)))
  const left = [...times].filter(([id]) => !done.has(id))
  return Array.from({ length: Math.ceil(left.length / LARGE_AT_ONCE) }, (_, i) => ({
    times: new Map(left.slice(i * LARGE_AT_ONCE, (i + 1) * LARGE_AT_ONCE)),
    at,
  }))
}
