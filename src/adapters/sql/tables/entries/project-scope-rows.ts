import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../../domain/identity/scope'
import type { Millis } from '../../../../domain/time'
import type { SqlDialect } from '../../core/dialect'
import { inProject, listed } from '../../core/visibility'

/**
 * The entries that a call with a project sees: those of the project, and layer 3 of all projects (fabric contract §1). Each layer is
 * queried separately, so that an index finds its rows and other projects cost nothing.
 */
export interface ProjectScopeContext {
  readonly dialect: SqlDialect
  readonly scope: Scope
  /** Milliseconds since 1970. */
  readonly now: Millis
}

export const LAYERS = [1, 2, 3] as const

/** Returns a condition on `e` for entries of one layer. */
const within = ({ dialect, scope, now }: ProjectScopeContext, project: string, layer: number): SQL => {
  const ofProject = layer === 3 ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`e.project`)}`
  return sql`${listed(dialect, scope, now)} AND e.layer = ${sql.raw(String(layer))}${ofProject}`
}

/** Returns where a layer is searched: in the project, or in all projects. */
export const layerEntries = (dialect: SqlDialect, project: string | null, layer: number): SQL =>
  layer === 3 || project === null ? dialect.plan.entriesOfLayer : dialect.plan.entriesOfProject

export const together = (parts: readonly SQL[]): SQL => sql.join([...parts], sql` UNION ALL `)

/** Returns the IDs of entries of these layers. */
export const projectScopeIds = (
  context: ProjectScopeContext,
  project: string,
  layers: readonly number[] = LAYERS,
): SQL =>
  layers.length === 0
    ? sql`SELECT e.id FROM entries e WHERE 1 = 0`
    : together(
        layers.map(
          (layer) =>
            sql`SELECT e.id FROM ${layerEntries(context.dialect, project, layer)} WHERE ${within(context, project, layer)}`,
        ),
      )
