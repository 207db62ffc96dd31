import { type SQL, sql } from 'drizzle-orm'
import type { Scope } from '../../../domain/identity/scope'
import { cosine, fromBase64 } from '../../../domain/meaning/vector'
import { CANDIDATES, CONTEXT_WORKING, filesOf, MOST, type Moment } from '../../../domain/recall/current'
import type { Memory } from '../../../domain/recall/memory'
import { firstCodePoints } from '../../../domain/text'
import type { Clock } from '../../../ports/clock'
import type { AtHandMemory, CurrentMemories, NearMemory, NearRequest } from '../../../ports/current'
import { compileFilter } from '../compile-filter'
import type { Row, SqlConnection } from '../connection'
import { withPrelude } from '../entries/read-statements'
import { type Part, readPacked, readTogether } from '../packed'
import { inOrderOfId, vectorsBehind } from '../search/vector-lookup'
import { beginningOf } from '../texts/long-texts'
import { listed } from '../visibility'
import { likelyScore, wholeColumn, wholeOf } from './brought-along'
import type { MemoryContext } from './memory-statements'
import { FILES, MOMENT_COLUMNS, momentColumns, ownScore, toAtMoment } from './moment'
import { among, bestPatterns, number } from './patterns'
import { entriesOf } from './room-rows'

/** Newest working memories among which opened files are looked for. */
const LATELY = 20
/** Characters of a file that the indexes of files know. */
const INDEXED = 256
/** Of a working memory as much as stands for the moment. */
const CONTEXT = 2_000
/** Chunks of a memory that are compared where only its own nearness is asked for. */
const CHUNKS = 20
/** Vectors that an index has not confirmed and that are compared beside it at most; as a rule it knows all but the last few. */
const UNCONFIRMED = 200

/** Candidates of layers 2 and 3 that come whole: those that are shown, as far as nearness tells, and a few more. */
const LIKELY = MOST.relevant + MOST.patterns + 1
/** Cosines travel as whole numbers of such parts. */
const PARTS = 1_000_000

/** A memory or a vector, and how near it is as far as an index told; 0 where it told nothing. */
type Told = readonly [id: number, cosine: number]

/** Each memory once, with its vectors. */
function gather(rows: readonly Row[]): AtHandMemory[] {
  const vectors = new Map<number, number[]>()
  for (const row of rows) {
    const id = Number(row.id)
    const known = vectors.get(id) ?? []
    if (row.vector_id !== null && !known.includes(Number(row.vector_id))) known.push(Number(row.vector_id))
    vectors.set(id, known)
  }
  return [...vectors].map(([id, all]) => ({ id, vectors: all }))
}

/**
 * Candidates over any SQL connection.
 *
 * @param isPlaced whether an index beside the database knows where vectors stand, and is asked also where the database could tell
 */
export function createSqlCurrentMemories(connection: SqlConnection, clock: Clock, isPlaced = false): CurrentMemories {
  const { dialect } = connection
  const asksIndex = isPlaced || dialect.nearness === null

  const within = ({ scope, now, project }: MemoryContext, layer: 1 | 2 | 3): SQL => {
    const ofProject = layer === 3 || project === null ? sql`` : sql` AND e.project = ${project}`
    return sql`${listed(dialect, scope, now)} AND e.layer = ${number(layer)}${ofProject}`
  }

  const from = ({ project }: MemoryContext, layer: 1 | 2 | 3): SQL => entriesOf(dialect, project, layer)

  /** Ids of memories of layer 3 by their files, those of both places that name one. */
  function ofFile(context: MemoryContext, moment: Moment): SQL {
    const files = filesOf(moment)
    const beginnings = [...new Set(files.map((file) => firstCodePoints(file, INDEXED)))]
    const named = FILES.map(
      ({ path, index }) => sql`
        SELECT e.id, e.created_at FROM ${dialect.entriesBy(index)}
        WHERE ${within(context, 3)} AND substr(${dialect.textAt(path)}, 1, ${number(INDEXED)}) IN (${among(beginnings)})
          AND ${dialect.textAt(path)} IN (${among(files)})`,
    )
    return sql`SELECT id FROM (${sql.join(named, sql` UNION `)}) AS filed
      ORDER BY created_at DESC, id DESC LIMIT ${number(CANDIDATES.nearest)}`
  }

  /** Ids, and those with the vectors of their entries, one row each. */
  const withVectors = (ids: SQL, model: string | null): SQL =>
    model === null || !asksIndex
      ? sql`SELECT at_hand.id, NULL AS vector_id FROM (${ids}) AS at_hand`
      : sql`WITH at_hand AS MATERIALIZED (${ids})
          SELECT id, NULL AS vector_id FROM at_hand
          UNION ALL
          SELECT at_hand.id, v.id FROM at_hand
            ${dialect.follow('entry_vectors', 'v', sql`v.entry_id = at_hand.id AND v.model = ${model} AND v.chunk < ${number(CHUNKS)}`)}`

  /** One row with the newest vector of an org, and the one that is the last to be compared without an index; none where none is asked. */
  function vectorsKnown(scope: Scope, model: string | null): SQL {
    if (model === null || !asksIndex) return sql`SELECT 0 AS newest, 0 AS due`
    const own = sql`${dialect.rangeOf(sql`v.org`, sql`${scope.org}`)} AND ${dialect.rangeOf(sql`v.model`, sql`${model}`)}`
    const after = (others: number): SQL => sql`(
      SELECT v.id FROM entry_vectors v WHERE ${own}
      ORDER BY v.org DESC, v.model DESC, v.id DESC LIMIT 1 OFFSET ${number(others)}
    )`
    return sql`SELECT ${after(0)} AS newest, ${after(UNCONFIRMED)} AS due`
  }

  /** Where candidates come from: those at hand, and the nearest. What leads there is a vector that an index found, or the cosine itself. */
  function sources(scope: Scope, atHand: readonly Told[], request: NearRequest | null, others: readonly Told[]): SQL {
    const own = sql`SELECT id, cosine FROM ${told(atHand)} given`
    if (request === null) return sql`(SELECT id, NULL AS leads, cosine FROM (${own}) AS own)`
    const { query, model, layers, project, found } = request
    const { nearness } = dialect
    if (found === null && nearness !== null) {
      const ofOwn = sql`(
        SELECT max(${nearness.cosine(query)}) FROM entry_vectors v
        WHERE v.entry_id = own.id AND v.model = ${model} AND v.chunk < ${number(CHUNKS)}
      )`
      const nearest = layers.map(
        (part) =>
          sql`SELECT entry_id, cosine FROM ${nearness.nearestEntries(scope, model, query, { ...part, project })} AS nearest`,
      )
      const all = sql.join([sql`SELECT id, ${ofOwn} AS cosine FROM (${own}) AS own`, ...nearest], sql` UNION ALL `)
      return sql`(SELECT id, max(cosine) AS leads FROM (${all}) AS together GROUP BY id)`
    }
    return sql`(
      SELECT id, NULL AS leads, cosine FROM (${own}) AS own
      UNION ALL
      SELECT v.entry_id, v.id, hit.cosine
      FROM ${told(others)} hit ${dialect.follow('entry_vectors', 'v', sql`v.id = hit.id`)}
    )`
  }

  /** A table of `id` and `cosine`, which is asked for only where something comes along by it. */
  function told(all: readonly Told[]): SQL {
    if (!dialect.packsRows)
      return sql`(SELECT value AS id, 0 AS cosine FROM ${dialect.jsonNumbers(sql`${JSON.stringify(all.map(([id]) => id))}`)} ids)`
    const pairs = JSON.stringify(all.map(([id, near]) => [id, Math.round(near * PARTS)]))
    return dialect.jsonTable(sql`${pairs}`, { id: 'integer', cosine: 'integer' })
  }

  return {
    comparesVectors: dialect.nearness !== null,

    async atHand(scope, project, moment, model) {
      const context: MemoryContext = { dialect, scope, now: clock.now(), project }
      const latest = (columns: SQL, layer: 1 | 2, most: number): SQL => sql`
        SELECT ${columns} FROM ${from(context, layer)} WHERE ${within(context, layer)}
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${number(most)}`
      const working = sql`
        SELECT e.id FROM ${from(context, 1)} WHERE ${within(context, 1)}
        ORDER BY ${ownScore(dialect, moment, context.now)} DESC, e.id DESC LIMIT ${number(CANDIDATES.nearest)}`
      const hasFile = filesOf(moment).length > 0
      const small: Part[] = [
        {
          columns: ['text'],
          rows: latest(sql`${beginningOf(dialect, CONTEXT)} AS text`, 1, CONTEXT_WORKING),
        },
        { columns: ['id', 'used_at'], rows: bestPatterns(context, moment) },
        { columns: ['newest', 'due'], rows: vectorsKnown(scope, model) },
        ...[working, latest(sql`e.id`, 2, CANDIDATES.newest), ...(hasFile ? [ofFile(context, moment)] : [])].map(
          (ids) => ({ columns: ['id', 'vector_id'], rows: withVectors(ids, model) }),
        ),
      ]
      const [[texts = [], used = [], known = [], ...atHand], [late = []]] = await Promise.all([
        readTogether(connection, small),
        // Paths may be long.
        connection.read([latest(sql`e.created_at, ${dialect.textAt(['fileContext', 'path'])} AS path`, 1, LATELY)]),
      ])
      return {
        vectors: asksIndex ? { newest: Number(known[0]?.newest ?? 0), due: Number(known[0]?.due ?? 0) } : null,
        newest: texts.map(({ text }) => text as string),
        opened: late
          .filter(({ path }) => path !== null)
          .map(({ path, created_at: at }) => ({ path: path as string, at: Number(at) })),
        patterns: used.map(({ id, used_at: at }) => ({ id: Number(id), usedAt: Number(at) })),
        memories: gather(atHand.flat()),
      }
    },

    async candidates(scope, filter, moment, { memories: atHand, patterns }, request) {
      const columns = sql`e.id, e.weight, ${momentColumns(dialect, moment)}`
      const now = clock.now()
      const visible = listed(dialect, scope, now)
      const admitted = (select: (condition: SQL) => SQL): SQL => {
        const bindings = dialect.bindings()
        const condition = sql`${visible} AND ${compileFilter(filter, dialect, bindings.bind)}`
        return withPrelude(bindings, [], select(condition))
      }
      const { model, query, found } = request ?? { model: '', query: null, found: null }
      const cosines = new Map(found?.hits.map((hit) => [hit.id, hit.cosine]))
      const beyond = found?.confirmedUpTo ?? 0
      const untold = found && atHand.flatMap(({ vectors }) => vectors.filter((id) => id <= beyond && !cosines.has(id)))
      // As a rule there is nothing of either.
      const isBehind = found !== null && beyond < found.newest
      const isUntold = untold !== null && untold.length > 0
      const ownCosine = ({ vectors }: AtHandMemory): number => Math.max(0, ...vectors.map((id) => cosines.get(id) ?? 0))
      const known = new Set(atHand.flatMap(({ vectors }) => vectors))
      const others = (found?.hits ?? []).flatMap(({ id, cosine: near }): Told[] => (known.has(id) ? [] : [[id, near]]))
      const own = atHand.map((one): Told => [one.id, ownCosine(one)])
      const selected = (
        condition: SQL,
      ): SQL => sql`SELECT ${columns}, source.leads${dialect.packsRows ? sql`, source.cosine` : sql``}
        FROM ${sources(scope, own, request, others)} source ${dialect.follow('entries', 'e', sql`e.id = source.id`)}
        WHERE ${condition}`
      /** The rows of what is near and, where rows are packed, what of it and of the patterns comes along whole. */
      const readNear = (): Promise<Row[][]> => {
        if (!dialect.packsRows) return connection.read([admitted(selected)])
        const bindings = dialect.bindings()
        const condition = sql`${visible} AND ${compileFilter(filter, dialect, bindings.bind)}`
        const best = (where: SQL, most: number): SQL =>
          sql`SELECT id FROM (SELECT near.id FROM near WHERE ${where} ORDER BY ${likelyScore(moment, now)} DESC LIMIT ${number(most)})`
        const certain = JSON.stringify(patterns.map(({ id }) => id))
        const likely = sql`${best(sql`near.layer = 1`, MOST.working)} UNION ALL ${best(sql`near.layer <> 1`, LIKELY)}
          UNION ALL SELECT value FROM ${dialect.jsonNumbers(sql`${certain}`)}`
        const near: Part = { columns: ['id', 'weight', ...MOMENT_COLUMNS, 'leads'], rows: sql`SELECT * FROM near` }
        const whole: Part = {
          columns: ['id', 'whole'],
          rows: sql`SELECT e.id, ${wholeColumn(dialect)} AS whole
            FROM (${likely}) likely ${dialect.follow('entries', 'e', sql`e.id = likely.id`)} WHERE ${condition}`,
        }
        return readPacked(connection, [near, whole], (select) =>
          withPrelude(bindings, [sql`near AS MATERIALIZED (${selected(condition)})`], select),
        )
      }
      const unconfirmed = (upTo: number): SQL =>
        admitted(
          (condition) => sql`SELECT ${columns}, v.data
            FROM entry_vectors v ${dialect.follow('entries', 'e', sql`e.id = v.entry_id`)}
            WHERE ${vectorsBehind(dialect, scope.org, model, beyond)} AND v.id <= ${upTo} AND ${condition}
            ORDER BY ${inOrderOfId(dialect, 'DESC')} LIMIT ${number(UNCONFIRMED)}`,
        )
      const [[rows = [], whole = []], [fresh = []], [beside = []]] = await Promise.all([
        readNear(),
        isBehind ? connection.read([unconfirmed(found.newest)]) : [],
        isUntold
          ? connection.read([
              sql`SELECT v.id, v.data
                FROM ${dialect.jsonNumbers(sql`${JSON.stringify(untold)}`)} told
                  ${dialect.follow('entry_vectors', 'v', sql`v.id = told.value`)}`,
            ])
          : [],
      ])
      const compared = (row: Row): number =>
        query === null ? 0 : cosine(query.values, fromBase64(row.data as string).values)
      for (const row of beside) cosines.set(Number(row.id), compared(row))
      const ownCosines = new Map(atHand.map((one) => [one.id, ownCosine(one)]))
      const wholes = new Map(whole.map(({ id, whole: cell }) => [Number(id), wholeOf(cell)]))
      const best = new Map<number, NearMemory>()
      const note = (row: Row, told: number): void => {
        const id = Number(row.id)
        const before = best.get(id)
        const nearest = Math.max(told, ownCosines.get(id) ?? 0, before?.cosine ?? 0)
        best.set(id, { ...toAtMoment(row, wholes.get(id) ?? null), cosine: nearest })
      }
      for (const row of rows) note(row, found === null ? Number(row.leads ?? 0) : (cosines.get(Number(row.leads)) ?? 0))
      for (const row of fresh) note(row, compared(row))
      const shown = patterns.flatMap(({ id }): [number, () => Memory][] => {
        const read = wholes.get(id) ?? null
        return read === null ? [] : [[id, read]]
      })
      return { near: [...best.values()], patterns: new Map(shown) }
    },
  }
}
