import { type SQL, sql } from 'drizzle-orm'
import { extensionOf, normalizeLanguage, spellingsOf } from '../../../../domain/code/languages'
import { CANDIDATES } from '../../../../domain/recall/current'
import { kindsOfWord } from '../../../../domain/recall/memory'
import type { Moment } from '../../../../domain/recall/moment'
import { folderOf } from '../../../../domain/recall/paths'
import { firstCodePoints } from '../../../../domain/text'
import { joinConditions } from '../../core/compile-filter'
import { circle, expired, inProject, staying } from '../../core/visibility'
import { type MemoryContext, newestOfKinds } from './memory-statements'

/** Which patterns are the newest that language and file of a moment let pass (fabric contract §5). */

/** Characters of a language that the narrow rows of patterns keep. */
const LONGEST_LANGUAGE = 100

const among = (values: readonly string[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** Every spelling of a language that means the same. */
const everySpelling = (name: string): string[] => {
  const meant = normalizeLanguage(name)
  const all = [name.trim().toLowerCase(), meant, ...spellingsOf(meant)]
  return [...new Set(all.map((spelling) => firstCodePoints(spelling, LONGEST_LANGUAGE)))]
}

/** In the folder of a file, however much of its path is told, or of its ending. What passes is decided in plain code. */
function nearTo(file: string): SQL {
  const ending = extensionOf(file)
  // Folders stand with the slash at their end.
  const folder = folderOf(file) === '' ? '' : `${folderOf(file)}/`
  const length = sql.raw(String([...folder].length))
  const inFolder = ['p.folder', 'p.code_folder'].map((name) => {
    const column = sql.raw(name)
    const endsAlike = sql`substr(${column}, length(${column}) + 1 - ${length})`
    const end = sql`substr(CAST(${folder} AS TEXT), ${length} + 1 - length(${column}))`
    const isPart = sql`length(${column}) > 0 AND length(${column}) < ${length} AND ${end} = ${column}`
    return folder === ''
      ? sql`${column} = ''`
      : sql`(${column} = ${folder} OR (length(${column}) > ${length} AND ${endsAlike} = ${folder}) OR (${isPart}))`
  })
  const isAlike = ending === '' ? [] : [sql`p.ending = ${ending}`, sql`p.code_ending = ${ending}`]
  return joinConditions('or', [...inFolder, ...isAlike])
}

/** Ids of patterns of layers 2 and 3. */
export function newestPatterns(context: MemoryContext, { language, filePath }: Moment): SQL {
  const { dialect, scope, now, project } = context
  const most = CANDIDATES.patterns
  if (language === null && filePath === null) {
    const kinds = ['code_pattern', 'convention'].flatMap((word) => kindsOfWord(word) ?? [])
    const newest = newestOfKinds(context, [2, 3], kinds, most)
    return sql`SELECT id FROM (${newest}) AS every ORDER BY created_at DESC, id DESC LIMIT ${most}`
  }
  const only = [
    ...(language === null ? [] : [sql`p.language IN (${among(everySpelling(language))})`]),
    ...(filePath === null ? [] : [sql`(${nearTo(filePath)})`]),
  ]
  const ofProject =
    project === null ? sql`` : sql` AND (p.layer = 3 OR ${inProject(dialect, scope, project, sql`p.project`)})`
  return sql`
    SELECT p.entry_id AS id FROM patterns p
    WHERE p.org = ${scope.org}${ofProject} AND ${circle(dialect, scope, 'p', 'empty')}
      AND (p.expires_at IS NULL OR NOT ${expired(now, 'p')}) AND ${staying('p', 'entry_id')} AND ${joinConditions('and', only)}
    ORDER BY p.entry_id DESC LIMIT ${most}`
}
