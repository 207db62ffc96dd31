import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../domain/entry/entry'
import type { Filter, Predicate } from '../../../domain/search/filter'
import type { Bind, SqlDialect } from './dialect'

export const TRUE = sql`(1 = 1)`
export const FALSE = sql`(1 = 0)`

export const layerIs = (layers: readonly Layer[]): SQL =>
  layers.length === 0 ? FALSE : sql`e.layer IN (${sql.raw(layers.join(', '))})`

/** Returns a condition on the project: its key, and those of the projects merged into it. */
export const isOf = ({ is, of = [is] }: { readonly is: string; readonly of?: readonly string[] }, bind: Bind): SQL =>
  of.length === 1
    ? sql`e.project = ${bind(of[0] as string)}`
    : sql`e.project IN (${sql.join(
        of.map((one) => bind(one)),
        sql`, `,
      )})`

/** Joins conditions as a balanced tree: D1 refuses expressions deeper than 100. */
export function joinConditions(op: 'and' | 'or', parts: readonly SQL[]): SQL {
  if (parts.length === 0) return op === 'and' ? TRUE : FALSE
  if (parts.length === 1) return parts[0] as SQL
  const middle = parts.length >> 1
  const left = joinConditions(op, parts.slice(0, middle))
  const right = joinConditions(op, parts.slice(middle))
  return op === 'and' ? sql`(${left} AND ${right})` : sql`(${left} OR ${right})`
}

/**
 * Compiles a filter into a condition on the entry row `e`. A WHERE treats NULL as false, and so do AND and OR; only NOT would turn it into
 * true, so the condition inside each NOT is made true or false first.
 */
export function compileFilter(filter: Filter, dialect: SqlDialect, bind: Bind): SQL {
  switch (filter.op) {
    case 'and':
    case 'or':
      return joinConditions(
        filter.op,
        filter.of.map((part) => compileFilter(part, dialect, bind)),
      )
    case 'not':
      return sql`(NOT ${dialect.falseWhenNull(compileFilter(filter.of, dialect, bind))})`
    default:
      return compilePredicate(filter, dialect, bind)
  }
}

function compilePredicate<Op extends Predicate['op']>(
  predicate: Extract<Predicate, { op: Op }>,
  dialect: SqlDialect,
  bind: Bind,
): SQL {
  const compile = dialect.predicates[predicate.op as Op] as (
    predicate: Extract<Predicate, { op: Op }>,
    bind: Bind,
  ) => SQL
  return compile(predicate, bind)
}
