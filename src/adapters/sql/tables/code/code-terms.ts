import { type SQL, sql } from 'drizzle-orm'
import { type NameQuery, SCORES } from '../../../../domain/code/symbol-names'
import type { Scope } from '../../../../domain/identity/scope'
import type { CodeFilter } from '../../../../ports/code-index'
import { FALSE, joinConditions, TRUE } from '../../core/compile-filter'
import type { SqlDialect } from '../../core/dialect'
import { inProject, reachesProject } from '../../core/visibility'

/** Conditions of code searches. */

/** Returns a condition that the scope includes the code; of one project, or of all. */
export function within(dialect: SqlDialect, scope: Scope, project: string | null, alias: string): SQL {
  const row = sql.raw(alias)
  const ofOrg = sql`${row}.org = ${scope.org}`
  if (project !== null) {
    const isOpen = scope.projects === null || scope.projects.includes(project)
    return isOpen ? sql`${ofOrg} AND ${inProject(dialect, scope, project, sql`${row}.project`)}` : FALSE
  }
  return sql`${ofOrg}${reachesProject(dialect, scope, sql`${row}.project`)}`
}

/** Returns a condition on the language. @param alias of a table with the column `language` */
export const inLanguage = (language: string | null, alias: string): SQL =>
  language === null ? TRUE : sql`${sql.raw(alias)}.language = ${language}`

/** Returns a condition on the file. @param file the column with the ID of the file */
export const among = (dialect: SqlDialect, files: CodeFilter['files'], file: SQL): SQL =>
  files === null ? TRUE : sql`${file} IN (SELECT value FROM ${dialect.jsonNumbers(sql`${JSON.stringify(files)}`)})`

/**
 * Returns whether a symbol `s` matches, and its score (`SCORES`); `nameScore` of test/contracts/code-names.ts implements the same.
 */
export function nameTerms({ code }: SqlDialect, { exact, folded, words }: NameQuery): { isHit: SQL; score: SQL } {
  const place = code.position(sql`s.folded`, sql`${folded}`)
  const parts =
    words.length === 0
      ? FALSE
      : joinConditions(
          'and',
          words.map((word) => sql`${code.position(sql`s.parts`, sql`${` ${word}`}`)} > 0`),
        )
  const value = (score: number): SQL => sql.raw(String(score))
  return {
    isHit: sql`(${place} > 0 OR ${parts})`,
    score: sql`CASE
      WHEN s.name = ${exact} THEN ${value(SCORES.equal)}
      WHEN s.folded = ${folded} THEN ${value(SCORES.anyCase)}
      WHEN ${place} = 1 THEN ${value(SCORES.beginning)}
      WHEN ${parts} THEN ${value(SCORES.parts)}
      ELSE ${value(SCORES.inside)} END`,
  }
}

interface SoughtText {
  readonly exact: string
  readonly folded: string
}

/**
 * Returns the part of a text around the end of the overlap in which a match could cross it; too short to contain a complete match on either
 * side.
 */
function seam(before: SQL, own: SQL, text: string): SQL {
  const overlap = sql.raw(String([...text].length - 1))
  const last = sql`substr(${before}, CASE WHEN length(${before}) > ${overlap} THEN length(${before}) - ${overlap} + 1 ELSE 1 END)`
  return sql`${last} || '\n' || substr(${own}, 1, ${overlap})`
}

/**
 * Returns whether a chunk `c` contains all texts, how often, and whether in the same case. A single text must include one of the chunk's
 * own lines.
 */
export function textTerms({ code }: SqlDialect, texts: readonly SoughtText[]): { isHit: SQL; hits: SQL; exact: SQL } {
  const own = sql`coalesce(c.folded, ${code.lower(sql`c.text`)})`
  const overlap = code.lower(sql`c.overlap`)
  const within = (text: SQL, part: string): SQL => sql`${code.position(text, sql`${part}`)} > 0`
  const isOver = (before: SQL, own: SQL, text: string): SQL =>
    texts.length === 1 && text.includes('\n')
      ? sql`(c.overlap <> '' AND ${within(seam(before, own, text), text)})`
      : FALSE
  const times = (folded: string): SQL => {
    const length = sql.raw(String([...folded].length))
    const over = isOver(overlap, own, folded)
    return sql`((length(${own}) - length(replace(${own}, ${folded}, ''))) / ${length} + CASE WHEN ${over} THEN 1 ELSE 0 END)`
  }
  const holds = ({ folded }: SoughtText): SQL =>
    sql`(${within(own, folded)} OR ${texts.length === 1 ? isOver(overlap, own, folded) : within(overlap, folded)})`
  const same = ({ exact }: SoughtText): SQL =>
    sql`(${within(sql`c.text`, exact)} OR ${isOver(sql`c.overlap`, sql`c.text`, exact)})`
  return {
    isHit: joinConditions('and', texts.map(holds)),
    hits: sql.join(
      texts.map(({ folded }) => times(folded)),
      sql` + `,
    ),
    exact: sql`CASE WHEN ${joinConditions('and', texts.map(same))} THEN 1 ELSE 0 END`,
  }
}

/** Number of vectors in one row. */
const PACK = 32

/** Packs the vectors of a file. */
export function packVectors(vectors: readonly string[]): { first: number; count: number; data: string }[] {
  const packs: { first: number; count: number; data: string }[] = []
  for (let first = 0; first < vectors.length; first += PACK) {
    const part = vectors.slice(first, first + PACK)
    packs.push({ first, count: part.length, data: part.join('\n') })
  }
  return packs
}
