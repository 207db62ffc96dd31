import { type SQL, sql } from 'drizzle-orm'
import { VERSION_PREVIEW } from '../../../../domain/history/version'
import type { Scope } from '../../../../domain/identity/scope'
import type { Window } from '../../../../domain/search/window'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { isActive, isActiveOrRetained, visibleState } from '../../core/visibility'
import { ENTRY_COLUMNS, ENTRY_NAMES, isVersion, largeColumnBytes } from '../entries/entry-rows'
import { textOf } from '../texts/long-texts'

/** Reads earlier versions of entries (`entry_versions`). */

/**
 * Text of a retained version. If it is not stored with its version, it is in the table of long texts, or else with the next version that
 * has the same text; the hash verifies it.
 */
export const retainedText = sql`
  CASE WHEN v.text <> '' THEN v.text ELSE coalesce(
    (SELECT l.text FROM long_texts l WHERE l.org = v.org AND l.hash = v.text_hash),
    (
      SELECT n.text FROM entry_versions n
      WHERE n.entry_id = v.entry_id AND n.version > v.version AND n.text <> '' AND n.text_hash = v.text_hash
      ORDER BY n.version LIMIT 1
    ),
    (SELECT s.text FROM entries s WHERE s.id = v.entry_id AND s.text <> '' AND s.text_hash = v.text_hash)
  ) END`

/** The same text in the form of an entry's row. */
export const retainedInlineText = sql`
  CASE WHEN EXISTS (SELECT 1 FROM long_texts l WHERE l.org = v.org AND l.hash = v.text_hash) THEN '' ELSE ${retainedText} END`

/** Columns of an entry that a retained version has under another name, or not at all. */
const RETAINED_AS: ReadonlyMap<string, string> = new Map([
  ['id', 'v.entry_id AS id'],
  ['captured', 'NULL AS captured'],
  ['approved_version', 'NULL AS approved_version'],
])

/** Columns of an entry from a retained version, in the order of `ENTRY_COLUMNS`, for a UNION. */
export const RETAINED_COLUMNS = sql.raw(ENTRY_NAMES.map((name) => RETAINED_AS.get(name) ?? `v.${name}`).join(', '))

interface HistoryContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Returns whether the scope could see a version; `e` is the present row, or one pending deletion. */
const seesState = ({ dialect, scope, now }: HistoryContext, alias: string): SQL =>
  alias === 'e'
    ? sql`${visibleState(dialect, scope, now, 'e', 'id')} AND ${isActiveOrRetained('e')}`
    : visibleState(dialect, scope, now, alias)

/** Returns whether an entry has a history: none is shown after its last version has expired. */
const lasts = (id: SQL, now: Millis): SQL => sql`NOT EXISTS (
    SELECT 1 FROM (
      SELECT CASE WHEN EXISTS (SELECT 1 FROM entries x WHERE x.id = ${id})
        THEN (SELECT x.expires_at FROM entries x WHERE x.id = ${id})
        ELSE (SELECT x.expires_at FROM entry_versions x WHERE x.entry_id = ${id} ORDER BY x.version DESC LIMIT 1)
      END AS expires_at
    ) AS last WHERE last.expires_at <= ${now}
  )`

/** Returns the same for a version of one entry. */
const sees = (context: HistoryContext, alias: string, id: number): SQL =>
  sql`${seesState(context, alias)} AND ${lasts(sql`${id}`, context.now)}`

/** Returns every version of an entry that the scope may see, as `shown`: the present one, retained ones, deletions. */
function shownVersions(context: HistoryContext, id: number): SQL {
  const { dialect } = context
  const action = (alias: string) => {
    const e = sql.raw(alias)
    return sql`CASE WHEN ${e}.restored = 1 THEN 'restored' WHEN ${e}.version = 1 THEN 'stored' ELSE 'updated' END`
  }
  const maker = (alias: string) => {
    const e = sql.raw(alias)
    return sql`CASE WHEN ${e}.changed_by IS NULL THEN ${e}.agent ELSE ${e}.changed_agent END, coalesce(${e}.changed_by, ${e}.created_by)`
  }
  return sql`shown (version, at, action, agent, key_id, live, held) AS (
    SELECT e.version, e.updated_at, ${action('e')}, ${maker('e')}, CASE WHEN ${isActive('e')} THEN 1 ELSE 0 END, 'row'
    FROM entries e WHERE e.id = ${id} AND ${sees(context, 'e', id)}
    UNION ALL
    SELECT v.version, v.updated_at, ${action('v')}, ${maker('v')}, 0, 'kept'
    FROM entry_versions v WHERE v.entry_id = ${id} AND ${sees(context, 'v', id)}
    UNION ALL
    SELECT v.ended_version, v.ended_at, 'deleted', v.ended_agent, v.ended_by, 0, 'none'
    FROM entry_versions v WHERE v.entry_id = ${id} AND v.deleted = 1 AND ${sees(context, 'v', id)}
    UNION ALL
    SELECT e.version + 1, l.at, 'deleted', l.agent, l.key_id, 0, 'none'
    FROM pending_deletes l ${dialect.plan.follow('entries', 'e', sql`e.id = l.entry_id`)}
    WHERE l.entry_id = ${id} AND ${sees(context, 'e', id)}
  )`
}

export function versionStatements(context: HistoryContext, id: number, window: Window): { totals: SQL; page: SQL } {
  const shown = shownVersions(context, id)
  const preview = (text: SQL) => sql`substr(${text}, 1, ${VERSION_PREVIEW})`
  return {
    totals: sql`WITH ${shown} SELECT count(*) AS total, max(version) AS newest, max(live) AS live FROM shown`,
    page: sql`
      WITH ${shown}, page AS (
        SELECT * FROM shown ORDER BY version DESC LIMIT ${window.limit} OFFSET ${window.offset}
      )
      SELECT page.version, page.at, page.action, page.agent, page.key_id,
        (
          SELECT p.changed FROM entry_versions p
          WHERE p.entry_id = ${id} AND p.ended_version = page.version AND p.deleted = 0 AND ${sees(context, 'p', id)}
        ) AS changed,
        CASE
          WHEN page.held = 'row' THEN (SELECT ${preview(textOf())} FROM entries e WHERE e.id = ${id})
          WHEN page.held = 'kept' THEN (
            SELECT ${preview(retainedText)} FROM entry_versions v WHERE v.entry_id = ${id} AND v.version = page.version
          )
          ELSE ''
        END AS preview
      FROM page ORDER BY page.version DESC`,
  }
}

/** Returns one version, as an entry. */
export const stateStatement = (context: HistoryContext, id: number, version: number): SQL => sql`
  SELECT ${ENTRY_COLUMNS}, ${textOf()} AS text FROM entries e
  WHERE e.id = ${id} AND ${isVersion(sql`e.version`, version)} AND ${sees(context, 'e', id)}
  UNION ALL
  SELECT ${RETAINED_COLUMNS}, ${retainedText} FROM entry_versions v
  WHERE v.entry_id = ${id} AND ${isVersion(sql`v.version`, version)} AND ${sees(context, 'v', id)}`

/** Returns the texts of versions, newest first, up to a number of bytes. */
export function textsStatement(
  context: HistoryContext,
  id: number,
  versions: readonly number[],
  maxBytes: number,
): SQL {
  const wanted = sql`(SELECT value FROM ${context.dialect.jsonNumbers(sql`${JSON.stringify(versions)}`)})`
  return sql`
    WITH sized AS (
      SELECT version, sum(bytes) OVER (ORDER BY version DESC) AS up_to_here
      FROM (
        SELECT e.version, e.bytes FROM entries e
        WHERE e.id = ${id} AND e.version IN ${wanted} AND ${sees(context, 'e', id)}
        UNION ALL
        SELECT v.version, v.bytes FROM entry_versions v
        WHERE v.entry_id = ${id} AND v.version IN ${wanted} AND ${sees(context, 'v', id)}
      ) all_of_them
    )
    SELECT sized.version, coalesce(
      (SELECT ${textOf()} FROM entries e WHERE e.id = ${id} AND e.version = sized.version),
      (SELECT ${retainedText} FROM entry_versions v WHERE v.entry_id = ${id} AND v.version = sized.version)
    ) AS text
    FROM sized WHERE sized.up_to_here <= ${maxBytes}`
}

/**
 * Returns entries as they were at a time, in the order of the IDs; beyond `maxBytes` only the ID, as `wanted_id`. Entries that have expired
 * since are not returned.
 */
export function asOfStatement(
  { dialect, scope, now }: HistoryContext,
  ids: readonly number[],
  at: Millis,
  maxBytes: number,
): SQL {
  const places = JSON.stringify(ids.map((id, place) => [id, place]))
  const wanted = sql`${dialect.jsonTable(sql`${places}`, { id: 'integer', place: 'integer' })} wanted`
  const fits = sql`(sized.up_to_here <= ${maxBytes} OR sized.up_to_here = sized.size)`
  const alive = Math.max(at, now)
  const stood = sql`${visibleState(dialect, scope, alive, 'e', 'id')} AND ${isActiveOrRetained('e', at)}`
  return sql`
    WITH standing AS (
      SELECT wanted.place, e.id, e.version, 1 AS live, e.bytes + ${largeColumnBytes(dialect)} AS size
      FROM ${wanted} ${dialect.plan.follow('entries', 'e', sql`e.id = wanted.id`)}
      WHERE e.updated_at <= ${at} AND ${stood}
      UNION ALL
      SELECT wanted.place, v.entry_id, v.version, 0, v.bytes + v.size
      FROM ${wanted} ${dialect.plan.follow('entry_versions', 'v', sql`v.entry_id = wanted.id`)}
      WHERE v.updated_at <= ${at} AND v.ended_at > ${at} AND ${visibleState(dialect, scope, alive)}
        AND ${lasts(sql`v.entry_id`, now)}
    ), sized AS (
      SELECT place, id, version, live, size, sum(size) OVER (ORDER BY place) AS up_to_here FROM standing
    )
    SELECT sized.place, sized.id AS wanted_id, ${ENTRY_COLUMNS}, ${textOf()} AS text
    FROM sized ${dialect.plan.follow('entries', 'e', sql`e.id = sized.id AND sized.live = 1 AND ${fits}`)}
    UNION ALL
    SELECT sized.place, sized.id, ${RETAINED_COLUMNS}, ${retainedText}
    FROM sized
      ${dialect.plan.followLeft('entry_versions', 'v', sql`v.entry_id = sized.id AND v.version = sized.version AND ${fits}`)}
    WHERE sized.live = 0 OR NOT ${fits}
    ORDER BY 1`
}
