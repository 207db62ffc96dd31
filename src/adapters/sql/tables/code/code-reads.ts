import { type SQL, sql } from 'drizzle-orm'
import { SYMBOL_KINDS, type SymbolKind } from '../../../../domain/code/symbols'
import type { CodeFile, CodeIndex, StoredChunk, SymbolHit } from '../../../../ports/code-index'
import { TRUE } from '../../core/compile-filter'
import type { Row, SqlConnection } from '../../core/connection'
import { among, nameTerms, textTerms, within } from './code-terms'

/** What searches of code read. */

const FILE = sql.raw('f.id, f.project, f.root, f.path, f.language, f.bytes')

const CHUNK = sql.raw(
  'c.id, c.file_id, c.n, c.project, f.root, f.path, f.language, c.line_start, c.line_end, c.overlap, c.text',
)

const toFile = (row: Row): CodeFile => ({
  id: Number(row.id),
  project: row.project as string,
  root: row.root as string,
  path: row.path as string,
  language: row.language as string,
  bytes: Number(row.bytes),
})

const toSymbolHit = (row: Row): SymbolHit => ({
  project: row.project as string,
  root: row.root as string,
  path: row.path as string,
  language: row.language as string,
  score: Number(row.score),
  symbol: {
    name: row.name as string,
    kind: SYMBOL_KINDS[Number(row.kind)] as SymbolKind,
    signature: row.signature as string,
    lineStart: Number(row.line_start),
    lineEnd: Number(row.line_end),
    docComment: row.doc as string,
  },
})

const toChunk = (row: Row): StoredChunk => ({
  id: Number(row.id),
  fileId: Number(row.file_id),
  n: Number(row.n),
  project: row.project as string,
  root: row.root as string,
  path: row.path as string,
  language: row.language as string,
  lineStart: Number(row.line_start),
  lineEnd: Number(row.line_end),
  overlap: row.overlap as string,
  text: row.text as string,
})

type Reads = Pick<
  CodeIndex,
  'files' | 'symbols' | 'filesWithGrams' | 'chunksWith' | 'vectors' | 'chunksWithWords' | 'chunks'
>

export function createCodeReads(connection: SqlConnection): Reads {
  const { dialect } = connection
  const inLanguage = (language: string | null, alias: string): SQL =>
    language === null ? TRUE : sql`${sql.raw(alias)}.language = ${language}`
  const numbers = (values: readonly number[]): SQL => dialect.jsonNumbers(sql`${JSON.stringify(values)}`)

  return {
    async files(scope, { project, language, files }) {
      const [rows] = await connection.read([
        sql`
          SELECT ${FILE} FROM code_files f
          WHERE ${within(dialect, scope, project, 'f')} AND ${inLanguage(language, 'f')} AND ${among(dialect, files, sql`f.id`)}
          ORDER BY f.project, f.path, f.root`,
      ])
      return (rows ?? []).map(toFile)
    },

    async symbols(scope, { project, language, files, kind }, query, limit, cap) {
      const { isHit, score } = nameTerms(dialect, query)
      const ofKind = kind === null ? TRUE : sql`s.kind = ${SYMBOL_KINDS.indexOf(kind)}`
      const order = sql.raw('score DESC, kind, path, line_start, project, n')
      const [rows] = await connection.read([
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
          ${dialect.follow('code_symbol_texts', 't', sql`t.file_id = best.file_id AND t.n = best.n`)}
          ORDER BY best.score DESC, best.kind, best.path, best.line_start, best.project, best.n`,
      ])
      return { hits: (rows ?? []).map(toSymbolHit), total: Number(rows?.[0]?.total ?? 0) }
    },

    async filesWithGrams(scope, project, language, grams) {
      const held =
        grams === null
          ? sql`code_files f`
          : sql`(${dialect.code.filesWith({ org: scope.org, project }, grams)}) held
              ${dialect.follow('code_files', 'f', sql`f.id = held.id`)}`
      const [rows] = await connection.read([
        sql`
          SELECT ${FILE} FROM ${held}
          WHERE ${within(dialect, scope, project, 'f')} AND ${inLanguage(language, 'f')}
          ORDER BY f.path, f.root`,
      ])
      return (rows ?? []).map(toFile)
    },

    async chunksWith(scope, files, texts) {
      const { isHit, hits, exact } = textTerms(dialect, texts)
      const [rows] = await connection.read([
        sql`
          SELECT c.id, c.file_id, c.line_start, ${hits} AS hits, ${exact} AS exact
          FROM ${numbers(files)} wanted ${dialect.follow('code_chunks', 'c', sql`c.file_id = wanted.value`)}
          WHERE c.org = ${scope.org} AND ${isHit}`,
      ])
      return (rows ?? []).map((row) => ({
        chunkId: Number(row.id),
        fileId: Number(row.file_id),
        lineStart: Number(row.line_start),
        hits: Number(row.hits),
        exact: Number(row.exact) === 1,
      }))
    },

    async vectors(scope, { project, files }, model, afterId, limit) {
      const own = sql`${within(dialect, scope, project, 'v')} AND v.model = ${model} AND v.id > ${afterId}`
      const [rows] = await connection.read([
        sql`
          SELECT v.id, v.file_id, v.first, v.data
          FROM (
            SELECT v.id, sum(v.count) OVER (ORDER BY v.id) AS so_far FROM code_vectors v
            WHERE ${own} AND ${among(dialect, files, sql`v.file_id`)}
          ) step
          ${dialect.follow('code_vectors', 'v', sql`v.id = step.id`)}
          WHERE step.so_far <= ${limit}
          ORDER BY v.id`,
      ])
      return (rows ?? []).map((row) => ({
        id: Number(row.id),
        fileId: Number(row.file_id),
        first: Number(row.first),
        data: row.data as string,
      }))
    },

    async chunksWithWords(scope, project, units, files, limit) {
      const held = dialect.code.chunksWith({ org: scope.org, project }, units)
      const [hits, counts] = await connection.read([
        sql`
          SELECT ${CHUNK}, found.units
          FROM (SELECT held.id, count(*) AS units FROM (${held}) held GROUP BY held.id) found
          ${dialect.follow('code_chunks', 'c', sql`c.id = found.id`)}
          ${dialect.follow('code_files', 'f', sql`f.id = c.file_id`)}
          WHERE ${within(dialect, scope, project, 'c')} AND ${among(dialect, files, sql`c.file_id`)}
          ORDER BY found.units DESC, found.id LIMIT ${limit}`,
        sql`SELECT held.unit, count(*) AS chunks FROM (${held}) held GROUP BY held.unit`,
      ])
      const chunksWithUnit = units.map(() => 0)
      for (const row of counts ?? []) chunksWithUnit[Number(row.unit)] = Number(row.chunks)
      return {
        hits: (hits ?? []).map(toChunk),
        chunksWithUnit,
      }
    },

    async chunks(scope, wanted) {
      const from =
        'ids' in wanted
          ? sql`${numbers(wanted.ids)} wanted ${dialect.follow('code_chunks', 'c', sql`c.id = wanted.value`)}`
          : sql`${dialect.jsonTable(sql`${JSON.stringify(wanted.places)}`, { file: 'integer', n: 'integer' })} wanted
              ${dialect.follow('code_chunks', 'c', sql`c.file_id = wanted.file AND c.n = wanted.n`)}`
      const [rows] = await connection.read([
        sql`
          SELECT ${CHUNK}
          FROM ${from} ${dialect.follow('code_files', 'f', sql`f.id = c.file_id`)}
          WHERE ${within(dialect, scope, null, 'c')}`,
      ])
      return (rows ?? []).map(toChunk)
    },
  }
}
