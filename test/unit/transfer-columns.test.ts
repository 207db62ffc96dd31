import { type SQL, sql } from 'drizzle-orm'
import { afterAll, expect, it } from 'vitest'
import type { Row } from '../../src/adapters/sql/core/connection'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { textOf } from '../../src/adapters/sql/tables/texts/long-texts'
import { entryRow, versionRow } from '../../src/adapters/sql/tables/transfer/import-rows'
import {
  ENTRY_RECORD_COLUMNS,
  toEntryRecord,
  toVersionRecord,
  VERSION_RECORD_COLUMNS,
} from '../../src/adapters/sql/tables/transfer/record-rows'
import { retainedText } from '../../src/adapters/sql/tables/writes/history-statements'
import { NO_QUOTAS } from '../../src/domain/quota'
import { incomingEntry, incomingVersion } from '../../src/domain/transfer/incoming'
import { readLine, writeLine } from '../../src/domain/transfer/lines'
import type { TransferRecord } from '../../src/domain/transfer/records'
import { filled } from '../support/entry-columns'
import { nodeSqliteAdapters, openNodeSqlite } from '../support/node-sqlite'
import { entryOf, freshPrincipal, LIMITS } from '../support/scope'

const database = openNodeSqlite()
const { connection, analyzer, clock } = nodeSqliteAdapters(database)
const terms = { days: 30, receiptHours: 24 }
const store = createSqlEntryStore(connection, analyzer, clock, new Map(), NO_QUOTAS, terms)
const ada = freshPrincipal()
afterAll(() => database.connection.close())

const one = async (query: SQL): Promise<Row> => {
  const row = (await connection.batch([query]))[0]?.[0]
  if (row === undefined) throw new Error('the row does not exist')
  return row
}

/** A record as it arrives elsewhere. */
const sent = (record: TransferRecord): TransferRecord =>
  readLine(new TextEncoder().encode(writeLine(record).trimEnd()), 1)

/** Of the columns that are given, those in which a row that was made of a record has something else. */
async function lost(table: string, stood: Row, made: Row): Promise<string[]> {
  const [columns] = await connection.batch([
    sql`SELECT name FROM pragma_table_xinfo(${table}) WHERE hidden = 0 ORDER BY name`,
  ])
  // Numbers that are not integers travel as text.
  return (columns ?? []).map(({ name }) => String(name)).filter((name) => String(stood[name]) !== String(made[name]))
}

it('moves every column of an entry and of its kept states with an export', async () => {
  const metadata = {
    title: 'a title',
    domain: 'a domain',
    project: 'p',
    status: 'doing',
    confidence: 0.5,
    pinned: true,
  }
  const [saved] = await store.save(ada, [await entryOf(ada, { metadata, tags: ['a', 'gotcha'] })], { dedupe: false })
  const id = saved?.id as number
  const standing = () => one(sql`SELECT * FROM entries WHERE id = ${id}`)
  await connection.batch([sql`UPDATE entries SET ${sql.raw(filled(await standing()))} WHERE id = ${id}`])
  await store.patch({ ...ada, changeId: 'c' }, id, { n: 1 })
  const intake = { scope: ada, keyId: ada.keyId, at: clock.now(), now: clock.now(), limits: LIMITS, isTrusted: true }

  const entry = sent(
    toEntryRecord(
      await one(sql`SELECT ${ENTRY_RECORD_COLUMNS}, ${textOf()} AS text FROM entries e WHERE e.id = ${id}`),
      [],
    ),
  )
  if (entry.record !== 'entry') throw new Error('it is not an entry any more')
  const state = incomingEntry(entry, entry.metadata ?? null, intake)
  const taken = { id, version: state.version, entry: state, links: [] }
  const row = entryRow(
    { ...taken, theirId: '', replaces: null, waiting: [], vectors: null, queueVectors: false },
    ada.org,
  )
  // Words are counted, and texts that address an agent found, when the text is analyzed again; approvals by a person stay.
  expect(await lost('entries', await standing(), row)).toEqual([
    ...['addresses_agent', 'approved_by', 'approved_version', 'text_words'],
  ])

  const version = sent(
    toVersionRecord(
      await one(
        sql`SELECT ${VERSION_RECORD_COLUMNS}, ${retainedText} AS text FROM entry_versions v WHERE v.entry_id = ${id}`,
      ),
    ),
  )
  if (version.record !== 'version') throw new Error('it is not a version any more')
  const kept = incomingVersion(version, version.metadata ?? null, [], intake)
  const keptRow = versionRow({ id, state: kept }, ada.org, state.textHash)
  const stood = await one(sql`SELECT * FROM entry_versions WHERE entry_id = ${id}`)
  // It gets an id of its own.
  expect(await lost('entry_versions', stood, keptRow)).toEqual(['id', 'text_words'])
})
