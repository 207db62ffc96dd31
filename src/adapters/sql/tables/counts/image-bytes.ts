import { type SQL, sql } from 'drizzle-orm'
import type { Pace } from '../../../../domain/pace'
import { readOne } from '../../core/batch'
import type { Row, SqlConnection } from '../../core/connection'
import { asRows, num, str, strOrNull } from '../../core/rows'
import { listed } from '../../core/visibility'
import type { ReadContext } from '../entries/read-statements'

/**
 * The bytes of the different images of what a scope sees. Which images are the same follows from the uses alone, so these are gone
 * through: at once, or so many at a time with rests between, on a database that serves nobody while a statement goes on (platform
 * contract §6).
 */

/** Each use leads to an entry somewhere else, which takes longer than going from one to the next. */
const usesWalked = (walked: number): number => Math.ceil(walked / 2)

const usesOf = ({ dialect, scope, now }: ReadContext, behind: SQL): SQL => sql`
  SELECT u.hash, max(u.size) AS size FROM image_uses u
  ${dialect.follow('entries', 'e', sql`e.id = u.entry_id`)}
  WHERE u.org = ${scope.org}${behind} AND ${listed(dialect, scope, now)} GROUP BY u.hash`

/** Of the next uses: `bytes` of images other than the one that is known, the `last` of all, and where it ended (`hash`, `entry_id`). */
function partStatement(context: ReadContext, after: readonly [string, number], known: string, walked: number): SQL {
  const behind = sql` AND (u.hash, u.entry_id) > (${after[0]}, ${after[1]})`
  const until = sql`until AS MATERIALIZED (
    SELECT u.hash, u.entry_id FROM image_uses u WHERE u.org = ${context.scope.org}${behind}
    ORDER BY u.hash, u.entry_id LIMIT 1 OFFSET ${usesWalked(walked) - 1})`
  const upTo = sql`${behind} AND (u.hash, u.entry_id) <= (
    coalesce((SELECT hash FROM until), x'ff'), coalesce((SELECT entry_id FROM until), 0))`
  return sql`WITH ${until}, used AS MATERIALIZED (${usesOf(context, upTo)})
    SELECT (SELECT coalesce(sum(size), 0) FROM used WHERE hash <> ${known}) AS bytes, (SELECT max(hash) FROM used) AS last,
      (SELECT hash FROM until) AS hash, (SELECT entry_id FROM until) AS entry_id`
}

/** What `imageBytes` begins with, which may stand in a batch with others. */
export const imageBytesStatement = (context: ReadContext): SQL => {
  const { walked } = context.dialect
  return walked === null
    ? sql`SELECT coalesce(sum(size), 0) AS bytes FROM (${usesOf(context, sql``)}) used`
    : partStatement(context, ['', 0], '', walked)
}

/** @param begun what `imageBytesStatement` has found */
export async function imageBytes(
  connection: SqlConnection,
  pace: Pace,
  context: ReadContext,
  begun: readonly Row[],
): Promise<number> {
  const { walked } = context.dialect
  let bytes = 0
  let known = ''
  for (let rows = begun; ; ) {
    const [row = {}] = rows
    bytes += num(row, 'bytes')
    if (walked === null || row.hash === null || row.hash === undefined) return bytes
    // An image whose uses stand in two parts is counted with the first of them.
    known = strOrNull(row, 'last') ?? known
    await pace.rest()
    const after = [str(row, 'hash'), num(row, 'entry_id')] as const
    rows = await readOne(connection, partStatement(context, after, known, walked), asRows)
  }
}
