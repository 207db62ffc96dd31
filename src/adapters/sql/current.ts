import { type SQL, sql } from 'drizzle-orm'
import { extensionOf, normalizeLanguage, spellingsOf } from '../../domain/code/languages'
import type { Filter } from '../../domain/filter'
import {
  baseName,
  CANDIDATES,
  CONTEXT_WORKING,
  DAY,
  FADING_DAYS,
  filesOf,
  languageNow,
  MOST,
  type Moment,
  NO_LANGUAGE,
  SHARES,
  testsOrBuilds,
} from '../../domain/recall/current'
import { kindsOfWord } from '../../domain/recall/memory'
import type { Clock } from '../../ports/clock'
import { type Candidate, type CurrentMemories, LONGEST_READ } from '../../ports/current'
import { compileFilter, FALSE, joinConditions } from './compile-filter'
import type { Row, SqlConnection } from './connection'
import { textOf } from './long-texts'
import { toMemory } from './memories'
import { MEMORY_COLUMNS, type MemoryContext } from './memory-statements'
import { withPrelude } from './read-statements'
import { entriesOf } from './room-rows'
import { listed } from './visibility'

/** Of a text so much is searched for the names of files and commands. */
const SEARCHED = 50_000
/** Newest working memories among which opened files are looked for. */
const LATELY = 20

const FILE_PATHS = [
  ['fileContext', 'path'],
  ['codeBlock', 'filePath'],
] as const

const number = (value: number): SQL => sql.raw(String(value))
const among = (values: readonly string[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

const toCandidate = (row: Row): Candidate => ({
  memory: toMemory(row),
  marks: { file: Boolean(row.f), named: Boolean(row.n), command: Boolean(row.c), session: Boolean(row.s) },
  accessedAt: row.accessed_at === null ? null : Number(row.accessed_at),
  cut: Boolean(row.cut),
})

const daysSince = (time: SQL, now: number): SQL =>
  sql`(CAST(${number(now)} - ${time} AS double precision) / ${number(DAY)}.0)`

/** Every spelling of a language that means the same. */
const everySpelling = (name: string): string[] => {
  const meant = normalizeLanguage(name)
  return [...new Set([name.trim().toLowerCase(), meant, ...spellingsOf(meant)])]
}

/** Candidates over any SQL connection. */
export function createSqlCurrentMemories(connection: SqlConnection, clock: Clock): CurrentMemories {
  const { dialect } = connection
  const flag = (condition: SQL): SQL => sql`CASE WHEN ${condition} THEN 1 ELSE 0 END`

  /** What the moment says of a memory `e`, each as a condition. */
  function marksOf({ sessionId, currentCommand, ...moment }: Moment) {
    const files = filesOf({ ...moment, sessionId, currentCommand })
    const start = sql`substr(${textOf()}, 1, ${number(SEARCHED)})`
    const names = [...new Set(files.flatMap((file) => [file, baseName(file)]))].filter((name) => name !== '')
    return {
      f:
        files.length === 0
          ? FALSE
          : joinConditions(
              'or',
              FILE_PATHS.map((path) => sql`coalesce(${dialect.textAt(path)}, '') IN (${among(files)})`),
            ),
      n: joinConditions(
        'or',
        names.map((name) => dialect.contains(start, sql`${name}`)),
      ),
      c: currentCommand === null ? FALSE : dialect.contains(start, sql`${currentCommand}`),
      s: sessionId === null ? FALSE : sql`coalesce(${dialect.textAt(['sessionId'])}, '') = ${sessionId}`,
    }
  }

  const columnsOf = (moment: Moment): SQL => {
    const { f, n, c, s } = marksOf(moment)
    return sql`${MEMORY_COLUMNS}, e.accessed_at, substr(${textOf()}, 1, ${number(LONGEST_READ)}) AS text,
      ${flag(sql`length(${textOf()}) > ${number(LONGEST_READ)}`)} AS cut,
      ${flag(f)} AS f, ${flag(n)} AS n, ${flag(c)} AS c, ${flag(s)} AS s`
  }

  const within = ({ scope, now, project }: MemoryContext, layer: 1 | 2 | 3): SQL => {
    const ofProject = layer === 3 || project === null ? sql`` : sql` AND e.project = ${project}`
    return sql`${listed(dialect, scope, now)} AND e.layer = ${number(layer)}${ofProject}`
  }

  const from = ({ project }: MemoryContext, layer: 1 | 2 | 3): SQL => entriesOf(dialect, project, layer)

  const isType = (word: string): SQL => sql`e.kind IN (${among(kindsOfWord(word) ?? [])})`

  /** The score of a memory without what similarity adds (`scoreNow` of the domain). */
  function ownScore(moment: Moment, now: number): SQL {
    const { f, n, c, s } = marksOf(moment)
    const days = daysSince(sql`e.updated_at`, now)
    const shares: [SQL, number][] = [
      [f, SHARES.file],
      [n, SHARES.named],
      [c, SHARES.command],
      [filesOf(moment).length > 0 ? isType('decision') : FALSE, SHARES.decision],
      [testsOrBuilds(moment.currentCommand) ? isType('bug_fix') : FALSE, SHARES.bugFix],
      [s, SHARES.session],
    ]
    const sum = shares.map(([condition, share]) => sql` + CASE WHEN ${condition} THEN ${number(share)} ELSE 0 END`)
    return sql`(e.weight / 3.0 * (${number(SHARES.base)} + ${number(SHARES.fresh)} * exp(-${days} / ${number(FADING_DAYS)}.0)${sql.join(sum)}))`
  }

  /** Patterns of a layer, best first (fabric contract §5). */
  function patternsStatement(context: MemoryContext, moment: Moment): SQL {
    const { now } = context
    const language = sql`lower(coalesce(${dialect.textAt(['codeBlock', 'language'])},
      ${dialect.textAt(['fileContext', 'language'])}, ${NO_LANGUAGE}))`
    const paths = FILE_PATHS.map((path) => sql`coalesce(${dialect.textAt(path)}, '')`)
    const any = (test: (path: SQL) => SQL): SQL => joinConditions('or', paths.map(test))
    const folderOf = (file: string): string => file.slice(0, file.length - baseName(file).length)
    const same = (file: string) => any((path) => sql`${path} = ${file}`)
    const beside = (file: string) => {
      const folder = folderOf(file)
      const rest = (path: SQL) => sql`substr(${path}, ${number([...folder].length + 1)})`
      return any(
        (path) => sql`(${path} <> '' AND substr(${path}, 1, ${number([...folder].length)}) = ${folder}
          AND NOT ${dialect.contains(rest(path), sql`'/'`)} AND NOT ${dialect.contains(rest(path), sql`'\\'`)})`,
      )
    }
    const alike = (file: string) => {
      const ending = `.${extensionOf(file)}`
      return ending === '.'
        ? FALSE
        : any(
            (path) => sql`(length(${path}) >= ${number(ending.length)}
              AND lower(substr(${path}, length(${path}) - ${number(ending.length - 1)})) = ${ending})`,
          )
    }
    const { currentFile, filePath } = moment
    const near = currentFile ?? filePath
    const spoken = languageNow(moment)
    const days = daysSince(sql`coalesce(e.accessed_at, e.created_at)`, now)
    const uses = sql`CASE WHEN e.access_count < 1 THEN 1 ELSE e.access_count END`
    const byFile =
      near === null
        ? sql`0`
        : sql`CASE WHEN ${same(near)} THEN 0.3 WHEN ${beside(near)} THEN 0.2 WHEN ${alike(near)} THEN 0.1 ELSE 0 END`
    const score = sql`(e.weight / 3.0 * (
      ${spoken === null ? sql`0` : sql`CASE WHEN ${language} IN (${among(everySpelling(spoken))}) THEN 0.3 ELSE 0 END`} + ${byFile}
      + CASE WHEN ${uses} >= 10 THEN 0.2 ELSE 0.02 * ${uses} END
      + CASE WHEN ${days} >= 20 THEN 0 ELSE 0.2 - 0.01 * ${days} END))`
    const only = [
      ...(moment.language === null ? [] : [sql`${language} IN (${among(everySpelling(moment.language))})`]),
      ...(filePath === null ? [] : [joinConditions('or', [same(filePath), beside(filePath), alike(filePath)])]),
    ]
    const kinds = among([...(kindsOfWord('code_pattern') ?? []), ...(kindsOfWord('convention') ?? [])])
    const ofLayer = (layer: 2 | 3) =>
      sql`SELECT * FROM (
        SELECT e.id, ${score} AS score FROM ${from(context, layer)}
        WHERE ${within(context, layer)} AND e.kind IN (${kinds}) AND ${joinConditions('and', only)}
        ORDER BY score DESC, e.id DESC LIMIT ${number(MOST.patterns)}
      ) AS layer_${number(layer)}`
    return sql`
      SELECT ${columnsOf(moment)} FROM (
        SELECT id, score FROM (${ofLayer(2)} UNION ALL ${ofLayer(3)}) AS both_layers
        ORDER BY score DESC, id DESC LIMIT ${number(MOST.patterns)}
      ) AS best ${dialect.follow('entries', 'e', sql`e.id = best.id`)}
      ORDER BY best.score DESC, e.id DESC`
  }

  return {
    async atHand(scope, project, moment) {
      const context: MemoryContext = { dialect, scope, now: clock.now(), project }
      const columns = columnsOf(moment)
      const files = filesOf(moment)
      const newest = sql`
        SELECT e.id, e.created_at, ${dialect.textAt(['fileContext', 'path'])} AS path, substr(${textOf()}, 1, 2000) AS text
        FROM ${from(context, 1)} WHERE ${within(context, 1)}
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${number(LATELY)}`
      const working = sql`
        SELECT ${columns} FROM ${from(context, 1)} WHERE ${within(context, 1)}
        ORDER BY ${ownScore(moment, context.now)} DESC, e.id DESC LIMIT ${number(MOST.working)}`
      const recent = sql`
        SELECT ${columns} FROM ${from(context, 2)} WHERE ${within(context, 2)}
        ORDER BY e.created_at DESC, e.id DESC LIMIT ${number(CANDIDATES.newest)}`
      const ofFile = FILE_PATHS.map(
        (path) => sql`
          SELECT e.id FROM ${from(context, 3)}
          WHERE ${within(context, 3)} AND ${dialect.textAt(path)} IN (${among(files)})`,
      )
      const [late = [], best = [], patterns = [], fresh = [], filed = []] = await connection.read([
        newest,
        working,
        patternsStatement(context, moment),
        recent,
        ...(files.length === 0
          ? []
          : [
              sql`SELECT ${columns} FROM (${sql.join(ofFile, sql` UNION `)}) AS filed
                ${dialect.follow('entries', 'e', sql`e.id = filed.id`)}
                ORDER BY e.created_at DESC, e.id DESC LIMIT ${number(CANDIDATES.nearest)}`,
            ]),
      ])
      return {
        newest: late.slice(0, CONTEXT_WORKING).map(({ text }) => text as string),
        opened: late
          .filter(({ path }) => path !== null)
          .map(({ path, created_at: at }) => ({ path: path as string, at: Number(at) })),
        working: best.map(toCandidate),
        patterns: patterns.map(toCandidate),
        recent: fresh.map(toCandidate),
        ofFile: filed.map(toCandidate),
      }
    },

    async named(scope, filter: Filter, moment, { ids, vectors }) {
      if (ids.length === 0 && vectors.length === 0) return []
      const bindings = dialect.bindings()
      const condition = compileFilter(filter, dialect, bindings.bind)
      const wanted = sql`wanted AS MATERIALIZED (
        SELECT value AS id FROM ${dialect.jsonNumbers(sql`${JSON.stringify(ids)}`)} named
        UNION
        SELECT v.entry_id FROM ${dialect.jsonNumbers(sql`${JSON.stringify(vectors)}`)} hit
          ${dialect.follow('entry_vectors', 'v', sql`v.id = hit.value`)}
      )`
      const [rows = []] = await connection.read([
        withPrelude(
          bindings,
          [wanted],
          sql`SELECT ${columnsOf(moment)} FROM wanted ${dialect.follow('entries', 'e', sql`e.id = wanted.id`)}
            WHERE ${listed(dialect, scope, clock.now())} AND ${condition}`,
        ),
      ])
      return rows.map(toCandidate)
    },
  }
}
