import { sql } from 'drizzle-orm'
import type { CodeIndex } from '../../../../ports/code-index'
import { Batch, type Decode } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { each, num, str } from '../../core/rows'
import { packVectors } from './vector-packs'

/** What rows of `file_id` hold, by their file. */
const byFile =
  <T>(one: (row: Row) => T): Decode<Map<number, T[]>> =>
  (rows) => {
    const groups = new Map<number, T[]>()
    for (const row of rows) groups.set(num(row, 'file_id'), [...(groups.get(num(row, 'file_id')) ?? []), one(row)])
    return groups
  }

/** Files whose vectors could not be made when they were stored. */
export function createCodeMaintenance(connection: SqlConnection): Pick<CodeIndex, 'pending' | 'embed'> {
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
