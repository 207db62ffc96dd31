import { type SQL, sql } from 'drizzle-orm'
import { MAX_PROJECT_FILES } from '../../../../domain/code/indexed-files'
import { foldCase, partsText } from '../../../../domain/code/symbol-names'
import { SYMBOL_KINDS, type SymbolKind } from '../../../../domain/code/symbols'
import { Problem } from '../../../../domain/errors'
import { type Actor, homesOf, type Scope } from '../../../../domain/identity/scope'
import { NO_QUOTAS, type Quotas } from '../../../../domain/quota'
import { foldAscii } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { CodeFile, CodeIndex, PreparedFile, StoredChunk, SymbolHit } from '../../../../ports/code-index'
import { Batch, type Decode, readOne } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import { PreconditionFailed, type Row, type SqlConnection } from '../../core/connection'
import type { CodeRoot, SqlDialect } from '../../core/dialect'
import { countOf, each, flag, inGroups, num, numOrNull, str, strOrNull } from '../../core/rows'
import { auditStatement } from '../../tables/changes/audit-statements'
import { quotaGuards, withinQuotas } from '../../tables/changes/quota'
import { among, inLanguage, nameTerms, packVectors, textTerms, within } from '../../tables/code/code-terms'

/** Groups rows by their `file_id`. */
const byFile =
  <T>(one: (row: Row) => T): Decode<Map<number, T[]>> =>
  (rows) => {
    const groups = new Map<number, T[]>()
    for (const row of rows) groups.set(num(row, 'file_id'), [...(groups.get(num(row, 'file_id')) ?? []), one(row)])
    return groups
  }

/** Maintains files whose vectors were not made when they were stored. */
function createCodeMaintenance(connection: SqlConnection): Pick<CodeIndex, 'pending' | 'embed'> {
  const { dialect } = connection
  return {
    async pending(limit) {
      const waiting = sql`SELECT f.id, f.org, f.path FROM code_files f WHERE f.model IS NULL ORDER BY f.id LIMIT ${limit}`
      const batch = new Batch()
      const files = batch.add(
        waiting,
        each((row) => ({ id: num(row, 'id'), org: str(row, 'org'), path: str(row, 'path') })),
      )
      const chunks = batch.add(
        sql`
          SELECT c.file_id, c.line_start, c.line_end, c.overlap, c.text
          FROM (${waiting}) w ${dialect.plan.follow('code_chunks', 'c', sql`c.file_id = w.id`)} ORDER BY c.file_id, c.n`,
        byFile((row) => ({
          lineStart: num(row, 'line_start'),
          lineEnd: num(row, 'line_end'),
          overlap: str(row, 'overlap'),
          text: str(row, 'text'),
        })),
      )
      const symbols = batch.add(
        sql`
          SELECT t.file_id, s.name, s.line_start, t.line_end, t.doc
          FROM (${waiting}) w ${dialect.plan.follow('code_symbol_texts', 't', sql`t.file_id = w.id`)}
          ${dialect.plan.follow('code_files', 'f', sql`f.id = w.id`)}
          ${dialect.plan.follow('code_symbols', 's', sql`s.org = f.org AND s.project = f.project AND s.file_id = f.id AND s.n = t.n`)}
          ORDER BY t.file_id, t.n`,
        byFile((row) => ({
          name: str(row, 'name'),
          lineStart: num(row, 'line_start'),
          lineEnd: num(row, 'line_end'),
          docComment: str(row, 'doc'),
        })),
      )
      const result = await batch.run(connection)
      const [chunksOf, symbolsOf] = [result.of(chunks), result.of(symbols)]
      return result
        .of(files)
        .map((file) => ({ ...file, chunks: chunksOf.get(file.id) ?? [], symbols: symbolsOf.get(file.id) ?? [] }))
    },

    async embed({ id, org }, model, vectors) {
      const packs = packVectors(vectors).map(({ first, count, data }) => [first, count, data])
      const made = dialect.jsonTable(sql`${JSON.stringify(packs)}`, {
        first: 'integer',
        count: 'integer',
        data: 'text',
      })
      await new Batch(
        sql`
            INSERT INTO code_vectors (org, project, model, file_id, first, count, data)
            SELECT f.org, f.project, ${model}, f.id, made.first, made.count, made.data
            FROM ${made} made ${dialect.plan.follow('code_files', 'f', sql`f.id = ${id} AND f.model IS NULL`)}`,
        sql`UPDATE code_files SET model = ${model} WHERE id = ${id} AND model IS NULL`,
      ).run(connection, { org })
    },
  }
}

/** Columns of files for search results. */

export const FILE = sql.raw('f.id, f.project, f.root, f.path, f.language, f.bytes')

const CHUNK = sql.raw(
  'c.id, c.file_id, c.n, c.project, f.root, f.path, f.language, c.line_start, c.line_end, c.overlap, c.text',
)

const toFile = (row: Row): CodeFile => ({
  id: num(row, 'id'),
  project: str(row, 'project'),
  root: str(row, 'root'),
  path: str(row, 'path'),
  language: str(row, 'language'),
  bytes: num(row, 'bytes'),
})

function symbolKind(place: number): SymbolKind {
  const kind = SYMBOL_KINDS[place]
  if (kind === undefined) throw new Error(`unknown kind of symbol ${place}`)
  return kind
}

const toSymbolHit = (row: Row): SymbolHit => ({
  project: str(row, 'project'),
  root: str(row, 'root'),
  path: str(row, 'path'),
  language: str(row, 'language'),
  score: num(row, 'score'),
  symbol: {
    name: str(row, 'name'),
    kind: symbolKind(num(row, 'kind')),
    signature: str(row, 'signature'),
    lineStart: num(row, 'line_start'),
    lineEnd: num(row, 'line_end'),
    docComment: str(row, 'doc'),
  },
})

const toChunk = (row: Row): StoredChunk => ({
  id: num(row, 'id'),
  fileId: num(row, 'file_id'),
  n: num(row, 'n'),
  project: str(row, 'project'),
  root: str(row, 'root'),
  path: str(row, 'path'),
  language: str(row, 'language'),
  lineStart: num(row, 'line_start'),
  lineEnd: num(row, 'line_end'),
  overlap: str(row, 'overlap'),
  text: str(row, 'text'),
})

/** Reads packed vectors of a file, from a chunk on. */
const toPack = (row: Row) => ({
  id: num(row, 'id'),
  fileId: num(row, 'file_id'),
  first: num(row, 'first'),
  data: str(row, 'data'),
})

/** The methods of the code index that search. */
type Reads = Pick<
  CodeIndex,
  'files' | 'symbols' | 'filesWithGrams' | 'chunksWith' | 'vectors' | 'chunksWithWords' | 'chunks'
>

/**
 * Returns a query for each key under which code of the project is stored, in groups, since D1 limits compound queries.
 */
const ofHomes = ({ plan }: SqlDialect, scope: Scope, project: string, of: (home: string) => SQL): SQL =>
  plan.firstOf(
    homesOf(scope, project).map((home) => sql`SELECT * FROM (${of(home)}) AS of_home`),
    'home',
    sql``,
  )

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
function createCodeReads(connection: SqlConnection): Reads {
  const { dialect } = connection
  const numbers = (values: readonly number[]): SQL => dialect.jsonNumbers(sql`${JSON.stringify(values)}`)

  return {
    async files(scope, { project, language, files }) {
      return readOne(
        connection,
        sql`
          SELECT ${FILE} FROM code_files f
          WHERE ${within(dialect, scope, project, 'f')} AND ${inLanguage(language, 'f')} AND ${among(dialect, files, sql`f.id`)}
          ORDER BY f.project, f.path, f.root`,
        each(toFile),
      )
    },

    async symbols(scope, { project, language, files, kind }, query, limit, cap) {
      const { isHit, score } = nameTerms(dialect, query)
      const ofKind = kind === null ? TRUE : sql`s.kind = ${SYMBOL_KINDS.indexOf(kind)}`
      const order = sql.raw('score DESC, kind, path, line_start, project, n')
      return readOne(
        connection,
        sql`
          WITH found AS MATERIALIZED (
            SELECT s.project, s.file_id, s.n, s.kind, s.name, s.path, s.language, s.line_start, ${score} AS score
            FROM code_symbols s
            WHERE ${within(dialect, scope, project, 's')} AND ${ofKind} AND ${inLanguage(language, 's')}
              AND ${among(dialect, files, sql`s.file_id`)} AND ${isHit}
          )
          SELECT best.*, t.line_end, t.signature, t.doc, (SELECT f.root FROM code_files f WHERE f.id = best.file_id) AS root,
            (SELECT count(*) FROM (SELECT 1 FROM found LIMIT ${cap}) AS counted) AS total
          FROM (SELECT * FROM found ORDER BY ${order} LIMIT ${limit}) best
          ${dialect.plan.follow('code_symbol_texts', 't', sql`t.file_id = best.file_id AND t.n = best.n`)}
          ORDER BY best.score DESC, best.kind, best.path, best.line_start, best.project, best.n`,
        (rows) => ({ hits: rows.map(toSymbolHit), total: countOf('total')(rows) }),
      )
    },

    async filesWithGrams(scope, project, language, grams) {
      const held =
        grams === null
          ? sql`code_files f`
          : sql`(${ofHomes(dialect, scope, project, (home) => dialect.code.filesWith({ org: scope.org, project: home }, grams))}) held
              ${dialect.plan.follow('code_files', 'f', sql`f.id = held.id`)}`
      return readOne(
        connection,
        sql`
          SELECT ${FILE} FROM ${held}
          WHERE ${within(dialect, scope, project, 'f')} AND ${inLanguage(language, 'f')}
          ORDER BY f.path, f.root`,
        each(toFile),
      )
    },

    async chunksWith(scope, files, texts) {
      const { isHit, hits, exact } = textTerms(dialect, texts)
      return readOne(
        connection,
        sql`
          SELECT c.id, c.file_id, c.line_start, ${hits} AS hits, ${exact} AS exact
          FROM ${numbers(files)} wanted ${dialect.plan.follow('code_chunks', 'c', sql`c.file_id = wanted.value`)}
          WHERE c.org = ${scope.org} AND ${isHit}`,
        each((row) => ({
          chunkId: num(row, 'id'),
          fileId: num(row, 'file_id'),
          lineStart: num(row, 'line_start'),
          hits: num(row, 'hits'),
          exact: flag(row, 'exact'),
        })),
      )
    },

    async vectors(scope, { project, files }, model, afterId, limit) {
      const own = sql`${within(dialect, scope, project, 'v')} AND v.model = ${model} AND v.id > ${afterId}`
      return readOne(
        connection,
        sql`
          SELECT v.id, v.file_id, v.first, v.data
          FROM (
            SELECT v.id, sum(v.count) OVER (ORDER BY v.id) AS so_far FROM code_vectors v
            WHERE ${own} AND ${among(dialect, files, sql`v.file_id`)}
          ) step
          ${dialect.plan.follow('code_vectors', 'v', sql`v.id = step.id`)}
          WHERE step.so_far <= ${limit}
          ORDER BY v.id`,
        each(toPack),
      )
    },

    async chunksWithWords(scope, project, units, files, limit) {
      const held = ofHomes(dialect, scope, project, (home) =>
        dialect.code.chunksWith({ org: scope.org, project: home }, units),
      )
      const batch = new Batch()
      const hits = batch.add(
        sql`
          SELECT ${CHUNK}, found.units
          FROM (SELECT held.id, count(*) AS units FROM (${held}) held GROUP BY held.id) found
          ${dialect.plan.follow('code_chunks', 'c', sql`c.id = found.id`)}
          ${dialect.plan.follow('code_files', 'f', sql`f.id = c.file_id`)}
          WHERE ${within(dialect, scope, project, 'c')} AND ${among(dialect, files, sql`c.file_id`)}
          ORDER BY found.units DESC, found.id LIMIT ${limit}`,
        each(toChunk),
      )
      const counts = batch.add(
        sql`SELECT held.unit, count(*) AS chunks FROM (${held}) held GROUP BY held.unit`,
        each((row) => ({ unit: num(row, 'unit'), chunks: num(row, 'chunks') })),
      )
      const result = await batch.read(connection)
      const chunksWithUnit = units.map(() => 0)
      for (const { unit, chunks } of result.of(counts)) chunksWithUnit[unit] = chunks
      return { hits: result.of(hits), chunksWithUnit }
    },

    async chunks(scope, wanted) {
      const from =
        'ids' in wanted
          ? sql`${numbers(wanted.ids)} wanted ${dialect.plan.follow('code_chunks', 'c', sql`c.id = wanted.value`)}`
          : sql`${dialect.jsonTable(sql`${JSON.stringify(wanted.places)}`, { file: 'integer', n: 'integer' })} wanted
              ${dialect.plan.follow('code_chunks', 'c', sql`c.file_id = wanted.file AND c.n = wanted.n`)}`
      return readOne(
        connection,
        sql`
          SELECT ${CHUNK}
          FROM ${from} ${dialect.plan.follow('code_files', 'f', sql`f.id = c.file_id`)}
          WHERE ${within(dialect, scope, null, 'c')}`,
        each(toChunk),
      )
    },
  }
}

/** Statements that store files with their symbols, chunks and index rows. */

type Cell = string | number | null
const jsonLength = (row: readonly Cell[]): number => JSON.stringify(row).length + 1

/** Returns the text in lower case if that differs from folding A–Z, which the database does itself; otherwise null. */
function foldedIfNeeded(text: string): string | null {
  const folded = foldCase(text)
  return folded === foldAscii(text) ? null : folded
}

type Columns = Readonly<Record<string, 'text' | 'integer'>>

/** Returns the rows of files by table, with values in the order of the columns of `insertFiles`. */
function rowsOf(files: readonly PreparedFile[]) {
  const fileRows = files.map((file) => [
    file.path,
    file.language,
    file.sha256,
    file.model,
    file.bytes,
    file.symbols.length,
    file.chunks.length,
    file.chunks.reduce((sum, { length }) => sum + length, 0),
  ])
  const chunkRows = files.flatMap(({ path, chunks }) =>
    chunks.map(({ lineStart, lineEnd, overlap, text }, n) => [
      ...[path, n, lineStart, lineEnd, overlap, text],
      foldedIfNeeded(text),
    ]),
  )
  const symbolRows = files.flatMap(({ path, symbols }) =>
    symbols.map(({ name, kind, lineStart }, n) => [
      ...[path, n, SYMBOL_KINDS.indexOf(kind), name, foldCase(name), partsText(name), lineStart],
    ]),
  )
  const textRows = files.flatMap(({ path, symbols }) =>
    symbols.map(({ lineEnd, signature, docComment }, n) => [path, n, lineEnd, signature, docComment]),
  )
  const vectorRows = files.flatMap(({ path, model, chunks }) =>
    model === null || model === ''
      ? []
      : packVectors(chunks.map(({ vector }) => vector as string)).map(({ first, count, data }) => [
          path,
          first,
          count,
          data,
        ]),
  )
  return { fileRows, chunkRows, symbolRows, textRows, vectorRows }
}

/** Inserts files that do not exist yet. */
function insertFiles(dialect: SqlDialect, scope: CodeRoot, files: readonly PreparedFile[]): SQL[] {
  const { org, project, root } = scope
  const own = sql`f.org = ${org} AND f.project = ${project} AND f.root = ${root} AND ${dialect.code.samePath(sql`f.path`, sql`made.path`)}`
  const insert = (rows: readonly (readonly Cell[])[], columns: Columns, statement: (made: SQL) => SQL): SQL[] =>
    inGroups(rows, jsonLength).map((group) => statement(dialect.jsonTable(sql`${JSON.stringify(group)}`, columns)))
  const withFile = (made: SQL): SQL => sql`${made} made ${dialect.plan.follow('code_files', 'f', sql`${own}`)}`

  const { fileRows, chunkRows, symbolRows, textRows, vectorRows } = rowsOf(files)
  const grams = files.filter((file) => file.grams.length > 0).map((file) => [file.path, file.grams] as const)
  const words = files.flatMap(({ path, chunks }) =>
    chunks.flatMap((chunk, n) => (chunk.words.length === 0 ? [] : [[path, n, chunk.words] as const])),
  )
  return [
    ...insert(
      fileRows,
      {
        path: 'text',
        language: 'text',
        sha256: 'text',
        model: 'text',
        bytes: 'integer',
        symbols: 'integer',
        chunks: 'integer',
        words: 'integer',
      },
      (made) => sql`
        INSERT INTO code_files (org, project, root, path, language, sha256, model, bytes, symbols, chunks, words)
        SELECT ${org}, ${project}, ${root}, made.path, made.language, made.sha256, made.model, made.bytes, made.symbols,
          made.chunks, made.words
        FROM ${made} made`,
    ),
    ...insert(
      chunkRows,
      {
        path: 'text',
        n: 'integer',
        line_start: 'integer',
        line_end: 'integer',
        overlap: 'text',
        text: 'text',
        folded: 'text',
      },
      (made) => sql`
        INSERT INTO code_chunks (org, project, file_id, n, line_start, line_end, overlap, text, folded)
        SELECT f.org, f.project, f.id, made.n, made.line_start, made.line_end, made.overlap, made.text, made.folded
        FROM ${withFile(made)}`,
    ),
    ...insert(
      symbolRows,
      {
        path: 'text',
        n: 'integer',
        kind: 'integer',
        name: 'text',
        folded: 'text',
        parts: 'text',
        line_start: 'integer',
      },
      (made) => sql`
        INSERT INTO code_symbols (org, project, file_id, n, kind, name, folded, parts, path, language, line_start)
        SELECT f.org, f.project, f.id, made.n, made.kind, made.name, made.folded, made.parts, f.path, f.language, made.line_start
        FROM ${withFile(made)}`,
    ),
    ...insert(
      textRows,
      { path: 'text', n: 'integer', line_end: 'integer', signature: 'text', doc: 'text' },
      (made) => sql`
        INSERT INTO code_symbol_texts (file_id, n, line_end, signature, doc)
        SELECT f.id, made.n, made.line_end, made.signature, made.doc
        FROM ${withFile(made)}`,
    ),
    ...insert(
      vectorRows,
      { path: 'text', first: 'integer', count: 'integer', data: 'text' },
      (made) => sql`
        INSERT INTO code_vectors (org, project, model, file_id, first, count, data)
        SELECT f.org, f.project, f.model, f.id, made.first, made.count, made.data
        FROM ${withFile(made)}`,
    ),
    ...inGroups(grams, ([path, list]) => path.length + 20 + list.length * 18).map((group) =>
      dialect.code.insertGrams(scope, group),
    ),
    ...inGroups(
      words,
      ([path, , list]) => path.length + 20 + list.reduce((sum, word) => sum + word.length * 3 + 12, 0),
    ).map((group) => dialect.code.insertWords(scope, group)),
  ]
}

/** Creates the code index over any SQL connection. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createSqlCodeIndex(connection: SqlConnection, clock: Clock, quotas: Quotas = NO_QUOTAS): CodeIndex {
  const { dialect } = connection

  const audit = (caller: Actor, detail: Readonly<Record<string, number>>): SQL =>
    auditStatement(caller.org, clock.now(), { ...caller, ids: [], allowed: true, detail })

  const ofRoot = (root: string | null): SQL => (root === null ? sql`` : sql` AND f.root = ${root}`)

  /** Returns the files of a root with these paths, by their index. */
  const named = (scope: Scope, project: string, root: string | null, paths: readonly string[]): SQL => {
    const list = dialect.jsonTable(sql`${JSON.stringify(paths.map((path) => [path]))}`, { path: 'text' })
    const same = dialect.code.samePath(sql`f.path`, sql`named.path`)
    const own = sql`${within(dialect, scope, project, 'f')}${ofRoot(root)} AND ${same}`
    return sql`id IN (SELECT f.id FROM ${list} named ${dialect.plan.follow('code_files', 'f', own)})`
  }

  /** Returns the first or the last root of a project `p`, by its index. */
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
        if (!(error instanceof PreconditionFailed)) throw error
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
