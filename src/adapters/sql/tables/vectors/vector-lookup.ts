import { type SQL, sql } from 'drizzle-orm'
import type { QuantizedVector } from '../../../../domain/meaning/vector'
import type { Filter } from '../../../../domain/search/filter'
import type { VectorLookup, VectorLookupResult, VectorRow } from '../../../../ports/vector-rows'
import { Batch } from '../../core/batch'
import { compileFilter } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import type { ComparedBy, SqlDialect } from '../../core/dialect'
import { each, inOneValue, json, num, rowOf, rowsOfValue, strOrNull } from '../../core/rows'
import { listed } from '../../core/visibility'
import { layerOf } from '../entries/entry-rows'
import { type ReadContext, withPrelude } from '../entries/read-statements'
import { planEntries } from '../pages/entry-plan'
import { withinReadBudget } from '../pages/page-statements'

/** Looks up vectors that an index found, or that scope and filter admit. */
const NAMES = ['id', 'entry_id', 'start', 'length', 'weight', 'layer']
const COLUMNS = ['v.id', 'v.entry_id', 'v.start', 'v.length', 'e.weight', 'e.layer'].map((name) => sql.raw(name))

export const VECTOR_COLUMNS = sql.join(COLUMNS, sql`, `)

export const toVectorRow = (row: Row): VectorRow => ({
  id: num(row, 'id'),
  entryId: num(row, 'entry_id'),
  start: num(row, 'start'),
  length: num(row, 'length'),
  weight: num(row, 'weight'),
  layer: layerOf(row),
  data: strOrNull(row, 'data'),
  compared: isCompared(row) ? { product: num(row, 'product'), squares: num(row, 'squares') } : null,
})

const isCompared = ({ product = null, data = null }: Row): boolean => product !== null && data === null

const PACKED: ComparedBy = { names: sql`data`, columns: sql`v.data`, none: sql`NULL AS data` }

/** Returns the columns of a vector: its numbers, or what the database computes from them and the query. */
export const numbersFor = ({ similarity }: SqlDialect, query: QuantizedVector | null): ComparedBy =>
  (query && similarity?.numbers(query)) ?? PACKED

/** Additional entries if the database compares vectors itself: its rounding may change the order of the last ones. */
const SPARE = 20

/** Matches the vectors `v` of an organization and a model after an ID; in the order of `inOrderOfId`. */
export const vectorsBehind = (dialect: SqlDialect, org: string, model: string, id: number): SQL =>
  sql`v.org = ${org} AND ${dialect.plan.beyond([sql`v.model`, sql`${model}`], sql`v.id`, sql`${id}`)}`

export const inOrderOfId = (dialect: SqlDialect, direction: 'ASC' | 'DESC' = 'ASC'): SQL =>
  dialect.plan.inOrder(sql.raw(`v.model ${direction}`), sql.raw(`v.id ${direction}`))

/** Returns a query of the IDs of this many vectors of an organization and a model after an ID, of any reader. */
export const vectorIdsAfter = (dialect: SqlDialect, org: string, model: string, after: number, most: number): SQL =>
  sql`SELECT v.id FROM entry_vectors v WHERE ${vectorsBehind(dialect, org, model, after)}
    ORDER BY ${inOrderOfId(dialect)} LIMIT ${most}`

/**
 * Returns the rows after an ID that scope and filter admit, with their entries `e`.
 *
 * @param which the first rows (`limit`), or those in the first vectors of all (`most`)
 */
export const admittedBehind = (
  context: Omit<ReadContext, 'indexedFields'>,
  model: string,
  filter: Filter,
  which: { readonly after: number } & ({ readonly limit: number } | { readonly most: number }),
): SQL => {
  const { dialect, scope } = context
  const columns = sql`${VECTOR_COLUMNS}, v.data`
  const order = sql`ORDER BY ${inOrderOfId(dialect)}`
  if ('limit' in which) {
    const from = sql`entry_vectors v ${dialect.plan.follow('entries', 'e', sql`e.id = v.entry_id`)}`
    const own = vectorsBehind(dialect, scope.org, model, which.after)
    return admittedVectors(context, filter, { columns, from, own }, sql`${order} LIMIT ${which.limit}`)
  }
  const from = sql`(${vectorIdsAfter(dialect, scope.org, model, which.after, which.most)}) AS stretch
    ${dialect.plan.follow('entry_vectors', 'v', sql`v.id = stretch.id`)} ${dialect.plan.follow('entries', 'e', sql`e.id = v.entry_id`)}`
  return admittedVectors(context, filter, { columns, from, own: sql`v.model = ${model}` }, order)
}

/**
 * Returns the rows that scope and filter admit; `extra` narrows them on `v` or `e`. The order of tables is explicit: the planner cannot
 * know which
 * one has fewer rows, and a wrong choice compares every vector with every entry.
 *
 * @param own which vectors, as a condition; rows found by their entry need no check of the organization
 */
export function admittedVectors(
  { dialect, scope, now }: Omit<ReadContext, 'indexedFields'>,
  filter: Filter,
  { columns, from, own }: { readonly columns: SQL; readonly from: SQL; readonly own: SQL },
  extra: SQL,
): SQL {
  const bindings = dialect.bindings()
  const condition = compileFilter(filter, dialect, bindings.bind)
  return withPrelude(
    bindings,
    [],
    sql`SELECT ${columns} FROM ${from}
      WHERE ${own} AND ${listed(dialect, scope, now)} AND ${condition} ${extra}`,
  )
}

/**
 * Returns the hits that a filter admits, most similar first; if they belong to too few entries, also further hits and all admitted vectors.
 * One statement that reads no more than needed. It always returns a row without ID, whose `part` states whether there were enough (`short`
 * or `enough`); its `entry_id` counts the eligible vectors, up to one above the limit.
 */
function hitsStatement(context: ReadContext, lookup: VectorLookup): SQL {
  const { dialect, scope, now } = context
  const { model, filter, query, hits, further, enough, hitData, eligibleLimit: limit } = lookup
  const bindings = dialect.bindings()
  const condition = compileFilter(filter, dialect, bindings.bind)
  const where = sql`v.model = ${model} AND ${listed(dialect, scope, now)} AND ${condition}`
  const numbers = numbersFor(dialect, query)
  const data = hitData ? numbers.columns : numbers.none
  // Hundreds of hits are aggregated, since each returned row is billed twice.
  const isPacked = dialect.packsRows && !hitData
  const columns = isPacked
    ? sql`count(DISTINCT v.entry_id) AS entries, ${dialect.jsonArrays(COLUMNS)} AS hits`
    : sql`${VECTOR_COLUMNS}, ${data}`
  const of = (ids: readonly number[], gate: SQL, open: SQL) => sql`
    SELECT ${columns}
    FROM ${gate}${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} hit
      ${dialect.plan.follow('entry_vectors', 'v', sql`v.id = hit.value`)}
      ${dialect.plan.follow('entries', 'e', sql`e.id = v.entry_id`)}
    WHERE ${open}${where}`
  // The gate is the first table of the join, and is also checked before it: each database uses one of them. For the parts of a project
  // scope SQLite uses neither, but a limit.
  const gate = sql`gate CROSS JOIN `
  const isShort = sql`(SELECT count(*) FROM gate) > 0`
  const open = sql`${isShort} AND `
  const plan = planEntries(context, filter, bindings)
  // A statement that would exceed its budget counts as above the limit.
  const within = withinReadBudget(context, filter, plan)
  const mayWalk = within === null ? gate : sql`walked CROSS JOIN `
  const cosine = dialect.similarity?.cosine(query)
  const eligible = (column: SQL) => sql`SELECT v.id, v.entry_id, e.weight, e.layer${column}
      FROM ${mayWalk}${plan.from} ${dialect.plan.follow('entry_vectors', 'v', sql`v.entry_id = e.id`)}
      WHERE ${open}v.model = ${model} AND ${plan.where}`
  const few =
    cosine === undefined
      ? sql`${eligible(sql``)} LIMIT CASE WHEN (SELECT count(*) FROM gate) > 0 THEN ${limit + 1} ELSE 0 END`
      : sql`SELECT id, weight, layer FROM (
          SELECT id, entry_id, weight, layer, cosine, row_number() OVER (PARTITION BY entry_id ORDER BY cosine DESC, id) AS place
          FROM (${eligible(sql`, ${cosine} AS cosine`)}) AS compared
        ) AS chunks
        WHERE place = 1 ORDER BY cosine DESC, entry_id LIMIT ${Math.min(limit, enough + SPARE)}`
  const eligibles = sql`(SELECT count(*) FROM few)`
  const found =
    within === null
      ? eligibles
      : sql`CASE WHEN (SELECT count(*) FROM walked) > 0 THEN ${eligibles} ELSE ${limit + 1} END`
  const entries = isPacked ? sql`SELECT entries FROM near` : sql`SELECT count(DISTINCT entry_id) FROM near`
  const tables = [
    ...plan.tables,
    sql`near AS MATERIALIZED (${of(hits, sql``, sql``)})`,
    sql`gate AS MATERIALIZED (SELECT 1 AS short WHERE (${entries}) < ${enough})`,
    sql`beyond AS MATERIALIZED (${of(further, gate, open)})`,
    ...(within === null
      ? []
      : [sql`walked AS MATERIALIZED (SELECT 1 AS open FROM gate WHERE CASE WHEN ${isShort} THEN ${within} END)`]),
    sql`few AS MATERIALIZED (${few})`,
  ]
  const all = isPacked
    ? sql`SELECT 'packed' AS part, NULL AS id, NULL AS entry_id, NULL AS start, NULL AS length, NULL AS weight, NULL AS layer, hits AS data
        FROM near
      UNION ALL SELECT 'packed', NULL, NULL, NULL, NULL, NULL, NULL, hits FROM beyond`
    : sql`SELECT 'hit' AS part, id, entry_id, start, length, weight, layer, ${numbers.names} FROM near
      UNION ALL SELECT 'hit', id, entry_id, start, length, weight, layer, ${numbers.names} FROM beyond`
  return withPrelude(
    bindings,
    tables,
    sql`${all}
      UNION ALL SELECT 'eligible', v.id, v.entry_id, v.start, v.length, few.weight, few.layer, ${numbers.columns}
        FROM few ${dialect.plan.follow('entry_vectors', 'v', sql`v.id = few.id`)} WHERE (SELECT count(*) FROM few) <= ${limit}
      UNION ALL SELECT CASE WHEN ${isShort} THEN 'short' ELSE 'enough' END, NULL, ${found}, NULL, NULL, NULL, NULL, ${numbers.none}`,
  )
}

/** Returns the hits of a statement in either form. */
const hitsOf = (rows: readonly Row[]): VectorRow[] =>
  rows.flatMap(({ part = 'hit', ...row }) =>
    part === 'hit'
      ? [toVectorRow(row)]
      : part === 'packed'
        ? json<unknown[][]>(row, 'data').map((values) => toVectorRow(rowOf(NAMES, values)))
        : [],
  )

/** Runs the lookup in one round trip, shared with concurrent reads. */
export async function lookUpVectors(
  connection: SqlConnection,
  context: ReadContext,
  lookup: VectorLookup,
): Promise<VectorLookupResult> {
  const { dialect } = connection
  const { model, filter, hits, further, hitData, confirmedUpTo, unconfirmedLimit, eligibleLimit } = lookup
  const staged = further.length > 0 || eligibleLimit > 0
  const named = sql`${dialect.jsonNumbers(sql`${JSON.stringify(hits)}`)} hit
    ${dialect.plan.follow('entry_vectors', 'v', sql`v.id = hit.value`)}
    ${dialect.plan.follow('entries', 'e', sql`e.id = v.entry_id`)}`
  const withData = sql`${VECTOR_COLUMNS}, ${numbersFor(dialect, lookup.query).columns}`
  const batch = new Batch()
  const statement = staged
    ? hitsStatement(context, lookup)
    : admittedVectors(
        context,
        filter,
        { columns: hitData ? withData : VECTOR_COLUMNS, from: named, own: sql`v.model = ${model}` },
        sql``,
      )
  const found = batch.add(inOneValue(dialect, statement), rowsOfValue)
  const behind =
    confirmedUpTo === Number.MAX_SAFE_INTEGER
      ? null
      : batch.add(
          admittedBehind(context, model, filter, { after: confirmedUpTo, limit: unconfirmedLimit + 1 }),
          each(toVectorRow),
        )
  const result = await batch.read(connection)
  const hitRows = result.of(found)
  const unconfirmed = behind === null ? [] : result.of(behind)
  const short = hitRows.find(({ part }) => part === 'short')
  return {
    hits: hitsOf(hitRows),
    readFurther: short !== undefined,
    unconfirmed: unconfirmed.slice(0, unconfirmedLimit),
    moreUnconfirmed: unconfirmed.length > unconfirmedLimit,
    eligible:
      short !== undefined && eligibleLimit > 0 && Number(short.entry_id) <= eligibleLimit
        ? hitRows.filter(({ part }) => part === 'eligible').map(toVectorRow)
        : null,
  }
}
