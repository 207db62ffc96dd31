import { type SQL, sql } from 'drizzle-orm'
import { extensionOf, normalizeLanguage, spellingsOf } from '../../../domain/code/languages'
import { baseName, DAY, languageNow, MOST, type Moment } from '../../../domain/recall/current'
import { firstCodePoints } from '../../../domain/text'
import { FALSE, joinConditions, TRUE } from '../compile-filter'
import { circle, expired, staying } from '../visibility'
import type { MemoryContext } from './memory-statements'

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

/** Characters of places and languages that the rows of places tell apart. */
const LONGEST = { place: 100, language: 40 } as const

/** Where a pattern stands that is as near to a file as that, as the rows of places have it. */
function placesNear(file: string): string[] {
  const ending = extensionOf(file)
  const folder = file.slice(0, file.length - baseName(file).length)
  return [`f${file}`, `d${folder}`, ...(ending === '' ? [] : [`e${ending}`])]
}

/** The places among whose first patterns are the first of all; null when only a look at every pattern tells. */
function placesOf({ currentFile, filePath, language }: Moment): string[] | null {
  const near = currentFile ?? filePath
  if (filePath !== null && filePath !== near) return null
  const places = [...(filePath === null ? [''] : []), ...(near === null ? [] : placesNear(near))]
  const isTold = places.every((place) => place.length <= LONGEST.place) && (language ?? '').length <= LONGEST.language
  return isTold ? places : null
}

/**
 * Ids of the patterns of some layers that may be among the first. Of equals in place, reader, weight and language, nothing but use makes
 * the order, which is the greater of two numbers that stand in rows of places; so the first of all are among the first by either.
 */
function firstIds(
  { dialect, scope, now, project }: MemoryContext,
  layers: readonly number[],
  places: readonly string[],
): SQL {
  const readers = ['', ...(scope.owner === null ? [] : [scope.owner])]
  const begin = layers.flatMap((layer) =>
    places.flatMap((place) => readers.map((reader) => [layer, layer === 3 ? '' : project, place, reader])),
  )
  const place = { layer: 'integer', project: 'text', place: 'text', reader: 'text' } as const
  const names = sql.raw(
    Object.keys(place)
      .map((name) => `shelf.${name}`)
      .join(', '),
  )
  const on = sql`x.org = ${scope.org} AND x.layer = shelf.layer AND x.project = shelf.project AND x.place = shelf.place
    AND x.reader = shelf.reader`
  const first = (key: 'lately' | 'uses'): SQL => sql`
    SELECT first.value AS id FROM shelves shelf CROSS JOIN ${dialect.jsonNumbers(
      dialect.jsonList(sql`
        SELECT x.entry_id AS value FROM pattern_places x
        WHERE ${on} AND x.sort = shelf.sort AND (x.expires_at IS NULL OR NOT ${expired(now, 'x')}) AND ${staying('x', 'entry_id')}
        ORDER BY x.${sql.raw(key)} DESC, x.entry_id DESC LIMIT ${number(MOST.patterns)}`),
    )} first
    WHERE shelf.sort IS NOT NULL`
  return sql`
    WITH RECURSIVE shelves AS (
      SELECT ${names}, (SELECT min(x.sort) FROM pattern_places x WHERE ${on}) AS sort
      FROM ${dialect.jsonTable(sql`${JSON.stringify(begin)}`, place)} shelf
      UNION ALL
      SELECT ${names}, (SELECT min(x.sort) FROM pattern_places x WHERE ${on} AND x.sort > shelf.sort)
      FROM shelves shelf WHERE shelf.sort IS NOT NULL
    )
    ${first('lately')} UNION ${first('uses')}`
}

/** Ids of patterns, with their scores and last uses, best first: what is in use, and near to the open file in place and language. */
export function bestPatterns(context: MemoryContext, moment: Moment): SQL {
  const { dialect, scope, now, project } = context
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
  const bestOf = (from: SQL, where: SQL): SQL => sql`
    SELECT p.entry_id AS id, p.used_at, ${score} AS score FROM ${from}
    WHERE p.org = ${scope.org} AND ${where} AND ${circle(dialect, scope, 'p', 'empty')}
      AND (p.expires_at IS NULL OR NOT ${expired(now, 'p')}) AND ${staying('p', 'entry_id')} AND ${joinConditions('and', only)}
    ORDER BY score DESC, p.entry_id DESC LIMIT ${number(MOST.patterns)}`

  // Places are of one project, and of layer 3 whatever its projects.
  const places = placesOf(moment)
  const isTold = (layer: 2 | 3): boolean =>
    places !== null && (layer === 3 ? scope.projects === null : project !== null)
  const told = ([2, 3] as const).filter(isTold)
  const parts = ([2, 3] as const)
    .filter((layer) => !isTold(layer))
    .map((layer) => {
      const ofProject = layer === 3 || project === null ? sql`` : sql` AND p.project = ${project}`
      return bestOf(sql`patterns p`, sql`p.layer = ${number(layer)}${ofProject}`)
    })
  if (places !== null && told.length > 0) {
    const first = sql`(${firstIds(context, told, places)}) AS first`
    parts.push(bestOf(sql`${first} ${dialect.follow('patterns', 'p', sql`p.entry_id = first.id`)}`, TRUE))
  }
  const together = sql.join(
    parts.map((part, i) => sql`SELECT * FROM (${part}) AS ${sql.raw(`part_${i}`)}`),
    sql` UNION ALL `,
  )
  return sql`SELECT id, used_at FROM (${together}) AS best ORDER BY score DESC, id DESC LIMIT ${number(MOST.patterns)}`
}
