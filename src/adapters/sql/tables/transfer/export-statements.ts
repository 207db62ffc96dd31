import { type SQL, sql } from 'drizzle-orm'
import { circle, inProject, lastCircle, visible } from '../../core/visibility'
import { changedSince, OLDEST_FIRST } from '../changes/change-rows'
import { textOf } from '../texts/long-texts'
import { keptText } from '../writes/history-statements'
import { type ExportContext, exportable, exportableState, isGone, list, ofProject, stoodThen } from './exportable'
import { ENTRY_RECORD_COLUMNS, VERSION_RECORD_COLUMNS } from './record-rows'

/** The statements that read an org for an export. */

/** Bytes of a vector's line, about. */
const VECTOR_BYTES = 1_200

const sizeOf = ({ selection: { history, vectors } }: ExportContext, id: SQL): SQL[] => [
  ...(history ? [sql`(SELECT coalesce(sum(w.bytes), 0) FROM entry_versions w WHERE w.entry_id = ${id})`] : []),
  ...(vectors ? [sql`${VECTOR_BYTES} * (SELECT count(*) FROM entry_vectors w WHERE w.entry_id = ${id})`] : []),
]

const sum = (parts: readonly SQL[]): SQL => sql.join([...parts], sql` + `)

const entryToExport = (context: ExportContext): SQL =>
  sql`e.id, 'entry' AS what, ${sum([sql`e.bytes`, ...sizeOf(context, sql`e.id`)])} AS bytes`

const goneToExport = (context: ExportContext): SQL =>
  sql`v.entry_id AS id, 'deleted' AS what, ${sum([sql`0`, ...sizeOf(context, sql`v.entry_id`)])} AS bytes`

/** What is exported of ids beyond one, in their order. */
export function listStatement(context: ExportContext, beyond: number, limit: number): SQL {
  const { dialect, scope, selection } = context
  const ofOrg = dialect.plan.rangeOf(sql`e.org`, sql`${scope.org}`)
  const part = (index: string, led: SQL) => sql`SELECT * FROM (
      SELECT ${entryToExport(context)} FROM ${dialect.plan.entriesBy(index, led)}
      WHERE ${led} AND ${ofOrg} AND e.id > ${beyond} AND ${exportable(context)}
      ORDER BY ${dialect.plan.inOrder(sql`e.org`, sql`e.id`)} LIMIT ${limit}
    ) ${sql.raw(index)}`
  const deleted = sql`SELECT * FROM (
      SELECT ${goneToExport(context)} FROM entry_versions v
      WHERE ${dialect.plan.rangeOf(sql`v.org`, sql`${scope.org}`)} AND v.entry_id > ${beyond} AND ${isGone} AND ${exportableState(context)}
      ORDER BY ${dialect.plan.inOrder(sql`v.org`, sql`v.entry_id`)} LIMIT ${limit}
    ) kept`
  const parts = [
    part('entries_org_id_idx', sql`e.listed = 1`),
    part('entries_unlisted_id_idx', sql`e.listed = 0`),
    ...(selection.history ? [deleted] : []),
  ]
  return sql`${sql.join(parts, sql` UNION ALL `)} ORDER BY id LIMIT ${limit}`
}

/** Rows of the log between two changes. */
export const changedStatement = ({ dialect, scope }: ExportContext, after: number, until: number, limit: number): SQL =>
  sql`SELECT c.seq, c.entry_id FROM changes c
    WHERE ${changedSince(dialect, scope.org, sql`${after}`)} AND c.seq <= ${until} ${OLDEST_FIRST} LIMIT ${limit}`

/** Of ids that have changed: what is exported, and what was the scope's to read and is not any more. */
export function listChangedStatements(
  context: ExportContext,
  ids: readonly number[],
): { readonly entries: SQL; readonly gone: SQL; readonly deleted: SQL | null } {
  const { dialect, scope, selection } = context
  const among = (id: SQL) => sql`${id} ${dialect.plan.oneOf(list(context, ids))}`
  const { project } = selection
  const wasThere = project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`c.was_project`)}`
  const seen = sql`(${circle(dialect, scope, 'c', 'null', 'was_')} OR ${lastCircle(dialect, scope, 'c')})`
  return {
    entries: sql`SELECT ${entryToExport(context)} FROM entries e WHERE ${among(sql`e.id`)} AND ${exportable(context)} ORDER BY e.id`,
    gone: sql`SELECT DISTINCT c.entry_id AS id FROM changes c
      WHERE ${among(sql`c.entry_id`)} AND ${dialect.plan.filterOnly(sql`${dialect.plan.unordered(sql`c.org`)} = ${scope.org}`)}
        AND c.seq > ${selection.after ?? 0}
        AND c.was_thread IS NOT NULL AND ${seen}${wasThere}
        AND NOT EXISTS (SELECT 1 FROM entries e
          WHERE e.id = c.entry_id AND ${visible(dialect, scope, context.now)}${ofProject(context, 'e')})
      ORDER BY 1`,
    deleted: selection.history
      ? sql`SELECT ${goneToExport(context)} FROM entry_versions v
            WHERE ${among(sql`v.entry_id`)} AND ${dialect.plan.filterOnly(sql`v.org = ${scope.org}`)}
              AND ${isGone} AND ${exportableState(context)}`
      : null,
  }
}

/** Entries, their links, kept states and vectors of these ids. */
export function readStatements(
  context: ExportContext,
  ids: readonly number[],
  versions: { readonly beyond: number; readonly maxBytes: number },
): { readonly entries: SQL; readonly links: SQL; readonly versions: SQL | null; readonly vectors: SQL | null } {
  const { dialect, scope, selection } = context
  const among = (id: SQL) => sql`${id} ${dialect.plan.oneOf(list(context, ids))}`
  const inOrg = (alias: string) => dialect.plan.filterOnly(sql`${sql.raw(alias)}.org = ${scope.org}`)
  return {
    entries: sql`SELECT ${ENTRY_RECORD_COLUMNS}, ${textOf()} AS text FROM entries e
      WHERE ${among(sql`e.id`)} AND ${exportable(context)} ORDER BY e.id`,
    links: sql`SELECT l.from_id, l.relation, l.to_id, l.origin FROM links l
      WHERE l.org = ${scope.org} AND ${among(sql`l.from_id`)}`,
    versions: selection.history
      ? sql`SELECT ${VERSION_RECORD_COLUMNS}, ${keptText} AS text, sized.all_of_them
          FROM (
            SELECT v.id, sum(v.bytes) OVER (ORDER BY v.entry_id, v.version) - v.bytes AS before_it, count(*) OVER () AS all_of_them
            FROM entry_versions v
            WHERE ${among(sql`v.entry_id`)} AND ${inOrg('v')} AND v.version > ${versions.beyond} AND ${exportableState(context)}
          ) sized ${dialect.plan.follow('entry_versions', 'v', sql`v.id = sized.id`)}
          WHERE sized.before_it <= ${versions.maxBytes} ORDER BY v.entry_id, v.version`
      : null,
    vectors: selection.vectors
      ? sql`SELECT v.entry_id, v.model, v.chunk, v.start, v.length, v.data FROM entry_vectors v
          WHERE ${among(sql`v.entry_id`)} AND ${inOrg('v')} ORDER BY v.entry_id, v.model, v.chunk`
      : null,
  }
}

/** What is known of entries that others name. */
export function namedStatements(
  context: ExportContext,
  ids: readonly number[],
): { readonly standing: SQL; readonly deleted: SQL | null } {
  const { dialect, scope, selection } = context
  const among = (id: SQL) => sql`${id} ${dialect.plan.oneOf(list(context, ids))}`
  const changed =
    selection.after === null
      ? sql`1 = 1`
      : sql`EXISTS (SELECT 1 FROM changes c WHERE c.entry_id = e.id AND c.org = e.org
          AND c.seq > ${selection.after} AND c.seq <= ${selection.until})`
  const inside = sql`CASE WHEN ${changed} AND ${stoodThen(context)}${ofProject(context, 'e')} THEN 1 ELSE 0 END`
  return {
    standing: sql`SELECT e.id, e.text_hash, e.created_at, ${inside} AS inside FROM entries e
      WHERE ${among(sql`e.id`)} AND ${visible(dialect, scope, context.now)}`,
    deleted: selection.history
      ? sql`SELECT DISTINCT v.entry_id AS id FROM entry_versions v
            WHERE ${among(sql`v.entry_id`)} AND ${dialect.plan.filterOnly(sql`v.org = ${scope.org}`)}
              AND ${isGone} AND ${exportableState(context)}`
      : null,
  }
}

/**
 * The first entry of the export that uses each image: in itself, or in a kept state. One that has changed since the export began may have
 * got it behind its page, so it does not count.
 */
export function firstUsesStatement(context: ExportContext, hashes: readonly string[]): SQL {
  const { dialect, scope, selection } = context
  const unchanged = sql`NOT EXISTS (SELECT 1 FROM changes c WHERE c.entry_id = e.id AND c.org = e.org AND c.seq > ${selection.until})`
  const windowed =
    selection.after === null
      ? sql``
      : sql` AND EXISTS (SELECT 1 FROM changes c WHERE c.entry_id = e.id AND c.org = e.org AND c.seq > ${selection.after})`
  const standing = sql`SELECT u.entry_id FROM image_uses u ${dialect.plan.follow('entries', 'e', sql`e.id = u.entry_id`)}
    WHERE u.org = ${scope.org} AND u.hash = h.value AND u.entry_id > 0 AND ${exportable(context)} AND ${unchanged}${windowed}
    ORDER BY u.entry_id LIMIT 1`
  return sql`SELECT h.value AS hash, (${standing}) AS id FROM ${dialect.jsonRows(sql`${JSON.stringify(hashes)}`)} AS h`
}
