import { type SQL, sql } from 'drizzle-orm'
import { MAX_PROJECT_FILES } from '../../../../domain/code/paths'
import { Problem } from '../../../../domain/errors'
import type { Actor, Scope } from '../../../../domain/identity/scope'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import type { Clock } from '../../../../ports/clock'
import type { CodeIndex } from '../../../../ports/code-index'
import { Batch, readOne } from '../../core/batch'
import { PremiseFailed, type SqlConnection } from '../../core/connection'
import { countOf, each, flag, num, numOrNull, str, strOrNull } from '../../core/rows'
import { auditStatement } from '../../tables/changes/audit-log'
import { quotaGuards, withinQuotas } from '../../tables/changes/quota'
import { createCodeMaintenance } from '../../tables/code/code-maintenance'
import { createCodeReads } from '../../tables/code/code-reads'
import { insertFiles } from '../../tables/code/code-statements'
import { within } from '../../tables/code/code-terms'

/** The code of all orgs over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlCodeIndex(connection: SqlConnection, clock: Clock, quotas: Quotas = NO_QUOTAS): CodeIndex {
  const { dialect } = connection

  const audit = (caller: Actor, detail: Readonly<Record<string, number>>): SQL =>
    auditStatement(caller.org, clock.now(), { ...caller, ids: [], allowed: true, detail })

  const ofRoot = (root: string | null): SQL => (root === null ? sql`` : sql` AND f.root = ${root}`)

  /** Files of these paths of a root, found by their index. */
  const named = (scope: Scope, project: string, root: string | null, paths: readonly string[]): SQL => {
    const list = dialect.jsonTable(sql`${JSON.stringify(paths.map((path) => [path]))}`, { path: 'text' })
    const same = dialect.code.samePath(sql`f.path`, sql`named.path`)
    const own = sql`${within(dialect, scope, project, 'f')}${ofRoot(root)} AND ${same}`
    return sql`id IN (SELECT f.id FROM ${list} named ${dialect.plan.follow('code_files', 'f', own)})`
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
      return readOne(
        connection,
        sql`
          SELECT p.project, p.files, p.symbols, p.chunks, p.words, p.pending, p.last_indexed,
            CASE WHEN ${endRoot('ASC')} = ${endRoot('DESC')} THEN 0 ELSE 1 END AS has_roots
          FROM code_projects p WHERE ${within(dialect, scope, project, 'p')} ORDER BY p.project`,
        each((row) => ({
          project: str(row, 'project'),
          files: num(row, 'files'),
          symbols: num(row, 'symbols'),
          chunks: num(row, 'chunks'),
          words: num(row, 'words'),
          pending: num(row, 'pending'),
          lastIndexed: numOrNull(row, 'last_indexed'),
          hasRoots: num(row, 'files') > 0 && flag(row, 'has_roots'),
        })),
      )
    },

    async states(scope, project, root, paths) {
      const some = paths === undefined ? ofRoot(root) : sql` AND f.${named(scope, project, root, paths)}`
      return readOne(
        connection,
        sql`
          SELECT f.root, f.path, f.sha256, f.model FROM code_files f
          WHERE ${within(dialect, scope, project, 'f')}${some} ORDER BY f.path, f.root`,
        each((row) => ({
          root: str(row, 'root'),
          path: str(row, 'path'),
          sha256: str(row, 'sha256'),
          model: strOrNull(row, 'model'),
        })),
      )
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
        await withinQuotas({ connection, quotas, scope: caller, takes }, () =>
          new Batch(...statements).run(connection, { org: caller.org }),
        )
      } catch (error) {
        if (!(error instanceof PremiseFailed)) throw error
        throw new Problem('limit_exceeded', `A project holds at most ${MAX_PROJECT_FILES} files; index fewer folders`)
      }
    },

    async remove(caller, project, root, limit) {
      const own = sql`${within(dialect, caller, project, 'f')}${ofRoot(root)}`
      const some = sql`SELECT f.id FROM code_files f WHERE ${own} ORDER BY f.id LIMIT ${limit}`
      const batch = new Batch()
      const gone = batch.add(sql`SELECT count(*) AS files FROM (${some}) AS gone`, countOf('files'))
      batch.do([sql`DELETE FROM code_files WHERE id IN (${some})`])
      return (await batch.run(connection, { org: caller.org })).of(gone)
    },

    async forget(caller, project, detail) {
      await new Batch(
        sql`DELETE FROM code_projects WHERE org = ${caller.org} AND project = ${project} AND files = 0`,
        audit(caller, detail),
      ).run(connection, { org: caller.org })
    },
  }
}
