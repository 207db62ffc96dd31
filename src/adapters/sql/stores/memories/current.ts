import { type SQL, sql } from 'drizzle-orm'
import { extensionOf, normalizeLanguage, spellingsOf } from '../../../../domain/code/languages'
import type { Scope } from '../../../../domain/identity/scope'
import { cosine, readableVector } from '../../../../domain/meaning/vector'
import { OPENED } from '../../../../domain/recall/events/event'
import { folderOf } from '../../../../domain/recall/file-paths'
import { kindsOfWord } from '../../../../domain/recall/memory'
import { CANDIDATES, CONTEXT_WORKING } from '../../../../domain/recall/rank-current'
import { filesOf, type WorkContext } from '../../../../domain/recall/work-context'
import { firstCodePoints } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { AtHandMemory, CurrentMemories, SimilarMemoriesRequest, SimilarMemory } from '../../../../ports/memories'
import { readOne } from '../../core/batch'
import { compileFilter, joinConditions } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows, each, num, onlyRow, Parts, str, strOrNull, textsOf } from '../../core/rows'
import { accessScope, expired, inProject, isActive, listed } from '../../core/visibility'
import { layerEntries } from '../../tables/entries/project-scope-rows'
import { withPrelude } from '../../tables/entries/read-statements'
import { type MemoryContext, newestOf, newestOfKinds } from '../../tables/memories/memory-statements'
import { CONTEXT_COLUMNS, contextColumns, FILES, toMemoryInContext } from '../../tables/memories/work-context'
import { newestOfTag } from '../../tables/pages/tags'
import { previewOf } from '../../tables/texts/long-texts'
import { inOrderOfId, vectorsBehind } from '../../tables/vectors/vector-lookup'

/** Candidates for the current work: files, patterns, working memory (fabric contract §5). */

/** Characters of a language in the narrow rows of patterns. */
const LONGEST_LANGUAGE = 100

const among = (values: readonly string[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** Returns every spelling of a language name. */
const everySpelling = (name: string): string[] => {
  const meant = normalizeLanguage(name)
  const all = [name.trim().toLowerCase(), meant, ...spellingsOf(meant)]
  return [...new Set(all.map((spelling) => firstCodePoints(spelling, LONGEST_LANGUAGE)))]
}

/** Matches files in the folder of a file, or with its extension; plain code then accepts some of them. */
function nearTo(file: string): SQL {
  const ending = extensionOf(file)
  // Stored folders end with a slash.
  const folder = folderOf(file) === '' ? '' : `${folderOf(file)}/`
  const length = sql.raw(String([...folder].length))
  const inFolder = ['p.folder', 'p.code_folder'].map((name) => {
    const column = sql.raw(name)
    const endsAlike = sql`substr(${column}, length(${column}) + 1 - ${length})`
    const end = sql`substr(CAST(${folder} AS TEXT), ${length} + 1 - length(${column}))`
    const isPart = sql`length(${column}) > 0 AND length(${column}) < ${length} AND ${end} = ${column}`
    return folder === ''
      ? sql`${column} = ''`
      : sql`(${column} = ${folder} OR (length(${column}) > ${length} AND ${endsAlike} = ${folder}) OR (${isPart}))`
  })
  const isAlike = ending === '' ? [] : [sql`p.ending = ${ending}`, sql`p.code_ending = ${ending}`]
  return joinConditions('or', [...inFolder, ...isAlike])
}

/** Returns the IDs of patterns of layers 2 and 3. */
function newestPatterns(context: MemoryContext, { language, filePath }: WorkContext): SQL {
  const { dialect, scope, now, project } = context
  const most = CANDIDATES.patterns
  if (language === null && filePath === null) {
    const kinds = ['code_pattern', 'convention'].flatMap((word) => kindsOfWord(word) ?? [])
    const newest = newestOfKinds(context, [2, 3], kinds, most)
    return sql`SELECT id FROM (${newest}) AS every ORDER BY created_at DESC, id DESC LIMIT ${most}`
  }
  const only = [
    ...(language === null ? [] : [sql`p.language IN (${among(everySpelling(language))})`]),
    ...(filePath === null ? [] : [sql`(${nearTo(filePath)})`]),
  ]
  const ofProject =
    project === null ? sql`` : sql` AND (p.layer = 3 OR ${inProject(dialect, scope, project, sql`p.project`)})`
  return sql`
    SELECT p.entry_id AS id FROM patterns p
    WHERE p.org = ${scope.org}${ofProject} AND ${accessScope(dialect, scope, 'p', 'empty')}
      AND (p.expires_at IS NULL OR NOT ${expired(now, 'p')}) AND ${isActive('p', 'entry_id')} AND ${joinConditions('and', only)}
    ORDER BY p.entry_id DESC LIMIT ${most}`
}

/** Number of newest memories of opened files that are searched for the last opened ones, and of those that are read. */
const NEWEST_OPENED = { opened: 30, last: 6 } as const
/** Characters of a path in the indexes of files. */
const INDEXED = 256
/** Characters of a working memory that describe the work context. */
const CONTEXT = 2_000
/** Chunks of a memory that are compared when only its own similarity is requested. */
const CHUNKS = 20
/**
 * Maximum number of vectors compared in addition to an index that has not confirmed them; usually it lacks only the last few.
 */
const UNCONFIRMED = 200

const number = (value: number): SQL => sql.raw(String(value))

/** Returns every suffix of an absolute path that may name the file. */
function pathSpellings(file: string): string[] {
  const parts = file.split('/')
  const isAbsolute = parts[0] === '' || /^[A-Za-z]:$/.test(parts[0] ?? '')
  return isAbsolute ? parts.map((_, i) => parts.slice(i).join('/')).filter((name) => name !== '') : [file]
}

/** Groups the vectors of each memory. */
function gather(rows: readonly Row[]): AtHandMemory[] {
  const vectors = new Map<number, number[]>()
  for (const row of rows) {
    const id = num(row, 'id')
    const known = vectors.get(id) ?? []
    if (row.vector_id !== null && !known.includes(num(row, 'vector_id'))) known.push(num(row, 'vector_id'))
    vectors.set(id, known)
  }
  return [...vectors].map(([id, all]) => ({ id, vectors: all }))
}

/**
 * Creates the reads of current memories over any SQL connection.
 *
 * @param isPlaced whether an auxiliary vector index knows scopes, and is used even if the database could compare
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlCurrentMemories(connection: SqlConnection, clock: Clock, isPlaced = false): CurrentMemories {
  const { dialect } = connection
  const asksIndex = isPlaced || dialect.similarity === null

  const within = ({ scope, now, project }: MemoryContext, layer: 1 | 2 | 3): SQL => {
    const ofProject =
      layer === 3 || project === null ? sql`` : sql` AND ${inProject(dialect, scope, project, sql`e.project`)}`
    return sql`${listed(dialect, scope, now)} AND e.layer = ${number(layer)}${ofProject}`
  }

  const from = ({ project }: MemoryContext, layer: 1 | 2 | 3): SQL => layerEntries(dialect, project, layer)

  /** Returns the IDs of memories of layer 3 by their files, from both metadata fields. */
  function ofFile(context: MemoryContext, moment: WorkContext): SQL {
    const files = [...new Set(filesOf(moment).flatMap(pathSpellings))]
    const among = (values: readonly string[]): SQL =>
      sql`(SELECT value FROM ${dialect.jsonRows(sql`${JSON.stringify(values)}`)})`
    const beginnings = [...new Set(files.map((file) => firstCodePoints(file, INDEXED)))]
    const named = FILES.map(
      ({ path, index }) => sql`
        SELECT e.id, e.created_at FROM ${dialect.plan.entriesBy(index)}
        WHERE ${within(context, 3)} AND substr(${dialect.textAt(path)}, 1, ${number(INDEXED)}) IN ${among(beginnings)}
          AND ${dialect.textAt(path)} IN ${among(files)}`,
    )
    return sql`SELECT id FROM (${sql.join(named, sql` UNION `)}) AS filed
      ORDER BY created_at DESC, id DESC LIMIT ${number(CANDIDATES.ofFile)}`
  }

  /** Returns IDs with the vectors of their entries, one row for each; a row without vector for an entry without any. */
  const withVectors = (ids: SQL, model: string | null): SQL =>
    model === null || !asksIndex
      ? sql`SELECT at_hand.id, NULL AS vector_id FROM (${ids}) AS at_hand`
      : sql`SELECT at_hand.id, v.id AS vector_id FROM (${ids}) AS at_hand
          ${dialect.plan.followLeft(
            'entry_vectors',
            'v',
            sql`v.entry_id = at_hand.id AND v.model = ${model} AND v.chunk < ${number(CHUNKS)}`,
          )}`

  /**
   * Returns the newest vector of an organization, and the last one to be compared without an index; no row without a model.
   */
  function vectorsKnown(scope: Scope, model: string | null): SQL {
    if (model === null || !asksIndex) return sql`SELECT 0 AS newest, 0 AS due`
    const own = sql`${dialect.plan.rangeOf(sql`v.org`, sql`${scope.org}`)} AND ${dialect.plan.rangeOf(sql`v.model`, sql`${model}`)}`
    const after = (others: number): SQL => sql`(
      SELECT v.id FROM entry_vectors v WHERE ${own}
      ORDER BY v.org DESC, v.model DESC, v.id DESC LIMIT 1 OFFSET ${number(others)}
    )`
    return sql`SELECT ${after(0)} AS newest, ${after(UNCONFIRMED)} AS due`
  }

  /** Returns the sources of candidates: given IDs, and the most similar entries, found by an index or by the cosine. */
  function sources(
    scope: Scope,
    atHand: readonly number[],
    request: SimilarMemoriesRequest | null,
    others: readonly number[],
  ): SQL {
    const listOf = (ids: readonly number[]): SQL => dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)
    const own = sql`SELECT value AS id FROM ${listOf(atHand)} given`
    if (request === null) return sql`(SELECT id, NULL AS leads FROM (${own}) AS own)`
    const { query, model, layers, found } = request
    const { similarity } = dialect
    if (found === null && similarity !== null) {
      const ofOwn = sql`(
        SELECT max(${similarity.cosine(query)}) FROM entry_vectors v
        WHERE v.entry_id = own.id AND v.model = ${model} AND v.chunk < ${number(CHUNKS)}
      )`
      const ofLayers = layers.map(
        (layer) =>
          sql`SELECT entry_id, cosine FROM ${similarity.similarEntries(scope, model, query, layer, request)} AS nearest`,
      )
      const all = sql`SELECT id, ${ofOwn} AS cosine FROM (${own}) AS own
        UNION ALL SELECT * FROM (
          ${sql.join(ofLayers, sql` UNION ALL `)} ORDER BY cosine DESC, entry_id DESC LIMIT ${number(request.most)}
        ) AS nearest`
      return sql`(SELECT id, max(cosine) AS leads FROM (${all}) AS together GROUP BY id)`
    }
    return sql`(
      SELECT id, NULL AS leads FROM (${own}) AS own
      UNION ALL
      SELECT v.entry_id, v.id FROM ${listOf(others)} hit ${dialect.plan.follow('entry_vectors', 'v', sql`v.id = hit.value`)}
    )`
  }

  return {
    comparesVectors: dialect.similarity !== null,

    async atHand(scope, project, moment, model) {
      const context: MemoryContext = { dialect, scope, now: clock.now(), project }
      const latest = (columns: SQL, most: number, where = sql``): SQL => sql`
        SELECT ${columns} FROM ${from(context, 1)} WHERE ${within(context, 1)}${where}
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${number(most)}`
      const newest = sql`SELECT id FROM (${newestOf(context, CANDIDATES.newest)}) AS newest`
      const lately = sql`SELECT opened.entry_id, opened.expires_at
        FROM (${newestOfTag(context, OPENED.tag, 1, NEWEST_OPENED.opened)}) AS opened
        ORDER BY opened.expires_at DESC, opened.entry_id DESC LIMIT ${number(NEWEST_OPENED.last)}`
      const written = sql` AND coalesce(${dialect.textAt(['source'])}, '') <> 'system_auto'`
      const small = new Parts()
      const contents = small.add(
        ['text'],
        latest(sql`${previewOf(dialect, CONTEXT)} AS text`, CONTEXT_WORKING, written),
        textsOf('text'),
      )
      const known = small.add(
        ['newest', 'due'],
        vectorsKnown(scope, model),
        onlyRow((row) => ({ newest: num(row, 'newest'), due: num(row, 'due') })),
      )
      const found = [
        newest,
        newestPatterns(context, moment),
        ...(filesOf(moment).length > 0 ? [ofFile(context, moment)] : []),
      ].map((ids) => small.add(['id', 'vector_id'], withVectors(ids, model), asRows))
      const [result, late] = await Promise.all([
        small.read(connection),
        // Paths may be long.
        readOne(
          connection,
          sql`SELECT lately.expires_at, ${dialect.textAt(['fileContext', 'path'])} AS path
            FROM (${lately}) AS lately ${dialect.plan.follow('entries', 'e', sql`e.id = lately.entry_id`)}
            WHERE ${dialect.textAt(['source'])} = 'system_auto'
            ORDER BY lately.expires_at DESC, lately.entry_id DESC`,
          each((row) => ({ path: strOrNull(row, 'path'), at: num(row, 'expires_at') - OPENED.ttl * 1_000 })),
        ),
      ])
      return {
        vectors: asksIndex ? result.of(known) : null,
        newest: result.of(contents),
        opened: late.flatMap(({ path, at }) => (path === null ? [] : [{ path, at }])),
        memories: gather(found.flatMap((handle) => result.of(handle))),
      }
    },

    async candidates(scope, filter, moment, atHand, request) {
      const columns = sql`e.id, e.weight, ${contextColumns(dialect, moment)}`
      const shown = listed(dialect, scope, clock.now())
      const admitted = (select: (condition: SQL) => SQL): SQL => {
        const bindings = dialect.bindings()
        const condition = sql`${shown} AND ${compileFilter(filter, dialect, bindings.bind)}`
        return withPrelude(bindings, [], select(condition))
      }
      const { model, query, found } = request ?? { model: '', query: null, found: null }
      const cosines = new Map(found?.hits.map((hit) => [hit.id, hit.cosine]))
      const beyond = found?.confirmedUpTo ?? 0
      const uncompared =
        found && atHand.flatMap(({ vectors }) => vectors.filter((id) => id <= beyond && !cosines.has(id)))
      // Usually there are none.
      const isBehind = found !== null && beyond < found.newest
      const isIncomplete = uncompared !== null && uncompared.length > 0
      const known = new Set(atHand.flatMap(({ vectors }) => vectors))
      const others = (found?.hits ?? []).flatMap(({ id }) => (known.has(id) ? [] : [id]))
      const own = atHand.map(({ id }) => id)
      const nearest = new Parts()
      const near = nearest.add(
        ['id', 'weight', ...CONTEXT_COLUMNS, 'leads'],
        admitted(
          (condition) => sql`SELECT ${columns}, source.leads
            FROM ${sources(scope, own, request, others)} source ${dialect.plan.follow('entries', 'e', sql`e.id = source.id`)}
            WHERE ${condition}`,
        ),
        asRows,
      )
      const unconfirmed = (upTo: number): SQL =>
        admitted(
          (condition) => sql`SELECT ${columns}, v.data
            FROM entry_vectors v ${dialect.plan.follow('entries', 'e', sql`e.id = v.entry_id`)}
            WHERE ${vectorsBehind(dialect, scope.org, model, beyond)} AND v.id <= ${upTo} AND ${condition}
            ORDER BY ${inOrderOfId(dialect, 'DESC')} LIMIT ${number(UNCONFIRMED)}`,
        )
      const [result, fresh, beside] = await Promise.all([
        nearest.read(connection),
        isBehind ? readOne(connection, unconfirmed(found.newest), asRows) : [],
        isIncomplete
          ? readOne(
              connection,
              sql`SELECT v.id, v.data
                FROM ${dialect.jsonNumbers(sql`${JSON.stringify(uncompared)}`)} wanted
                  ${dialect.plan.follow('entry_vectors', 'v', sql`v.id = wanted.value`)}`,
              asRows,
            )
          : [],
      ])
      const compared = (row: Row): number | null => {
        const vector = query === null ? null : readableVector(str(row, 'data'))
        return query === null || vector === null ? null : cosine(query.values, vector.values)
      }
      for (const row of beside) {
        const cosine = compared(row)
        if (cosine !== null) cosines.set(num(row, 'id'), cosine)
      }
      const larger = (a: number | null, b: number | null): number | null =>
        a === null || (b !== null && b > a) ? b : a
      const ownCosine = ({ vectors }: AtHandMemory): number | null =>
        vectors.reduce<number | null>((best, id) => larger(best, cosines.get(id) ?? null), null)
      const ownCosines = new Map(atHand.map((one) => [one.id, ownCosine(one)]))
      const best = new Map<number, SimilarMemory>()
      const note = (row: Row, cosine: number | null): void => {
        const id = num(row, 'id')
        const before = larger(best.get(id)?.cosine ?? null, ownCosines.get(id) ?? null)
        best.set(id, { ...toMemoryInContext(row), cosine: larger(before, cosine) })
      }
      const leading = (leads: Row[string]): number | null =>
        leads === null ? null : found === null ? Number(leads) : (cosines.get(Number(leads)) ?? null)
      for (const row of result.of(near)) note(row, leading(row.leads ?? null))
      for (const row of fresh) note(row, compared(row))
      return [...best.values()]
    },
  }
}
