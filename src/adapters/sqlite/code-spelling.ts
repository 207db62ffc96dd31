import { sql } from 'drizzle-orm'
import type { CodeSpelling } from '../sql/core/code-spelling'
import { codeTerm } from '../sql/tables/search/scope-terms'

/** Runs and words of code in FTS5: terms alone, each with its project in front. */
const HEX = Array.from({ length: 65_536 }, (_, gram) => gram.toString(16).padStart(4, '0'))

const all = (terms: readonly string[]): string => terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(' AND ')

export const D1_CODE: CodeSpelling = {
  position: (text, part) => sql`instr(${text}, ${part})`,
  lower: (text) => sql`lower(${text})`,

  samePath: (column, path) => sql`${column} = ${path}`,

  insertGrams(scope, files) {
    const head = codeTerm(scope.org, scope.project)
    const rows = JSON.stringify(files.map(([path, grams]) => [path, grams.map((gram) => head + HEX[gram]).join(' ')]))
    return sql`
      INSERT INTO code_grams (rowid, grams)
      SELECT f.id, made.value ->> 1
      FROM json_each(${rows}) made
      CROSS JOIN code_files f ON f.org = ${scope.org} AND f.project = ${scope.project}
        AND f.root = ${scope.root} AND f.path = made.value ->> 0`
  },

  insertWords(scope, chunks) {
    const head = codeTerm(scope.org, scope.project)
    const rows = JSON.stringify(chunks.map(([path, n, words]) => [path, n, words.map((word) => head + word).join(' ')]))
    return sql`
      INSERT INTO code_words (rowid, words)
      SELECT c.id, made.value ->> 2
      FROM json_each(${rows}) made
      CROSS JOIN code_files f ON f.org = ${scope.org} AND f.project = ${scope.project}
        AND f.root = ${scope.root} AND f.path = made.value ->> 0
      CROSS JOIN code_chunks c ON c.file_id = f.id AND c.n = made.value ->> 1`
  },

  filesWith(scope, grams) {
    const head = codeTerm(scope.org, scope.project)
    return sql`SELECT rowid AS id FROM code_grams WHERE code_grams MATCH ${all(grams.map((gram) => head + HEX[gram]))}`
  },

  chunksWith(scope, units) {
    const head = codeTerm(scope.org, scope.project)
    const queries = JSON.stringify(units.map((terms) => all(terms.map((term) => head + term))))
    return sql`
      SELECT asked.key AS unit, code_words.rowid AS id
      FROM json_each(${queries}) asked CROSS JOIN code_words
      WHERE code_words MATCH asked.value`
  },
}
