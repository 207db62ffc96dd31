import { type SQL, sql } from 'drizzle-orm'
import { Batch } from '../../sql/core/batch'
import { asRows } from '../../sql/core/rows'
import type { Answers } from '../../sql/tables/search/candidates'
import { type FoundInParts, type SearchInParts, searchInParts } from './search-in-parts'

/**
 * The rows of a search that is done in parts, as one statement would have them.
 *
 * @param columnsOf what is brought of a candidate `e`, with the counts of all terms
 * @throws Problem limit_exceeded when there is more to be gone through than one request may ask for
 */
export async function rowsInParts(
  given: SearchInParts,
  columnsOf: (counts: SQL) => SQL,
): Promise<Pick<Answers, 'found' | 'preferred' | 'beyond'>> {
  const { connection, request } = given
  const parts = await searchInParts(given)
  const numbers = JSON.stringify(parts.counts)
  // As `best` tells them; of candidates that an expression chose nobody asks it.
  const rowsOf = (best: FoundInParts['found'], isPlaced: boolean): SQL => {
    const told = JSON.stringify(best.map(({ id, held }, i) => [id, held, isPlaced ? i + 1 : 0]))
    const rows = connection.dialect.jsonTable(sql`${told}`, { id: 'integer', held: 'integer', place: 'integer' })
    return sql`SELECT ${columnsOf(sql`${numbers}`)}, best.held, best.place
      FROM ${rows} best CROSS JOIN entries e ON e.id = best.id`
  }
  const shown = new Batch()
  const chosen = shown.add(rowsOf(parts.found, request.units !== undefined || request.rare !== undefined), asRows)
  const complete = shown.add(rowsOf(parts.preferred, false), asRows)
  const rows = await shown.read(connection)
  return {
    found: rows.of(chosen),
    preferred: rows.of(complete),
    beyond: parts.beyond === null ? undefined : [{ counts: JSON.stringify(parts.beyond) }],
  }
}
