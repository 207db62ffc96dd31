import { type SQL, sql } from 'drizzle-orm'
import { MAX_PROJECT_FILES } from '../../../../domain/code/paths'
import { Problem } from '../../../../domain/errors'
import type { Actor, Scope } from '../../../../domain/identity/scope'
import { type Pace, WITHOUT_REST } from '../../../../domain/pace'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import type { Clock } from '../../../../ports/clock'
import type { CodeIndex } from '../../../../ports/code-index'
import { PremiseFailed, type SqlConnection } from '../../core/connection'
import { auditStatement } from '../../tables/changes/audit-log'
import { quotaGuards, withinQuotas } from '../../tables/changes/quota'
import { createCodeMaintenance } from '../../tables/code/code-maintenance'
import { createCodeReads } from '../../tables/code/code-reads'
import { insertFiles } from '../../tables/code/code-statements'
import { within } from '../../tables/code/code-terms'

const toNumber = (value: unknown): number => Number(value ?? 0)

/** The code of all orgs over any SQL connection. */
export function createSqlCodeIndex(
  connection: SqlConnection,
  clock: Clock,
  quotas: Quotas = NO_QUOTAS,
  pace: Pace = WITHOUT_REST,
): CodeIndex {
  const { dialect } = connection

  const audit = (caller: Actor, detail: Readonly<Record<string, number>>): SQL =>
    auditStatement(caller.org, clock.now(), { ...caller, ids: [], allowed: true, detail })

  const ofRoot = (root: string | null): SQL => (root === null ? sql`` : sql` AND f.root = ${root}`)

  /** Files of these paths of a root, found by their index. */
  const named = (scope: Scope, project: string, root: string | null, paths: readonly string[]): SQL => {
    const list = dialect.jsonTable(sql`${JSON.stringify(paths.map((path) => [path]))}`, { path: 'text' })
    const same = dialect.code.samePath(sql`f.path`, sql`named.path`)
    const own = sql`${within(dialect, scope, project, 'f')}${ofRoot(root)} AND ${same}`
    return sql`id IN (SELECT f.id FROM ${list} named ${dialect.follow('code_files', 'f', own)})`
  }

  /** The first or the last root of a project `p`, which its index leads to. */
  const endRoot = (direction: 'ASC' | 'DESC'): SQL => sql`(
    SELECT f.root FROM code_files f WHERE f.org = p.org AND f.project = p.project
    ORDER BY f.root ${sql.raw(direction)} LIMIT 1
  )`

  return {
    ...createCodeReads(connection),
    ...createCodeMaintenance(connection),

    async totals(scope, project) {
      const [rows] = await connection.read([
        sql`
          SELECT p.project, p.files, p.symbols, p.chunks, p.words, p.pending, p.last_indexed,
            CASE WHEN ${endRoot('ASC')} = ${endRoot('DESC')} THEN 0 ELSE 1 END AS has_roots
          FROM code_projects p WHERE ${within(dialect, scope, project, 'p')} ORDER BY p.project`,
      ])
      return (rows ?? []).map((row) => ({
        project: row.project as string,
        files: toNumber(row.files),
        symbols: toNumber(row.symbols),
        chunks: toNumber(row.chunks),
        words: toNumber(row.words),
        pending: toNumber(row.pending),
        lastIndexed: row.last_indexed === null ? null : Number(row.last_indexed),
        hasRoots: toNumber(row.files) > 0 && Number(row.has_roots) === 1,
      }))
    },

    async states(scope, project, root, paths) {
      const some = paths === undefined ? ofRoot(root) : sql` AND f.${named(scope, project, root, paths)}`
      const [rows] = await connection.read([
        sql`
          SELECT f.root, f.path, f.sha256, f.model FROM code_files f
          WHERE ${within(dialect, scope, project, 'f')}${some} ORDER BY f.path, f.root`,
      ])
      return (rows ?? []).map((row) => ({
        root: row.root as string,
        path: row.path as string,
        sha256: row.sha256 as string,
        model: row.model as string | null,
      }))
    },

    async replace(caller, project, { root, files, deleted, detail }) {
      const scope = { org: caller.org, project, root }
      const gone = [...deleted, ...files.map(({ path }) => path)]
      const count = sql`(SELECT p.files FROM code_projects p WHERE p.org = ${caller.org} AND p.project = ${project})`
      const { before, after } = quotaGuards(dialect, { ...quotas, entries: null }, caller.org)
      const statements = [
        ...before,
        sql`
          INSERT INTO code_projects (org, project, last_indexed) VALUES (${caller.org}, ${project}, ${clock.now()})
          ON CONFLICT (org, project) DO UPDATE SET last_indexed = excluded.last_indexed`,
        ...(gone.length === 0 ? [] : [sql`DELETE FROM code_files WHERE ${named(caller, project, root, gone)}`]),
        ...insertFiles(dialect, scope, files),
        sql`INSERT INTO guards (holds) SELECT ${count} <= ${MAX_PROJECT_FILES}`,
        ...after,
        ...(detail === null ? [] : [audit(caller, detail)]),
      ]
      try {
        const takes = () => files.reduce((sum, { bytes }) => sum + bytes, 0)
        await withinQuotas({ connection, pace, quotas, scope: caller, takes }, () =>
          connection.batch(statements, { org: caller.org }),
        )
      } catch (error) {
        if (!(error instanceof PremiseFailed)) throw error
        throw new Problem('limit_exceeded', `A project holds at most ${MAX_PROJECT_FILES} files; index fewer folders`)
      }
    },

    async remove(caller, project, root, limit) {
      const own = sql`${within(dialect, caller, project, 'f')}${ofRoot(root)}`
      const some = sql`SELECT f.id FROM code_files f WHERE ${own} ORDER BY f.id LIMIT ${limit}`
      const [counted] = await connection.batch(
        [sql`SELECT count(*) AS files FROM (${some}) AS gone`, sql`DELETE FROM code_files WHERE id IN (${some})`],
        { org: caller.org },
      )
      return toNumber(counted?.[0]?.files)
    },

    async forget(caller, project, detail) {
      await connection.batch(
        [
          sql`DELETE FROM code_projects WHERE org = ${caller.org} AND project = ${project} AND files = 0`,
          audit(caller, detail),
        ],
        { org: caller.org },
      )
    },
  }
}
