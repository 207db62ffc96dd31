import { type SQL, sql } from 'drizzle-orm'
import { extensionOf, normalizeLanguage, spellingsOf } from '../../domain/code/languages'
import { baseName, DAY, languageNow, MOST, type Moment } from '../../domain/recall/current'
import { firstCodePoints } from '../../domain/text'
import { FALSE, joinConditions } from './compile-filter'
import type { MemoryContext } from './memory-statements'
import { circle, expired, staying } from './visibility'

/** Which patterns stand first at a moment (fabric contract §5), by the narrow rows that triggers keep of them. */

/** Characters of a language that those rows keep. */
const LONGEST_LANGUAGE = 100

export const number = (value: number): SQL => sql.raw(String(value))

export const among = (values: readonly string[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** The present is a parameter, so that a statement reads the same in every call, which databases know from the last one. */
export const daysSince = (time: SQL, now: number): SQL =>
  sql`(CAST(CAST(${now} AS bigint) - ${time} AS double precision) / ${number(DAY)}.0)`

/** Every spelling of a language that means the same. */
const everySpelling = (name: string): string[] => {
  const meant = normalizeLanguage(name)
  const all = [name.trim().toLowerCase(), meant, ...spellingsOf(meant)]
  return [...new Set(all.map((spelling) => firstCodePoints(spelling, LONGEST_LANGUAGE)))]
}

const either = (column: 'file' | 'folder' | 'ending', value: string): SQL =>
  sql`(p.${sql.raw(column)} = ${value} OR p.code_${sql.raw(column)} = ${value})`

/** How near a pattern is to a file, each as a condition. */
function nearnessTo(file: string): { same: SQL; beside: SQL; alike: SQL } {
  const ending = extensionOf(file)
  return {
    same: either('file', file),
    beside: either('folder', file.slice(0, file.length - baseName(file).length)),
    alike: ending === '' ? FALSE : either('ending', ending),
  }
}

const speaks = (language: string): SQL => sql`p.language IN (${among(everySpelling(language))})`

/** Ids of patterns, with their scores and last uses, best first: what is in use, and near to the open file in place and language. */
export function bestPatterns({ dialect, scope, now, project }: MemoryContext, moment: Moment): SQL {
  const { currentFile, filePath, language } = moment
  const near = currentFile ?? filePath
  const { same, beside, alike } = nearnessTo(near ?? '')
  const byFile =
    near === null ? sql`0` : sql`CASE WHEN ${same} THEN 0.3 WHEN ${beside} THEN 0.2 WHEN ${alike} THEN 0.1 ELSE 0 END`
  const spoken = languageNow(moment)
  const byLanguage = spoken === null ? sql`0` : sql`CASE WHEN ${speaks(spoken)} THEN 0.3 ELSE 0 END`
  const days = daysSince(sql`p.used_at`, now)
  const uses = sql`CASE WHEN p.uses < 1 THEN 1 ELSE p.uses END`
  const score = sql`(p.weight / 3.0 * (${byLanguage} + ${byFile}
    + CASE WHEN ${uses} >= 10 THEN 0.2 ELSE 0.02 * ${uses} END
    + CASE WHEN ${days} >= 20 THEN 0 ELSE 0.2 - 0.01 * ${days} END))`
  const only = [
    ...(language === null ? [] : [speaks(language)]),
    ...(filePath === null ? [] : [joinConditions('or', Object.values(nearnessTo(filePath)))]),
  ]
  const ofLayer = (layer: 2 | 3): SQL => {
    const ofProject = layer === 3 || project === null ? sql`` : sql` AND p.project = ${project}`
    return sql`SELECT * FROM (
      SELECT p.entry_id AS id, p.used_at, ${score} AS score FROM patterns p
      WHERE p.org = ${scope.org} AND p.layer = ${number(layer)}${ofProject} AND ${circle(dialect, scope, 'p', 'empty')}
        AND (p.expires_at IS NULL OR NOT ${expired(now, 'p')}) AND ${staying('p', 'entry_id')}
        AND ${joinConditions('and', only)}
      ORDER BY score DESC, p.entry_id DESC LIMIT ${number(MOST.patterns)}
    ) AS layer_${number(layer)}`
  }
  return sql`SELECT id, used_at FROM (${ofLayer(2)} UNION ALL ${ofLayer(3)}) AS both_layers
    ORDER BY score DESC, id DESC LIMIT ${number(MOST.patterns)}`
}
