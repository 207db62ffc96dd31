import { type SQL, sql } from 'drizzle-orm'
import { Problem } from '../../../../domain/errors'
import { normalizeProject } from '../../../../domain/identity/project'
import type { Attachment, NameKind } from '../../../../domain/identity/project-attachment'
import { readProjectName } from '../../../../domain/identity/project-names'
import { type KnownNames, type NameRow, NamesChanged } from '../../../../domain/identity/project-resolution'
import type { Scope } from '../../../../domain/identity/scope'
import { compareText } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import {
  type DirectoryChange,
  type ListedProject,
  PROJECT_CHANGES,
  type ProjectAdmin,
  type ProjectChange,
  type ProjectDirectory,
} from '../../../../ports/project-directory'
import { Batch, readOne } from '../../core/batch'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import { countOf, each, flag, json, num, numOrNull, oneOf, str, strOrNull, textsOf } from '../../core/rows'
import { accessScope, listed, reachesProject } from '../../core/visibility'
import { auditStatement } from '../../tables/changes/audit-statements'
import {
  attachStatements,
  changeStatement,
  nameStatement,
  namesGuard,
  namesStatement,
  unnamedStatement,
  unseededStatement,
  versionGuard,
  versionOf,
  versionStatement,
} from '../../tables/changes/name-statements'

const KINDS = ['short', 'remote', 'folder', 'other'] as const satisfies readonly NameKind[]
const kindOf = oneOf(KINDS)
const actionOf = oneOf(PROJECT_CHANGES)

/** Maximum number of projects of a list. */
const MOST_LISTED = 1_000
/** Maximum number of names that one batch seeds. */
const SEEDED_AT_ONCE = 100

const MOVED_ON = () => new Problem('conflict', 'Another call is changing the names of projects; try again')

const toName = (row: Row): NameRow => ({
  name: str(row, 'name'),
  kind: kindOf(row, 'kind'),
  segment: str(row, 'segment'),
  spelling: str(row, 'spelling'),
  home: str(row, 'home'),
  project: str(row, 'project'),
  isNarrow: flag(row, 'narrow'),
})

/** Converts a row; a key without names is its own name. */
function toNames(row: Row): NameRow[] {
  if (row.name !== null) return [toName(row)]
  const [home, project] = [str(row, 'home'), str(row, 'project')]
  const name = readProjectName(home)
  if (name === null) return []
  const { normal, kind, segment } = name
  return [{ name: normal, kind, segment, spelling: home, home, project, isNarrow: false }]
}

const toChange = (row: Row): ProjectChange => ({
  seq: num(row, 'seq'),
  at: num(row, 'at'),
  keyId: str(row, 'key_id'),
  action: actionOf(row, 'action'),
  detail: json(row, 'detail'),
  undoneBy: numOrNull(row, 'undone_by'),
})

/** Returns the lookup keys of names: their forms, and their last segments, which several projects may share. */
function asked(names: readonly string[]) {
  const read = names.flatMap((name) => readProjectName(name) ?? [])
  return {
    names: [...new Set(read.flatMap(({ normal, kind, segment }) => (kind === 'short' ? [normal] : [normal, segment])))],
    segments: [...new Set(read.filter(({ kind }) => kind === 'short').map(({ segment }) => segment))],
    keys: [...new Set(names.flatMap((name) => normalizeProject(name) ?? []))],
  }
}

const asLastUse = (rows: readonly Row[]): ReadonlyMap<string, number> =>
  new Map(rows.map((row) => [str(row, 'home'), Math.max(num(row, 'used_1'), num(row, 'used_2'), num(row, 'used_3'))]))

/** Rows of a list of projects. */
interface Gathering {
  readonly named: readonly Row[]
  readonly made: readonly Row[]
  readonly counted: readonly Row[]
  readonly last: ReadonlyMap<string, number>
}

/** Creates the project directory over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlProjectDirectory(connection: SqlConnection, clock: Clock): ProjectDirectory {
  const { dialect } = connection

  /** Names each project by its own key, in an organization that has projects but no names. */
  async function seed(org: string, projects: readonly string[]): Promise<void> {
    for (let from = 0; from < projects.length; from += SEEDED_AT_ONCE) {
      const part = projects.slice(from, from + SEEDED_AT_ONCE)
      const isLast = from + SEEDED_AT_ONCE >= projects.length
      const names = part.flatMap((home): Attachment[] => {
        const name = readProjectName(home)
        return name === null ? [] : [{ name, home, isNew: true, isNarrow: false, isTold: false }]
      })
      const statements = names.map((name) => nameStatement(org, null, clock.now(), name))
      const by = { org, keyId: 'server' }
      const done = isLast ? [changeStatement(by, clock.now(), 'seed', { project: `${projects.length} projects` })] : []
      await new Batch(...statements, ...done).run(connection, { org })
    }
  }

  async function read(scope: Scope, given: readonly string[]): Promise<KnownNames & { unseeded: readonly string[] }> {
    const { org, projects } = scope
    const { names, segments, keys } = asked(given)
    const batch = new Batch()
    const rows = batch.add(namesStatement(dialect, scope, names, segments), (found) => found)
    const version = batch.add(versionStatement(org), countOf('version'))
    const unseeded = batch.add(unseededStatement(org), textsOf('project'))
    const unnamed = projects === null ? batch.add(unnamedStatement(dialect, org, keys), textsOf('project')) : null
    const result = await batch.read(connection)
    const found = result.of(rows)
    return {
      rows: found.flatMap(toNames),
      titles: new Map(found.flatMap((row) => (row.title == null ? [] : [[str(row, 'project'), str(row, 'title')]]))),
      unnamed: new Set(unnamed === null ? [] : result.of(unnamed)),
      version: result.of(version),
      unseeded: result.of(unseeded),
    }
  }

  async function guarded(org: string, version: number, statements: readonly SQL[]): Promise<void> {
    try {
      await new Batch(versionGuard(org, version), ...statements).run(connection, { org })
    } catch (error) {
      if (error instanceof PreconditionFailed) throw MOVED_ON()
      throw error
    }
  }

  const mergedStatement = (org: string, { home, into }: { home: string; into: string | null }): SQL => sql`
    INSERT INTO projects (org, id, name, created_at, merged_into)
    VALUES (${org}, ${home}, ${home}, ${clock.now()}, ${into})
    ON CONFLICT (org, id) DO UPDATE SET merged_into = excluded.merged_into`

  function statementsOf(by: ProjectAdmin, change: DirectoryChange): SQL[] {
    const { org } = by
    const { merged = [], moved = [], named = [], dropped = [], title, undoes } = change
    return [
      ...merged.map((one) => mergedStatement(org, one)),
      ...moved.map(
        ({ name, from, to }) => sql`
          UPDATE project_names SET home = ${to}, narrow = 0, seq = ${versionOf(org)} + 1
          WHERE org = ${org} AND name = ${name} AND home = ${from}`,
      ),
      ...named.map((one) => nameStatement(org, by.owner, clock.now(), one)),
      ...dropped.map(
        ({ name, home }) => sql`DELETE FROM project_names WHERE org = ${org} AND name = ${name} AND home = ${home}`,
      ),
      ...(title === undefined
        ? []
        : [
            sql`INSERT INTO projects (org, id, name, created_at) VALUES (${org}, ${title.project}, ${title.name}, ${clock.now()})
              ON CONFLICT (org, id) DO UPDATE SET name = excluded.name`,
          ]),
      ...(undoes === undefined
        ? []
        : [sql`UPDATE project_changes SET undone_by = ${versionOf(org)} + 1 WHERE org = ${org} AND seq = ${undoes}`]),
    ]
  }

  return {
    async known(scope, names) {
      const first = await read(scope, names)
      if (first.unseeded.length === 0) return first
      await seed(scope.org, first.unseeded)
      return read(scope, names)
    },

    async attach(by, names) {
      try {
        const statements = attachStatements(by, clock.now(), names.attachments)
        await new Batch(namesGuard(dialect, by.org, names), ...statements).run(connection, { org: by.org })
        names.isGiven = true
      } catch (error) {
        if (error instanceof PreconditionFailed) throw new NamesChanged()
        throw error
      }
    },

    async change(by, version, change) {
      const { action, detail } = change
      const { org, keyId, agent, tool } = by
      const shown = { ...detail, homes: detail.homes?.length, change: detail.change }
      const told = Object.entries(shown).filter((one): one is [string, string | number] => one[1] !== undefined)
      await guarded(org, version, [
        ...statementsOf(by, change),
        changeStatement(by, clock.now(), action, detail),
        auditStatement(org, clock.now(), {
          ...{ keyId, agent, action: by.action, tool, ids: [], allowed: true },
          detail: { ...Object.fromEntries(told), number: version + 1 },
        }),
      ])
      return version + 1
    },

    async list(scope, seesAll) {
      const { org } = scope
      const batch = new Batch()
      const named = batch.add(
        sql`SELECT n.home, n.name, n.kind, n.owner FROM project_names n
          WHERE n.org = ${org}${reachesProject(dialect, scope, sql`n.home`)} ORDER BY n.home, n.created_at, n.name LIMIT 20000`,
        (rows) => rows,
      )
      const made = batch.add(
        sql`SELECT p.id, p.name, p.created_at, p.merged_into FROM projects p
          WHERE p.org = ${org}${reachesProject(dialect, scope, sql`p.id`)} ORDER BY p.id LIMIT 20000`,
        (rows) => rows,
      )
      const counted = batch.add(
        sql`SELECT c.project, sum(c.entries) AS entries FROM layer_counters c
          WHERE c.org = ${org} AND c.project <> '' AND ${accessScope(dialect, scope, 'c', 'empty')}
          GROUP BY c.project ORDER BY c.project LIMIT 20000`,
        (rows) => rows,
      )
      const used = batch.add(lastUseStatement(scope), asLastUse)
      const result = await batch.read(connection)
      const projects = gathered(scope, {
        ...{ named: result.of(named), made: result.of(made), counted: result.of(counted) },
        last: result.of(used),
      })
      const isShown = ({ entries, createdAt }: ListedProject): boolean => seesAll || entries > 0 || createdAt !== null
      return projects.filter(isShown).slice(0, MOST_LISTED)
    },

    changes: (org, before, limit) =>
      readOne(
        connection,
        sql`SELECT seq, at, key_id, action, detail, undone_by FROM project_changes
          WHERE org = ${org}${before === null ? sql`` : sql` AND seq < ${before}`} ORDER BY seq DESC LIMIT ${limit}`,
        each(toChange),
      ),
  }

  /** Returns the newest listed entry of each key, by its index. */
  function lastUseStatement(scope: Scope): SQL {
    const { org } = scope
    const now = clock.now()
    const newest = (layer: number): SQL => sql`coalesce((
      SELECT e.created_at FROM entries e
      WHERE e.project = homes.home AND e.layer = ${sql.raw(String(layer))} AND ${listed(dialect, scope, now)}
      ORDER BY e.created_at DESC LIMIT 1), 0)`
    return sql`
      SELECT homes.home, ${newest(1)} AS used_1, ${newest(2)} AS used_2, ${newest(3)} AS used_3
      FROM (
        SELECT DISTINCT c.project AS home FROM layer_counters c
        WHERE c.org = ${org} AND c.project <> '' AND ${accessScope(dialect, scope, 'c', 'empty')} ORDER BY c.project LIMIT ${MOST_LISTED}
      ) homes`
  }

  function gathered(scope: Scope, { named, made, counted, last }: Gathering): ListedProject[] {
    const rows = new Map(made.map((row) => [str(row, 'id'), row]))
    const isOpen = (key: string): boolean => scope.projects === null || scope.projects.includes(key)
    // A narrowed scope must not learn the project into which one of its own was merged, unless it includes that.
    const projectOf = (home: string): string => {
      const into = strOrNull(rows.get(home) ?? {}, 'merged_into')
      return into !== null && isOpen(into) ? into : home
    }
    const counts = new Map(counted.map((row) => [str(row, 'project'), num(row, 'entries')]))
    const homes = new Set([...named.map((row) => str(row, 'home')), ...rows.keys(), ...counts.keys()])
    const own = [...homes].filter(isOpen)
    const namesOf = Map.groupBy(named, (row) => str(row, 'home'))
    return [...Map.groupBy(own, projectOf)]
      .map(([key, keys]) => ({
        key,
        name: strOrNull(rows.get(key) ?? {}, 'name') ?? key,
        aliases: keys
          .flatMap((home) => namesOf.get(home) ?? [])
          .map((row) => ({
            ...{ name: str(row, 'name'), kind: kindOf(row, 'kind') },
            ...{ owner: str(row, 'owner'), home: str(row, 'home') },
          })),
        homes: [key, ...keys.filter((home) => home !== key)],
        entries: keys.reduce((sum, home) => sum + (counts.get(home) ?? 0), 0),
        lastUse: Math.max(...keys.map((home) => last.get(home) ?? 0)) || null,
        createdAt: numOrNull(rows.get(key) ?? {}, 'created_at'),
      }))
      .toSorted((a, b) => compareText(a.key, b.key))
  }
}
