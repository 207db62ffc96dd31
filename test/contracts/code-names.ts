import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readOne } from '../../src/adapters/sql/core/batch'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { each, num, str } from '../../src/adapters/sql/core/rows'
import { nameTerms } from '../../src/adapters/sql/tables/code/code-terms'
import { foldCase, nameQuery, nameScore, partsText } from '../../src/domain/code/names'

/** `nameScore` is what a search by symbol means; every database must agree with it, on random names and queries. */
const SEED = 20261127
const QUERIES = 60
/** Three values each, of the hundred that a statement takes on D1. */
const NAMES = 15

const pieces = fc.constantFrom(
  'auth',
  'Auth',
  'user',
  'USER',
  'HTTP',
  'Server',
  'id',
  'v2',
  'ς',
  'Σ',
  'é',
  '_',
  '$',
  '%',
)
const made = (separators: string[]) =>
  fc
    .array(fc.tuple(pieces, fc.constantFrom(...separators)), { minLength: 1, maxLength: 3 })
    .map((all) => all.flat().join('').trim())
const names = fc.array(made(['', '', '_']), { minLength: NAMES, maxLength: NAMES })

export function codeNamesContract(name: string, make: () => Promise<{ readonly connection: SqlConnection }>): void {
  it(`${name}: scores names of symbols as the domain does`, async () => {
    const { connection } = await make()
    const found = new Set<number | null>()
    for (const [i, [asked, all]] of fc
      .sample(fc.tuple(made(['', ' ', '_']), names), { seed: SEED, numRuns: QUERIES })
      .entries()) {
      const query = nameQuery(asked)
      const { isHit, score } = nameTerms(connection.dialect, query)
      const rows = sql.join(
        all.map((one) => sql`(CAST(${one} AS text), CAST(${foldCase(one)} AS text), CAST(${partsText(one)} AS text))`),
        sql`, `,
      )
      const hits = await readOne(
        connection,
        sql`SELECT s.name, ${score} AS score FROM (
          SELECT column1 AS name, column2 AS folded, column3 AS parts FROM (VALUES ${rows}) AS given
        ) AS s WHERE ${isHit}`,
        each((row) => [str(row, 'name'), num(row, 'score')] as const),
      )
      const meant = [...new Set(all)].flatMap((one) => {
        const score = nameScore(one, query)
        found.add(score)
        return score === null ? [] : [[one, score] as const]
      })
      expect(new Map(hits), `query ${i}: ${asked}`).toEqual(new Map(meant))
    }
    // Every kind of match of a name has occurred.
    expect(found.size).toBe(6)
  })
}
