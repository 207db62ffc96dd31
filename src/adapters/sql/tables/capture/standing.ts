// What stands in a project, by facet, and where its last captured session left off?

import { type SQL, sql } from 'drizzle-orm'
import { isFields, textOf } from '../../../../domain/capture/fields'
import type { Standing, StandingEntry, StandingFacet } from '../../../../domain/capture/recalled'
import { IN_FLIGHT, WORK_KINDS } from '../../../../domain/entry/work'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { StartPlace } from '../../../../ports/capture'
import { Batch } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { each, num, str, strOrNull } from '../../core/rows'
import { listed } from '../../core/visibility'
import { superseded } from '../packs/pack-statements'
import { beginningOf } from '../texts/long-texts'

interface Context {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

/** Entries of one facet: more than ever fit into a start. */
const MAX_OF_FACET = 24
/** Captured sessions of a project that are looked at for one of the branch. */
const SESSIONS = 50
/** Characters of each text: more than are told. */
const BEGINNING = 1_300

const words = (list: readonly string[]): SQL => sql.raw(list.map((word) => `'${word}'`).join(', '))

/** The kinds are those of the facets of a pack (platform contract §2). */
const OF_FACET: Readonly<Record<StandingFacet, SQL>> = {
  Pinned: sql`e.pinned = 1`,
  'Work in flight': sql`e.status IN (${words(IN_FLIGHT)}) AND e.kind IN (${words(WORK_KINDS)})`,
  Constraints: sql`e.kind IN ('rule', 'guide', 'convention')`,
  Decisions: sql`e.kind = 'decision'`,
  Gotchas: sql`e.kind IN ('gotcha', 'error_pattern', 'bug_fix')`,
}

const ofProject = (project: string | null): SQL =>
  project === null ? sql`e.project IS NULL` : sql`e.project = ${project}`

/** The newest of a facet: of the project and of none, each layer by itself, so that an index leads to them. */
function facetStatement(context: Context, facet: StandingFacet, { project }: StartPlace): SQL {
  const { dialect, scope, now } = context
  const byUse = facet === 'Work in flight'
  const newest = byUse ? sql`e.updated_at` : sql`e.created_at`
  const places = [...(project === null ? [] : [project]), null].flatMap((one) =>
    [2, 3].map((layer) => ({ one, layer })),
  )
  const parts = places.map(
    ({ one, layer }) => sql`SELECT * FROM (
      SELECT e.id, ${newest} AS newest FROM entries e
      WHERE ${listed(dialect, scope, now)} AND ${ofProject(one)} AND e.layer = ${sql.raw(String(layer))} AND ${OF_FACET[facet]}
        AND NOT ${superseded({ dialect, sight: { scope, diaryOf: null }, now })}
      ORDER BY ${newest} DESC, e.id DESC LIMIT ${MAX_OF_FACET}
    ) AS part`,
  )
  return sql`
    WITH chosen AS (
      SELECT id, newest FROM (${sql.join(parts, sql` UNION ALL `)}) AS found ORDER BY newest DESC, id DESC LIMIT ${MAX_OF_FACET}
    )
    SELECT e.id, e.title, ${beginningOf(dialect, BEGINNING)} AS text
    FROM chosen ${dialect.plan.follow('entries', 'e', sql`e.id = chosen.id`)}
    ORDER BY chosen.newest DESC, chosen.id DESC`
}

const leftOffStatement = ({ dialect, scope, now }: Context, { project }: StartPlace): SQL => sql`
  SELECT e.id, e.title, e.thread_id, e.metadata, ${beginningOf(dialect, BEGINNING)} AS text FROM entries e
  WHERE ${listed(dialect, scope, now, 'e', { captured: 'alone' })} AND ${ofProject(project)}
  ORDER BY e.updated_at DESC, e.id DESC LIMIT ${SESSIONS}`

const toStandingEntry = (row: Row): StandingEntry => ({
  id: num(row, 'id'),
  title: strOrNull(row, 'title'),
  text: str(row, 'text'),
})

function branchOf(metadata: unknown): string | null {
  const parsed: unknown = typeof metadata === 'string' ? JSON.parse(metadata) : null
  return isFields(parsed) ? textOf(parsed, 'branch') : null
}

/** @param except the thread of a session that is not told of itself */
export async function readStanding(
  connection: SqlConnection,
  context: Context,
  place: StartPlace,
  except: string | null,
): Promise<Standing> {
  const batch = new Batch()
  const read = (facet: StandingFacet) => batch.add(facetStatement(context, facet, place), each(toStandingEntry))
  const facets = {
    Pinned: read('Pinned'),
    'Work in flight': read('Work in flight'),
    Constraints: read('Constraints'),
    Decisions: read('Decisions'),
    Gotchas: read('Gotchas'),
  }
  const leftOff = batch.add(leftOffStatement(context, place), (rows) => {
    const last = rows.find((row) => row.thread_id !== except && branchOf(row.metadata) === place.branch)
    return last === undefined ? null : toStandingEntry(last)
  })
  const result = await batch.read(connection)
  return {
    facets: {
      Pinned: result.of(facets.Pinned),
      'Work in flight': result.of(facets['Work in flight']),
      Constraints: result.of(facets.Constraints),
      Decisions: result.of(facets.Decisions),
      Gotchas: result.of(facets.Gotchas),
    },
    leftOff: result.of(leftOff),
  }
}
