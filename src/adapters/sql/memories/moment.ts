import { type SQL, sql } from 'drizzle-orm'
import type { Layer } from '../../../domain/entry/entry'
import type { Kind } from '../../../domain/entry/kind'
import { baseName, FADING_DAYS, filesOf, type Moment, SHARES, testsOrBuilds } from '../../../domain/recall/current'
import { kindsOfWord } from '../../../domain/recall/memory'
import type { AtMoment } from '../../../ports/current'
import { FALSE, joinConditions } from '../compile-filter'
import type { Row } from '../connection'
import type { SqlDialect } from '../dialect'
import { beginningOf } from '../texts/long-texts'
import { among, daysSince, number } from './patterns'

/** What a memory `e` is to a moment (fabric contract §5): what its rank follows from, without its text. */

/** Of a text so much is searched for the names of files and commands. */
const SEARCHED = 50_000

/** Where metadata name a file, and what leads to the memories of the org by it (`0027_current.sql`). */
export const FILES = [
  { path: ['fileContext', 'path'], index: 'entries_by_file' },
  { path: ['codeBlock', 'filePath'], index: 'entries_by_code_file' },
] as const

/** Marks as one number, since hundreds of rows travel. */
export const BITS = { f: 1, n: 2, c: 4, s: 8 } as const
type Mark = keyof typeof BITS

const bit = (condition: SQL, mark: Mark): SQL => sql`CASE WHEN ${condition} THEN ${number(BITS[mark])} ELSE 0 END`

/** What the moment says, each as a condition. */
function marksOf(dialect: SqlDialect, moment: Moment) {
  const { sessionId, currentCommand } = moment
  const files = filesOf(moment)
  // A short text is read as it stands, not copied: of hundreds of memories that is a tenth of what they cost.
  const start = sql`CASE WHEN e.bytes <= ${number(SEARCHED)} AND e.text <> '' THEN e.text ELSE ${beginningOf(dialect, SEARCHED)} END`
  // What holds a path holds its base name.
  const names = [...new Set(files.map((file) => baseName(file) || file))]
  const isFile = FILES.map(({ path }) => sql`coalesce(${dialect.textAt(path)}, '') IN (${among(files)})`)
  return {
    f: files.length === 0 ? FALSE : joinConditions('or', isFile),
    n: joinConditions(
      'or',
      names.map((name) => dialect.contains(start, sql`${name}`)),
    ),
    c: currentCommand === null ? FALSE : dialect.contains(start, sql`${currentCommand}`),
    s: sessionId === null ? FALSE : sql`coalesce(${dialect.textAt(['sessionId'])}, '') = ${sessionId}`,
  }
}

export const MOMENT_COLUMNS = ['layer', 'kind', 'updated_at', 'marks'] as const

/** Beside `id` and `weight`. */
export const momentColumns = (dialect: SqlDialect, moment: Moment): SQL => {
  const { f, n, c, s } = marksOf(dialect, moment)
  return sql`e.layer, e.kind, e.updated_at, ${bit(f, 'f')} + ${bit(n, 'n')} + ${bit(c, 'c')} + ${bit(s, 's')} AS marks`
}

const has = (row: Row, mark: Mark): boolean => (Number(row.marks) & BITS[mark]) !== 0

export const toAtMoment = (row: Row, whole: AtMoment['whole']): AtMoment => ({
  whole,
  id: Number(row.id),
  layer: Number(row.layer) as Layer,
  kind: row.kind as Kind,
  weight: Number(row.weight),
  updatedAt: Number(row.updated_at),
  marks: { file: has(row, 'f'), named: has(row, 'n'), command: has(row, 'c'), session: has(row, 's') },
})

export const isType = (word: string, alias = 'e'): SQL =>
  sql`${sql.raw(alias)}.kind IN (${among(kindsOfWord(word) ?? [])})`

/** The score of a memory without what similarity adds (`scoreNow` of the domain). */
export function ownScore(dialect: SqlDialect, moment: Moment, now: number): SQL {
  const { f, n, c, s } = marksOf(dialect, moment)
  const days = daysSince(sql`e.updated_at`, now)
  const shares: [SQL, number][] = [
    [f, SHARES.file],
    [n, SHARES.named],
    [c, SHARES.command],
    [filesOf(moment).length > 0 ? isType('decision') : FALSE, SHARES.decision],
    [testsOrBuilds(moment.currentCommand) ? isType('bug_fix') : FALSE, SHARES.bugFix],
    [s, SHARES.session],
  ]
  const sum = shares.map(([condition, share]) => sql` + CASE WHEN ${condition} THEN ${number(share)} ELSE 0 END`)
  const fresh = sql`${number(SHARES.fresh)} * exp(-${days} / ${number(FADING_DAYS)}.0)`
  return sql`(e.weight / 3.0 * (${number(SHARES.base)} + ${fresh}${sql.join(sum)}))`
}
