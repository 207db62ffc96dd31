import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { ExportSelection } from '../../../../ports/export-store'
import type { SqlDialect } from '../../core/dialect'
import { inProject, visible, visibleState } from '../../core/visibility'
import { idsJson } from './record-rows'

/** What of the rows of an org an export holds. */

/** Who exports what, and when. */
export interface ExportContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
  readonly selection: ExportSelection
}

export const list = ({ dialect }: ExportContext, ids: readonly number[]): SQL =>
  sql`(SELECT value FROM ${dialect.jsonNumbers(idsJson(ids))} AS ids)`

export const ofProject = ({ dialect, scope, selection: { project } }: ExportContext, alias: string): SQL =>
  project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql.raw(`${alias}.project`))}`

/** The entry `e` was not stored, or brought back, behind the instant of the export. */
export const stoodThen = ({ selection: { until } }: ExportContext): SQL => sql`NOT EXISTS (
  SELECT 1 FROM changes c WHERE c.entry_id = e.id AND c.org = e.org AND c.action = 'store' AND c.seq > ${until})`

/** What of entries `e` the export holds. */
export const exportable = (context: ExportContext): SQL =>
  sql`${visible(context.dialect, context.scope, context.now)}${ofProject(context, 'e')} AND ${stoodThen(context)}`

/** Kept states `v` that the export holds. */
export const exportableState = (context: ExportContext): SQL =>
  sql`${visibleState(context.dialect, context.scope, context.now)}${ofProject(context, 'v')}`

/** The last state `v` of an entry that is gone, by its deletion; not of one that was deleted behind the instant of the export. */
export const isGone = sql`v.deleted = 1 AND NOT EXISTS (SELECT 1 FROM entries s WHERE s.id = v.entry_id)
  AND v.version = (SELECT max(l.version) FROM entry_versions l WHERE l.entry_id = v.entry_id)`
