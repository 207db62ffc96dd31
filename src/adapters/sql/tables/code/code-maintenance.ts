import { sql } from 'drizzle-orm'
import type { CodeIndex } from '../../../../ports/code-index'
import type { SqlConnection } from '../../core/connection'
import { packVectors } from './code-statements'

/** Files whose vectors could not be made when they were stored. */
export function createCodeMaintenance(connection: SqlConnection): Pick<CodeIndex, 'pending' | 'embed'> {
  const { dialect } = connection
  return {
    async pending(limit) {
      const waiting = sql`SELECT f.id, f.org, f.path FROM code_files f WHERE f.model IS NULL ORDER BY f.id LIMIT ${limit}`
      const [files, chunks, symbols] = await connection.batch([
        waiting,
        sql`
          SELECT c.file_id, c.line_start, c.line_end, c.overlap, c.text
          FROM (${waiting}) w ${dialect.follow('code_chunks', 'c', sql`c.file_id = w.id`)} ORDER BY c.file_id, c.n`,
        sql`
          SELECT t.file_id, s.name, s.line_start, t.line_end, t.doc
          FROM (${waiting}) w ${dialect.follow('code_symbol_texts', 't', sql`t.file_id = w.id`)}
          ${dialect.follow('code_files', 'f', sql`f.id = w.id`)}
          ${dialect.follow('code_symbols', 's', sql`s.org = f.org AND s.project = f.project AND s.file_id = f.id AND s.n = t.n`)}
          ORDER BY t.file_id, t.n`,
      ])
      return (files ?? []).map((file) => {
        const own = (row: { readonly [key: string]: unknown }) => Number(row.file_id) === Number(file.id)
        return {
          id: Number(file.id),
          org: file.org as string,
          path: file.path as string,
          chunks: (chunks ?? []).filter(own).map((row) => ({
            lineStart: Number(row.line_start),
            lineEnd: Number(row.line_end),
            overlap: row.overlap as string,
            text: row.text as string,
          })),
          symbols: (symbols ?? []).filter(own).map((row) => ({
            name: row.name as string,
            lineStart: Number(row.line_start),
            lineEnd: Number(row.line_end),
            docComment: row.doc as string,
          })),
        }
      })
    },

    async embed({ id, org }, model, vectors) {
      const packs = packVectors(vectors).map(({ first, count, data }) => [first, count, data])
      const made = dialect.jsonTable(sql`${JSON.stringify(packs)}`, {
        first: 'integer',
        count: 'integer',
        data: 'text',
      })
      await connection.batch(
        [
          sql`
            INSERT INTO code_vectors (org, project, model, file_id, first, count, data)
            SELECT f.org, f.project, ${model}, f.id, made.first, made.count, made.data
            FROM ${made} made ${dialect.follow('code_files', 'f', sql`f.id = ${id} AND f.model IS NULL`)}`,
          sql`UPDATE code_files SET model = ${model} WHERE id = ${id} AND model IS NULL`,
        ],
        { org },
      )
    },
  }
}
