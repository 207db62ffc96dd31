import { type SQL, sql } from 'drizzle-orm'
import { foldCase, partsText } from '../../../../domain/code/names'
import { SYMBOL_KINDS } from '../../../../domain/code/symbols'
import { foldAscii } from '../../../../domain/text'
import type { PreparedFile } from '../../../../ports/code-index'
import type { CodeRoot } from '../../core/code-spelling'
import type { SqlDialect } from '../../core/dialect'
import { inGroups } from '../../core/json-groups'
import { packVectors } from './vector-packs'

/** The statements that put files of code and all that is made of them into the tables. */

type Cell = string | number | null
const jsonLength = (row: readonly Cell[]): number => JSON.stringify(row).length + 1

/** The text in lower case where that is more than folding A–Z, which the database does itself. */
function foldedIfNeeded(text: string): string | null {
  const folded = foldCase(text)
  return folded === foldAscii(text) ? null : folded
}

type Columns = Readonly<Record<string, 'text' | 'integer'>>

/** The rows of files by table, with values in the order of the columns that `insertFiles` names. */
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

/** Adds files that are not there. */
export function insertFiles(dialect: SqlDialect, scope: CodeRoot, files: readonly PreparedFile[]): SQL[] {
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
