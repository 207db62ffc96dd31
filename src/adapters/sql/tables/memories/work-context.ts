import { type SQL, sql } from 'drizzle-orm'
import type { MemoryInContext } from '../../../../domain/recall/rank-current'
import { namesOf, type WorkContext } from '../../../../domain/recall/work-context'
import { FALSE } from '../../core/compile-filter'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { flag, num, str } from '../../core/rows'
import { kindOf, layerOf } from '../entries/entry-rows'
import { previewOf } from '../texts/long-texts'
import { isOfOtherProject } from './memory-statements'

/** Columns that relate a memory `e` to the work context (fabric contract §5); plain code ranks by them. */

/** Characters of a text that are searched for the names of files and commands. */
const SEARCHED = 50_000
/**
 * Characters around a found name. Hundreds of rows are in one value of at most 2 MB in D1, and JSON needs six bytes for a control
 * character.
 */
const NAMING = { before: 100, most: 500 } as const

/** Metadata fields with a file path, and their indexes. */
export const FILES = [
  { path: ['fileContext', 'path'], index: 'entries_file_path_idx' },
  { path: ['codeBlock', 'filePath'], index: 'entries_code_file_path_idx' },
] as const

export const CONTEXT_COLUMNS = [
  ...['layer', 'kind', 'updated_at', 'used_at', 'last_seen', 'file', 'code_file', 'language'],
  ...['is_own', 'is_captured', 'is_away', 'naming'],
] as const

/** Longer paths match no file. */
const beginning = (value: SQL): SQL => sql`substr(${value}, 1, 256)`

const bit = (condition: SQL): SQL => sql`CASE WHEN ${condition} THEN 1 ELSE 0 END`

/** Returns the columns in addition to `id` and `weight`. */
export function contextColumns(dialect: SqlDialect, moment: WorkContext): SQL {
  const { sessionId, project } = moment
  const at = (...path: string[]): SQL => dialect.textAt(path)
  // A short text is read in place, not copied.
  const isShort = sql`e.bytes <= ${sql.raw(String(SEARCHED))} AND e.text <> ''`
  const start = sql`CASE WHEN ${isShort} THEN e.text ELSE ${previewOf(dialect, SEARCHED)} END`
  const found = namesOf(moment).map((name) => dialect.position(start, sql`${name}`))
  const naming = found.map((place) => {
    const from = sql`CASE WHEN ${place} > ${sql.raw(String(NAMING.before))} THEN ${place} - ${sql.raw(String(NAMING.before))} ELSE 1 END`
    return sql` WHEN ${place} > 0 THEN substr(${start}, ${from}, ${sql.raw(String(NAMING.most))})`
  })
  const own = sessionId === null ? FALSE : sql`coalesce(${at('sessionId')}, '') = ${sessionId}`
  const columns = {
    used_at: sql`coalesce(e.accessed_at, e.created_at)`,
    last_seen: beginning(at('lastSeen')),
    file: beginning(at('fileContext', 'path')),
    code_file: beginning(at('codeBlock', 'filePath')),
    language: beginning(sql`coalesce(${at('codeBlock', 'language')}, ${at('fileContext', 'language')})`),
    is_own: bit(own),
    is_captured: bit(sql`coalesce(${at('source')}, '') = 'system_auto'`),
    is_away: bit(isOfOtherProject(dialect, moment, project)),
    naming: naming.length === 0 ? sql`''` : sql`CASE${sql.join(naming)} ELSE '' END`,
  }
  const named = Object.entries(columns).map(([name, value]) => sql`${value} AS ${sql.raw(name)}`)
  return sql`e.layer, e.kind, e.updated_at, ${sql.join(named, sql`, `)}`
}

const isText = (value: unknown): value is string => typeof value === 'string'

export function toMemoryInContext(row: Row): MemoryInContext {
  const lastSeen = isText(row.last_seen) ? Date.parse(row.last_seen) : Number.NaN
  return {
    id: num(row, 'id'),
    layer: layerOf(row),
    kind: kindOf(row, 'kind'),
    weight: num(row, 'weight'),
    updatedAt: num(row, 'updated_at'),
    usedAt: num(row, 'used_at'),
    lastSeen: Number.isNaN(lastSeen) ? null : lastSeen,
    paths: [...new Set([row.file, row.code_file].filter(isText))],
    language: isText(row.language) ? row.language : null,
    isOwn: flag(row, 'is_own'),
    isCaptured: flag(row, 'is_captured'),
    isAway: flag(row, 'is_away'),
    naming: str(row, 'naming'),
  }
}
