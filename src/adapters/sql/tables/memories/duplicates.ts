import { type SQL, sql } from 'drizzle-orm'
import { MAX_TAGS } from '../../../../domain/entry/draft'
import type { NewEntry } from '../../../../domain/entry/entry-write'
import { KINDS } from '../../../../domain/entry/kind'
import type { Caller, Scope } from '../../../../domain/identity/scope'
import {
  type DuplicatePolicy,
  type DuplicateUpdate,
  type EqualityKey,
  type EqualMemory,
  equalityKeyOf,
} from '../../../../domain/recall/duplicates'
import { PROBLEM, type Reported } from '../../../../domain/recall/failure-key'
import { kindsOfWord } from '../../../../domain/recall/memory'
import { shownMetadata } from '../../../../domain/recall/memory-metadata'
import type { Millis } from '../../../../domain/time'
import type { Row } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { json, num, numOrNull, strOrNull } from '../../core/rows'
import { inProject, listed, listedToChange } from '../../core/visibility'
import { auditStatement } from '../changes/audit-statements'
import { successorOf } from '../entries/entry-rows'
import { supersededBy } from '../links/links'
import { assignments, writerColumns } from '../writes/entry-columns'
import { toMemory } from './memory-statements'

/** Finds and updates existing memories and problems that a store repeats (fabric contract §3, §7). */
interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

type Writing = Context & { readonly scope: Caller }

/** Name of the precondition in the schema that a matched entry is unchanged since it was read. */
export const EQUAL = 'equal'

/** Characters of a text hash in the index. */
const HASH_START = 16

const ofProject = ({ dialect, scope }: Context, project: string | null): SQL =>
  project === null ? sql`e.project IS NULL` : inProject(dialect, scope, project, sql`e.project`)

/** Returns equal memories, oldest first. */
function equalTo(context: Context, { layer, project, type, textHash, reader, named }: EqualityKey, what: SQL): SQL {
  const { dialect, scope, now } = context
  const kinds = JSON.stringify(kindsOfWord(type) ?? [type])
  const byName =
    named === undefined
      ? sql``
      : sql` AND e.title = ${named.title} AND e.kind = ${named.kind} AND e.audience = ${named.audience}
        AND coalesce(e.owner, '') = ${named.owner ?? ''}`
  const led = sql`e.listed = 1 AND substr(e.text_hash, 1, ${sql.raw(String(HASH_START))}) = ${textHash.slice(0, HASH_START)}`
  return sql`
    SELECT ${what} FROM ${dialect.plan.entriesBy('entries_text_hash_idx', led)}
    WHERE ${led} AND ${listed(dialect, scope, now)}
      AND e.text_hash = ${textHash} AND e.layer = ${layer} AND ${ofProject(context, project)} AND e.reader = ${reader}
      AND e.kind IN (SELECT value FROM ${dialect.jsonRows(sql`${kinds}`)})${byName}
    ORDER BY e.id LIMIT 1`
}

export function duplicatesOf(context: Context, wanted: readonly EqualityKey[], columns: SQL): SQL[] {
  const successor = supersededBy(context.dialect, context.scope, context.now)
  const links = sql`(SELECT ${context.dialect.jsonList(sql`SELECT l.relation || ':' || CAST(l.to_id AS TEXT) AS value
    FROM links l WHERE l.org = e.org AND l.from_id = e.id`)})`
  return wanted.map((one) =>
    equalTo(context, one, sql`${columns}, ${successor} AS superseded_by, ${links} AS links_of`),
  )
}

export function toDuplicate(row: Row): EqualMemory {
  const memory = toMemory(row)
  const { id, tags, pinned } = memory
  const links = new Set(json<string[]>(row, 'links_of'))
  return { id, tags, shown: shownMetadata(memory), pinned, links, ...successorOf(row) }
}

/** Returns visible memories with the key of a problem, oldest first. */
export function reportedStatement(context: Context, project: string | null, key: string): SQL {
  const { dialect, scope, now } = context
  const problem = dialect.textAt([PROBLEM])
  const led = sql`e.listed = 1 AND e.layer = 2 AND ${problem} = ${key} AND ${problem} IS NOT NULL`
  return sql`
    SELECT e.id, e.version, ${dialect.textAt(['fileContext', 'path'])} AS path, ${dialect.numberAt('count')} AS count
    FROM ${dialect.plan.entriesBy('entries_problem_idx', led)}
    WHERE ${led} AND ${listed(dialect, scope, now)} AND ${ofProject(context, project)}
    ORDER BY e.id LIMIT 1000`
}

export const toReported = (row: Row): Reported => ({
  id: num(row, 'id'),
  version: num(row, 'version'),
  path: strOrNull(row, 'path'),
  count: Math.max(1, numOrNull(row, 'count') ?? 1),
})

/**
 * Returns the preconditions of a deduplication, then the updates of existing memories.
 *
 * @param entries that are stored after them in the same batch
 */
export function duplicateStatements(
  context: Writing,
  meeting: DuplicatePolicy | undefined,
  entries: readonly NewEntry[],
): SQL[] {
  if (meeting === undefined) return []
  const { dialect, scope, now } = context
  const { problem, count, renewals, byName = false } = meeting
  const ids = [...renewals.map(({ id }) => id), ...(count === null ? [] : [count.id])]
  const event = { ...scope, allowed: true, ids, detail: { updated: ids.length } }
  return [
    ...entries.map((entry) =>
      holds(sql`NOT EXISTS (${equalTo(context, equalityKeyOf(entry, byName), sql`1 AS one`)})`),
    ),
    ...(problem === null ? [] : [noNewReport(context, problem)]),
    ...renewals.map(({ id, tags }) =>
      standing(context, id, tags.length === 0 ? sql`` : sql` AND ${hasRoom(dialect, tags)}`),
    ),
    ...(count === null ? [] : [standing(context, count.id)]),
    ...renewals.flatMap((one) => renewalStatements(context, one)),
    ...(count === null ? [] : [countStatement(dialect, count.id, count.lastSeen)]),
    ...(ids.length > 0 && entries.length === 0 ? [auditStatement(scope.org, now, event)] : []),
  ]
}

const holds = (premise: SQL): SQL => sql`INSERT INTO guards (holds, precondition) SELECT ${premise}, ${EQUAL}`

/** Returns a precondition that no further report of a problem was stored. */
function noNewReport(context: Context, { project, key, known }: NonNullable<DuplicatePolicy['problem']>): SQL {
  const newest = known.reduce((last, { id }) => Math.max(last, id), 0)
  const later = sql`SELECT 1 FROM (${reportedStatement(context, project, key)}) reported WHERE reported.id > ${newest}`
  return holds(sql`NOT EXISTS (${later})`)
}

/** Returns whether the caller may still change the memory. */
const standing = ({ dialect, scope, now }: Context, id: number, more = sql``): SQL =>
  holds(sql`EXISTS (SELECT 1 FROM entries e WHERE e.id = ${id} AND ${listedToChange(dialect, scope, now)}${more})`)

/** Returns the tags of `e` and the given ones. */
const joinedTo = (dialect: SqlDialect, tags: readonly string[]): SQL =>
  dialect.joinedStrings(sql`e.tags`, sql`${JSON.stringify(tags)}`)

/** Returns whether the tags fit: another call may have added some since it was read. */
const hasRoom = (dialect: SqlDialect, tags: readonly string[]): SQL =>
  sql`(SELECT count(*) FROM ${dialect.jsonRows(joinedTo(dialect, tags))} AS tag) <= ${MAX_TAGS}`

/** Without a version check: concurrent tags are all added, and no caller has to retry. */
function renewalStatements({ dialect, scope, now }: Writing, { id, tags, lasts }: DuplicateUpdate): SQL[] {
  const renewed = sql`UPDATE entries SET layer_expires_at = ${now + (lasts ?? 0)}, accessed_at = ${now} WHERE id = ${id}`
  const ofIt = (what: SQL): SQL => sql`(SELECT ${what} FROM entries e WHERE e.id = ${id})`
  const joined = ofIt(joinedTo(dialect, tags))
  const kind = sql`(SELECT CASE WHEN count(*) = 1 THEN min(tag.value) END FROM ${dialect.jsonRows(joined)} AS tag
    WHERE tag.value IN (SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(KINDS)}`)} AS kind))`
  const grown = sql`UPDATE entries SET tags = ${joined}, tag_kind = ${kind}, version = version + 1, updated_at = ${now},
      ${assignments(writerColumns(scope))}
    WHERE id = ${id} AND tags <> ${joined}`
  return [...(lasts === null ? [] : [renewed]), ...(tags.length === 0 ? [] : [grown])]
}

/** Counts one more report, without a new version, since the content is unchanged. */
function countStatement(dialect: SqlDialect, id: number, lastSeen: string): SQL {
  const before = sql`coalesce(metadata, '{}')`
  const count = sql`coalesce((SELECT ${dialect.numberAt('count')} FROM entries e WHERE e.id = ${id}), 1)`
  const members = JSON.stringify({ lastSeen }).slice(1)
  const patch = sql`'{"count":' || CAST(${count} + 1 AS TEXT) || ${`,${members}`}`
  const merged = dialect.mergePatch(before, sql`(${patch})`)
  return sql`UPDATE entries
    SET bytes = bytes - coalesce(${dialect.byteLength(sql`metadata`)}, 0) + ${dialect.byteLength(merged)}, metadata = ${merged}
    WHERE id = ${id}`
}
