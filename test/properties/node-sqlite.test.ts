import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, describe, expect, it } from 'vitest'
import { Batch, runOne } from '../../src/adapters/sql/core/batch'
import { PreconditionFailed } from '../../src/adapters/sql/core/connection'
import { countOf } from '../../src/adapters/sql/core/rows'
import { changesContract } from '../contracts/changes'
import { codeNamesContract } from '../contracts/code-names'
import { directoryContract } from '../contracts/directory'
import { entryLifeContract } from '../contracts/entry-life'
import { entryStoreContract } from '../contracts/entry-store'
import { fullTextContract } from '../contracts/full-text'
import { identityContract } from '../contracts/identity'
import { projectDirectoryContract } from '../contracts/project-directory'
import { quotaContract } from '../contracts/quotas'
import { restoringContract } from '../contracts/restoring'
import { visibilityContract } from '../contracts/visibility'
import { nodeSqliteAdapters, openNodeSqlite } from '../support/node-sqlite'

/**
 * The SQL of the product, with its schema and triggers, in this process, like D1 in a Worker
 * (`test/worker/d1.test.ts`).
 */
const database = openNodeSqlite()
const make = () => nodeSqliteAdapters(database)

afterAll(() => database.connection.close())

entryStoreContract('node:sqlite', () => {
  const made = make()
  return { ...made, store: made.entries }
})
changesContract('node:sqlite', make)
entryLifeContract('node:sqlite', make)
fullTextContract('node:sqlite', make)
identityContract('node:sqlite', make)
projectDirectoryContract('node:sqlite', make)
quotaContract('node:sqlite', make)
restoringContract('node:sqlite', make)
visibilityContract('node:sqlite', make)
directoryContract('node:sqlite', make)
codeNamesContract('node:sqlite', async () => make())

describe('a connection by node:sqlite', () => {
  const settings = (name: string) => sql`INSERT INTO settings (name, value) VALUES (${name}, 'x')`
  const stored = (name: string) => sql`SELECT count(*) AS n FROM settings WHERE name = ${name}`

  it('does nothing of a batch whose guard refuses, and names the premise', async () => {
    const { connection } = database
    const refused = new Batch(settings('refused'), sql`INSERT INTO guards (holds, precondition) SELECT 0, 'receipt'`)
    await expect(refused.run(connection)).rejects.toThrow(PreconditionFailed)
    await expect(refused.run(connection)).rejects.toMatchObject({ premise: 'receipt' })
    expect(await runOne(connection, stored('refused'), countOf())).toBe(0)
  })

  it('never gives a vector the number of a removed one, also of the newest', async () => {
    const { connection } = database
    const add = (
      entry: number,
    ) => sql`INSERT INTO entry_vectors (org, entry_id, model, chunk, start, length, data, project)
      VALUES ('numbers', ${entry}, 'test#2', 0, 0, 1, '1:AQE=', '')`
    const ids = async () => {
      const [rows = []] = await connection.batch([sql`SELECT id FROM entry_vectors WHERE org = 'numbers' ORDER BY id`])
      return rows.map(({ id }) => Number(id))
    }
    const given: number[] = []
    for (let n = 0; n < 4; n++) {
      await connection.batch([add(2 * n - 1_000_000), add(2 * n - 999_999)])
      given.push(...(await ids()))
      await connection.batch([sql`DELETE FROM entry_vectors WHERE org = 'numbers'`])
    }
    expect(given).toEqual([...new Set(given)].sort((a, b) => a - b))
    expect(given).toHaveLength(8)
  })

  it('shows a wrong statement unchanged, and rolls back those before it', async () => {
    const { connection } = database
    await expect(new Batch(settings('wrong'), sql`SELECT a FROM nowhere`).run(connection)).rejects.toThrow(
      /no such table: nowhere/,
    )
    expect(await runOne(connection, stored('wrong'), countOf())).toBe(0)
  })

  it('keeps a file that another program opens, migrates it once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-node-sqlite-'))
    try {
      const first = openNodeSqlite(join(folder, 'store.sqlite'))
      await new Batch(settings('kept')).run(first.connection)
      const second = openNodeSqlite(join(folder, 'store.sqlite'))
      expect(await runOne(second.connection, stored('kept'), countOf())).toBe(1)
      first.connection.close()
      second.connection.close()
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
