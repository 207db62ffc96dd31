import { type SQL, sql } from 'drizzle-orm'
import { SYMBOL_KINDS } from '../../../../domain/code/symbols'
import { homesOf, type Scope } from '../../../../domain/identity/scope'
import type { CodeIndex } from '../../../../ports/code-index'
import { Batch, readOne } from '../../core/batch'
import { TRUE } from '../../core/compile-filter'
import type { SqlConnection } from '../../core/connection'
import type { SqlDialect } from '../../core/dialect'
import { countOf, each, flag, num } from '../../core/rows'
import { CHUNK, FILE, toChunk, toFile, toPack, toSymbolHit } from './code-rows'
import { among, inLanguage, nameTerms, textTerms, within } from './code-terms'

/** What searches of code read. */
type Reads = Pick<
  CodeIndex,
  'files' | 'symbols' | 'filesWithGrams' | 'chunksWith' | 'vectors' | 'chunksWithWords' | 'chunks'
>

/** A query of each key under which the code of a project is, in groups, since a compound of D1 has few parts. */
const ofHomes = ({ plan }: SqlDialect, scope: Scope, project: string, of: (home: string) => SQL): SQL =>
  plan.firstOf(
    homesOf(scope, project).map((home) => sql`SELECT * FROM (${of(home)}) AS of_home`),
    'home',
    sql``,
  )

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createCodeReads(connection: SqlConnection): Reads {
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
