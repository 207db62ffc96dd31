import { sql } from 'drizzle-orm'
import { SYMBOL_KINDS, type SymbolKind } from '../../../../domain/code/symbols'
import type { CodeFile, StoredChunk, SymbolHit } from '../../../../ports/code-index'
import type { Row } from '../../core/connection'
import { num, str } from '../../core/rows'

/** Rows of files, symbols and chunks, as searches of code tell them. */

export const FILE = sql.raw('f.id, f.project, f.root, f.path, f.language, f.bytes')

export const CHUNK = sql.raw(
  'c.id, c.file_id, c.n, c.project, f.root, f.path, f.language, c.line_start, c.line_end, c.overlap, c.text',
)

export const toFile = (row: Row): CodeFile => ({
  id: num(row, 'id'),
  project: str(row, 'project'),
  root: str(row, 'root'),
  path: str(row, 'path'),
  language: str(row, 'language'),
  bytes: num(row, 'bytes'),
})

function symbolKind(place: number): SymbolKind {
  const kind = SYMBOL_KINDS[place]
  if (kind === undefined) throw new Error(`no kind of symbols stands at ${place}`)
  return kind
}

export const toSymbolHit = (row: Row): SymbolHit => ({
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

export const toChunk = (row: Row): StoredChunk => ({
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

/** Vectors of a file's lines from one on, packed. */
export const toPack = (row: Row) => ({
  id: num(row, 'id'),
  fileId: num(row, 'file_id'),
  first: num(row, 'first'),
  data: str(row, 'data'),
})
