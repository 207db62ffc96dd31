// Reads the memories of a project for a start text, by section, and the last captured session.

import { type SQL, sql } from 'drizzle-orm'
import type { StartEntry, StartMemories, StartSection } from '../../../../domain/capture/recall-text'
import { hasEnded } from '../../../../domain/currency/validity'
import { citationsOf, sourceNote } from '../../../../domain/entry/citation'
import type { Metadata } from '../../../../domain/entry/metadata'
import { IN_FLIGHT, WORK_KINDS } from '../../../../domain/entry/work'
import { homesOf, type Scope } from '../../../../domain/identity/scope'
import { DAY_MS, type Millis } from '../../../../domain/time'
import type { StartPlace } from '../../../../ports/capture'
import { Batch } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { each, jsonOrNull, num, str, strOrNull } from '../../core/rows'
import { inProject, listed } from '../../core/visibility'
import { superseded } from '../links/links'
import { previewOf } from '../texts/long-texts'

interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
  /** Whether only entries count whose current version a person has approved. */
  readonly isApproved: boolean
}

/** Maximum entries of one section: more than fit into a start text. */
const MAX_OF_FACET = 24
/** Captured sessions of a project that are searched for one of the branch, newest first, until one is found. */
const SESSIONS = 500
/** Sessions before the last one whose titles are shown. */
const BEFORE = 3
/** Sessions that are read, since small ones are not listed. */
const SESSIONS_READ = 8
/**
 * A session that changed one file and did nothing else ranks as if it were this much older, so that it does not displace earlier work.
 */
const SMALL_MS = 2 * DAY_MS
/** Characters of each text; more than a start text shows. */
const PREVIEW = 1_300

/** Layers that persist after a session (fabric contract §2). */
const LASTING = [2, 3]

/** Metadata with citations of source lines, unless they are too large; NULL for other entries. */
const CITING = sql.raw(`CASE WHEN e.metadata LIKE '%"sources"%' AND length(e.metadata) <= 20000 THEN e.metadata END`)

const words = (list: readonly string[]): SQL => sql.raw(list.map((word) => `'${word}'`).join(', '))

const ofProject = (project: string | null): SQL =>
  project === null ? sql`e.project IS NULL` : sql`e.project = ${project}`

/** An index and its order. */
interface Way {
  readonly from: SQL
  readonly newest: SQL
  readonly where: SQL
}

const newestBy = (
  { dialect, scope, now, isApproved }: Context,
  project: string | null,
  { from, newest, where }: Way,
): SQL => sql`
  SELECT e.id, ${newest} AS newest FROM ${from}
  WHERE ${listed(dialect, scope, now, 'e', { isApproved })} AND ${ofProject(project)} AND ${where}
    AND NOT ${superseded({ dialect, visibility: { scope, diaryOf: null, isApproved }, now })}`

const ending = ({ dialect }: Context): SQL =>
  sql`ORDER BY ${dialect.plan.inOrder(sql`e.project`, sql`newest DESC`)}, id DESC LIMIT ${MAX_OF_FACET}`

/** Returns queries of the newest entries of a section, with or without a project, one for each index range. */
type Parts = (context: Context, project: string | null) => readonly SQL[]

const lasting = sql.raw(`e.layer IN (${LASTING.join(', ')})`)

const pinned: Parts = (context, project) => {
  const from = context.dialect.plan.entriesBy('entries_pinned_idx')
  const where = sql`e.pinned = 1 AND ${lasting}`
  return [sql`${newestBy(context, project, { from, newest: sql`e.created_at`, where })} ${ending(context)}`]
}

/** Returns work in progress; the statuses are written as in the index. */
const inFlight: Parts = (context, project) => {
  const from = context.dialect.plan.entriesBy('entries_open_work_idx')
  const where = sql`e.status IN (${words(IN_FLIGHT)}) AND e.kind IN (${words(WORK_KINDS)}) AND ${lasting}`
  return [sql`${newestBy(context, project, { from, newest: sql`e.updated_at`, where })} ${ending(context)}`]
}

const ofKinds =
  (...kinds: readonly string[]): Parts =>
  (context, project) => {
    const { plan } = context.dialect
    const ofLayer = (layer: number) => (kind: SQL) => {
      const where = sql`e.layer = ${sql.raw(String(layer))} AND e.kind = ${kind}`
      return newestBy(context, project, {
        from: plan.entriesBy('entries_project_layer_kind_idx'),
        newest: sql`e.created_at`,
        where,
      })
    }
    return LASTING.map((layer) => plan.forEach(kinds, 'kind', [ofLayer(layer)], ending(context)))
  }

/** The kinds of entries of each section of a pack (platform contract §2). */
const OF_FACET: Readonly<Record<StartSection, Parts>> = {
  Pinned: pinned,
  'Work in flight': inFlight,
  Constraints: ofKinds('rule', 'guide', 'convention'),
  Decisions: ofKinds('decision'),
  Gotchas: ofKinds('gotcha', 'error_pattern', 'bug_fix'),
}

function facetStatement(context: Context, facet: StartSection, { project }: StartPlace): SQL {
  const { dialect, scope } = context
  const parts = [...(project === null ? [] : homesOf(scope, project)), null].flatMap((one) =>
    OF_FACET[facet](context, one),
  )
  const chosen = dialect.plan.firstOf(
    parts.map((part) => sql`SELECT * FROM (${part}) AS part`),
    'part',
    sql`ORDER BY newest DESC, id DESC LIMIT ${MAX_OF_FACET}`,
  )
  return sql`
    WITH chosen AS (SELECT id, newest FROM (${chosen}) AS found)
    SELECT e.id, e.title, e.kind, e.agent, e.created_at, ${previewOf(dialect, PREVIEW)} AS text,
      ${dialect.textAt(['valid_until'])} AS valid_until, ${CITING} AS citing
    FROM chosen ${dialect.plan.follow('entries', 'e', sql`e.id = chosen.id`)}
    ORDER BY chosen.newest DESC, chosen.id DESC`
}

/** Sections of which a start text for a goal shows the newest entries. */
export const NEWEST_FACETS = ['Constraints', 'Decisions', 'Gotchas'] as const satisfies readonly StartSection[]

/** Returns the IDs of the newest entries of a section, of a project and without project. */
export const newestStatement = (context: Context, facet: StartSection, project: string | null, most: number): SQL =>
  sql`SELECT id FROM (${facetStatement(context, facet, { project, branch: null })}) AS newest LIMIT ${most}`

/**
 * Returns the owner's sessions of a project and branch that did something, newest first: the last one, and those before it.
 *
 * @param except the thread of the present session
 */
function leftOffStatement(
  { dialect, scope, now, isApproved }: Context,
  { project, branch }: StartPlace,
  except: string | null,
): SQL {
  const ofBranch = branch === null ? sql`found.branch IS NULL` : sql`found.branch = ${branch}`
  const isOther = except === null ? TRUE : sql`found.thread_id <> ${except}`
  return sql`
    WITH newest AS (
      SELECT found.id, found.effective, found.work, row_number() OVER (ORDER BY found.effective DESC, found.id DESC) AS place FROM (
        SELECT e.id, e.thread_id, ${dialect.textAt(['branch'])} AS branch, coalesce(${dialect.textAt(['work'])}, '') AS work,
          e.updated_at - CASE WHEN ${dialect.textAt(['work'])} = 'small' THEN ${SMALL_MS} ELSE 0 END AS effective
        FROM entries e
        WHERE ${listed(dialect, scope, now, 'e', { captured: 'alone', isApproved })} AND e.kind = 'session'
          AND coalesce(e.owner, '') = ${scope.owner ?? ''}
          AND ${project === null ? ofProject(null) : inProject(dialect, scope, project, sql`e.project`)}
        ORDER BY e.updated_at DESC, e.id DESC LIMIT ${SESSIONS}
      ) AS found
      WHERE ${ofBranch} AND ${isOther} AND found.work <> 'none'
      ORDER BY found.effective DESC, found.id DESC LIMIT ${SESSIONS_READ}
    )
    SELECT e.id, e.title, e.kind, e.agent, e.created_at, newest.work,
      CASE WHEN newest.place = 1 THEN ${previewOf(dialect, PREVIEW)} ELSE '' END AS text
    FROM newest ${dialect.plan.follow('entries', 'e', sql`e.id = newest.id`)}
    ORDER BY newest.place`
}

/** Leaves out entries whose `valid_until` has passed. */
const holding =
  (now: Millis) =>
  (rows: readonly Row[]): StartEntry[] =>
    rows.filter(({ valid_until }) => !hasEnded({ valid_until: valid_until as string | null }, now)).map(toStandingEntry)

const citingOf = (row: Row): Pick<StartEntry, 'note' | 'sources'> => {
  const metadata = jsonOrNull<Metadata>(row, 'citing')
  return metadata === null ? {} : { note: sourceNote(metadata), sources: citationsOf(metadata) }
}

const toStandingEntry = (row: Row): StartEntry => ({
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  text: str(row, 'text'),
  kind: str(row, 'kind'),
  agent: strOrNull(row, 'agent'),
  createdAt: num(row, 'created_at'),
  ...(row.citing === undefined ? {} : citingOf(row)),
})

/** Reads the memories for a start text. @param except the thread of the present session */
export async function readStartMemories(
  connection: SqlConnection,
  context: Context,
  place: StartPlace,
  except: string | null,
): Promise<StartMemories> {
  const batch = new Batch()
  const read = (facet: StartSection) => batch.add(facetStatement(context, facet, place), holding(context.now))
  const facets = {
    Pinned: read('Pinned'),
    'Work in flight': read('Work in flight'),
    Constraints: read('Constraints'),
    Decisions: read('Decisions'),
    Gotchas: read('Gotchas'),
  }
  const leftOff = batch.add(
    leftOffStatement(context, place, except),
    each((row) => row),
  )
  const result = await batch.read(connection)
  const [newest, ...earlier] = result.of(leftOff)
  const before = earlier.filter((row) => str(row, 'work') !== 'small').slice(0, BEFORE)
  return {
    facets: {
      Pinned: result.of(facets.Pinned),
      'Work in flight': result.of(facets['Work in flight']),
      Constraints: result.of(facets.Constraints),
      Decisions: result.of(facets.Decisions),
      Gotchas: result.of(facets.Gotchas),
    },
    leftOff: newest === undefined ? null : toStandingEntry(newest),
    before: before.map(toStandingEntry),
  }
}
