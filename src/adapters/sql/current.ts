import { type SQL, sql } from 'drizzle-orm'
import { CANDIDATES, CONTEXT_WORKING, filesOf, MOST, type Moment } from '../../domain/recall/current'
import { firstCodePoints } from '../../domain/text'
import { cosine, fromBase64 } from '../../domain/vector'
import type { Clock } from '../../ports/clock'
import type { CurrentMemories } from '../../ports/current'
import { compileFilter } from './compile-filter'
import type { SqlConnection } from './connection'
import { textOf } from './long-texts'
import type { MemoryContext } from './memory-statements'
import { FILES, momentColumns, ownScore, toAtMoment } from './moment'
import { among, bestPatterns, number } from './patterns'
import { withPrelude } from './read-statements'
import { entriesOf } from './room-rows'
import { listed } from './visibility'

/** Newest working memories among which opened files are looked for. */
const LATELY = 20
/** Characters of a file that the indexes of files know. */
const INDEXED = 256
/** Of a working memory as much as stands for the moment. */
const CONTEXT = 2_000

/** Candidates over any SQL connection. */
export function createSqlCurrentMemories(connection: SqlConnection, clock: Clock): CurrentMemories {
  const { dialect } = connection

  const columnsOf = (moment: Moment): SQL => sql`e.id, e.weight, ${momentColumns(dialect, moment)}`

  const within = ({ scope, now, project }: MemoryContext, layer: 1 | 2 | 3): SQL => {
    const ofProject = layer === 3 || project === null ? sql`` : sql` AND e.project = ${project}`
    return sql`${listed(dialect, scope, now)} AND e.layer = ${number(layer)}${ofProject}`
  }

  const from = ({ project }: MemoryContext, layer: 1 | 2 | 3): SQL => entriesOf(dialect, project, layer)

  /** Memories of layer 3 by their files, those of both places that name one. */
  function ofFileStatement(context: MemoryContext, moment: Moment): SQL {
    const files = filesOf(moment)
    const beginnings = [...new Set(files.map((file) => firstCodePoints(file, INDEXED)))]
    const ids = FILES.map(
      ({ path, index }) => sql`
        SELECT e.id FROM ${dialect.entriesBy(index)}
        WHERE ${within(context, 3)} AND substr(${dialect.textAt(path)}, 1, ${number(INDEXED)}) IN (${among(beginnings)})
          AND ${dialect.textAt(path)} IN (${among(files)})`,
    )
    return sql`
      SELECT ${columnsOf(moment)} FROM (${sql.join(ids, sql` UNION `)}) AS filed
        ${dialect.follow('entries', 'e', sql`e.id = filed.id`)}
      ORDER BY e.created_at DESC, e.id DESC LIMIT ${number(CANDIDATES.nearest)}`
  }

  return {
    findsVectors: dialect.nearestVectors !== null,

    async atHand(scope, project, moment) {
      const context: MemoryContext = { dialect, scope, now: clock.now(), project }
      const columns = columnsOf(moment)
      const newest = sql`
        SELECT e.id, e.created_at, ${dialect.textAt(['fileContext', 'path'])} AS path, substr(${textOf()}, 1, ${number(CONTEXT)}) AS text
        FROM ${from(context, 1)} WHERE ${within(context, 1)}
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${number(LATELY)}`
      const working = sql`
        SELECT ${columns} FROM ${from(context, 1)} WHERE ${within(context, 1)}
        ORDER BY ${ownScore(dialect, moment, context.now)} DESC, e.id DESC LIMIT ${number(MOST.working)}`
      const recent = sql`
        SELECT ${columns} FROM ${from(context, 2)} WHERE ${within(context, 2)}
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${number(CANDIDATES.newest)}`
      const patterns = sql`
        SELECT ${columns} FROM (${bestPatterns(context, moment)}) AS best
          ${dialect.follow('entries', 'e', sql`e.id = best.id`)}
        ORDER BY best.score DESC, e.id DESC`
      const hasFile = filesOf(moment).length > 0
      const [late = [], best = [], used = [], fresh = [], filed = []] = await connection.read([
        ...[newest, working, patterns, recent],
        ...(hasFile ? [ofFileStatement(context, moment)] : []),
      ])
      return {
        newest: late.slice(0, CONTEXT_WORKING).map(({ text }) => text as string),
        opened: late
          .filter(({ path }) => path !== null)
          .map(({ path, created_at: at }) => ({ path: path as string, at: Number(at) })),
        working: best.map(toAtMoment),
        patterns: used.map(toAtMoment),
        recent: fresh.map(toAtMoment),
        ofFile: filed.map(toAtMoment),
      }
    },

    async near(scope, filter, moment, { query, model, found, depth, most }) {
      const columns = columnsOf(moment)
      const visible = listed(dialect, scope, clock.now())
      const admitted = (select: (condition: SQL) => SQL): SQL => {
        const bindings = dialect.bindings()
        return withPrelude(bindings, [], select(sql`${visible} AND ${compileFilter(filter, dialect, bindings.bind)}`))
      }
      const ofVector = dialect.follow('entries', 'e', sql`e.id = v.entry_id`)
      const vectorOfHit = dialect.follow('entry_vectors', 'v', sql`v.id = hit.id`)
      if (dialect.nearestVectors !== null) {
        const hits = dialect.nearestVectors({ org: scope.org, model }, query, depth)
        const [rows = []] = await connection.read([
          admitted(
            (condition) => sql`SELECT ${columns}, hit.cosine FROM ${hits} hit ${vectorOfHit} ${ofVector}
              WHERE ${condition} ORDER BY hit.cosine DESC, hit.id LIMIT ${number(most)}`,
          ),
        ])
        return rows.map((row) => ({ ...toAtMoment(row), cosine: Number(row.cosine) }))
      }
      if (found === null) return []
      const cosines = new Map(found.hits.map((hit) => [hit.id, hit.cosine]))
      const hits = sql`(SELECT value AS id FROM ${dialect.jsonNumbers(sql`${JSON.stringify([...cosines.keys()])}`)} given)`
      const [known = [], fresh = []] = await connection.read([
        // Looked up one by one in the order of the list, so that it ends with enough of them.
        admitted(
          (condition) => sql`SELECT ${columns}, hit.id AS vector_id FROM ${hits} hit ${vectorOfHit} ${ofVector}
            WHERE ${condition} LIMIT ${number(most)}`,
        ),
        admitted(
          (condition) => sql`SELECT ${columns}, v.data FROM entry_vectors v ${ofVector}
            WHERE v.org = ${scope.org} AND v.model = ${model} AND v.id > ${found.confirmedUpTo} AND ${condition}
            ORDER BY v.id DESC LIMIT ${number(most)}`,
        ),
      ])
      return [
        ...known.map((row) => ({ ...toAtMoment(row), cosine: cosines.get(Number(row.vector_id)) ?? 0 })),
        ...fresh.map((row) => ({
          ...toAtMoment(row),
          cosine: cosine(query.values, fromBase64(row.data as string).values),
        })),
      ]
    },
  }
}
