import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import type { Bounded } from '../../src/adapters/sql/core/dialect'
import type { ReadContext } from '../../src/adapters/sql/tables/entries/read-statements'
import { scanForFew } from '../../src/adapters/sql/tables/pages/access-paths'
import { limitExceeded } from '../../src/domain/errors'
import { EVERYTHING } from '../../src/domain/search/filter'

/** The number of matches of a filter, after some statements. */
async function asked(statements: number, page: Awaited<ReturnType<Bounded['page']>> | Error) {
  let sent = 0
  const bounded = {
    page: async (read: Parameters<Bounded['page']>[0]) => {
      for (let i = 0; i < statements; i++) await read(sql`SELECT 1`, () => null)
      if (page instanceof Error) throw page
      return page
    },
  }
  const read = async (given: readonly unknown[]) => {
    sent += given.length
    return given.map(() => [])
  }
  const connection = { dialect: { bounded }, read } as unknown as SqlConnection
  const ids = await scanForFew(connection, {} as ReadContext, EVERYTHING, 3)
  return { ids, sent }
}

it('names the few entries that a filter admits, and none where it admits more or its total stopped', async () => {
  expect(await asked(2, { ids: [7, 5], total: 2, isExact: true })).toEqual({ ids: [7, 5], sent: 2 })
  expect((await asked(2, { ids: [7, 5, 3], total: 4, isExact: true })).ids).toBeNull()
  expect((await asked(2, { ids: [7, 5, 3], total: 3, isExact: false })).ids).toBeNull()
})

it('leaves a search its other ways where a filter asks too much of all entries, after sixty statements', async () => {
  const whole = { ids: [1], total: 1, isExact: true }
  expect(await asked(60, whole)).toEqual({ ids: [1], sent: 60 })
  expect(await asked(500, whole)).toEqual({ ids: null, sent: 60 })
  expect((await asked(1, limitExceeded('too much metadata'))).ids).toBeNull()
  await expect(asked(1, new Error('broken'))).rejects.toThrow('broken')
})
