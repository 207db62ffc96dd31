import { sql } from 'drizzle-orm'
import type { CodeSpelling } from '../sql/core/code-spelling'
import { codeNumber, codeTerm } from '../sql/tables/search/scope-terms'

/** Runs and words of code as arrays under a GIN index, each element with its project in front. */
const GRAMS = 65_536

const numbers = (org: string, project: string, grams: readonly number[]): string => {
  const head = codeNumber(org, project) * GRAMS
  return `{${grams.map((gram) => head + gram).join(',')}}`
}

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

const texts = (org: string, project: string, words: readonly string[]): string => {
  const head = codeTerm(org, project)
  return `{${words.map((word) => quoted(head + word)).join(',')}}`
}

export const POSTGRES_CODE: CodeSpelling = {
  position: (text, part) => sql`strpos(${text}, ${part})`,
  lower: (text) => sql`lower(${text} COLLATE "C")`,

  samePath: (column, path) => sql`md5(${column}) = md5(${path}) AND ${column} = ${path}`,

  insertGrams({ org, project, root }, files) {
    const rows = JSON.stringify(files.map(([path, grams]) => [path, numbers(org, project, grams)]))
    return sql`
      INSERT INTO code_grams (file_id, grams)
      SELECT f.id, (made.value ->> 1)::bigint[]
      FROM jsonb_array_elements(${rows}::jsonb) AS made (value)
      CROSS JOIN LATERAL (
        SELECT f.id FROM code_files f
        WHERE f.org = ${org} AND f.project = ${project} AND f.root = ${root}
          AND md5(f.path) = md5(made.value ->> 0) AND f.path = made.value ->> 0
        OFFSET 0
      ) AS f`
  },

  insertWords({ org, project, root }, chunks) {
    const rows = JSON.stringify(chunks.map(([path, n, words]) => [path, n, texts(org, project, words)]))
    return sql`
      INSERT INTO code_words (chunk_id, words)
      SELECT c.id, (made.value ->> 2)::text[]
      FROM jsonb_array_elements(${rows}::jsonb) AS made (value)
      CROSS JOIN LATERAL (
        SELECT f.id FROM code_files f
        WHERE f.org = ${org} AND f.project = ${project} AND f.root = ${root}
          AND md5(f.path) = md5(made.value ->> 0) AND f.path = made.value ->> 0
        OFFSET 0
      ) AS f
      CROSS JOIN LATERAL (
        SELECT c.id FROM code_chunks c WHERE c.file_id = f.id AND c.n = (made.value ->> 1)::integer OFFSET 0
      ) AS c`
  },

  filesWith: ({ org, project }, grams) =>
    sql`SELECT file_id AS id FROM code_grams WHERE grams @> ${numbers(org, project, grams)}::bigint[]`,

  chunksWith({ org, project }, units) {
    const queries = JSON.stringify(units.map((terms) => texts(org, project, terms)))
    return sql`
      SELECT asked.place - 1 AS unit, w.chunk_id AS id
      FROM jsonb_array_elements_text(${queries}::jsonb) WITH ORDINALITY AS asked (terms, place)
      CROSS JOIN LATERAL (SELECT w.chunk_id FROM code_words w WHERE w.words @> asked.terms::text[] OFFSET 0) AS w`
  },
}
