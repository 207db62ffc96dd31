import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readOne } from '../../src/adapters/sql/core/batch'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { each, num, str } from '../../src/adapters/sql/core/rows'
import { nameTerms } from '../../src/adapters/sql/tables/code/code-terms'
import { foldCase, type NameQuery, nameQuery, partsText, SCORES } from '../../src/domain/code/symbol-names'

/** Every database must agree with `nameScore`, on random names and queries. */
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

/** The meaning of a search by symbol: one of SCORES, or null when the name does not match. */
function nameScore(name: string, { exact, folded, words }: NameQuery): number | null {
  if (name === exact) return SCORES.equal
  const own = foldCase(name)
  if (own === folded) return SCORES.anyCase
  if (own.startsWith(folded)) return SCORES.beginning
  const parts = partsText(name)
  if (words.length > 0 && words.every((word) => parts.includes(` ${word}`))) return SCORES.parts
  return own.includes(folded) ? SCORES.inside : null
}

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
