// Checks that no statement depends on the planner's present statistics. Every tool is called once and its statements are recorded.
// They run again in copies of the database where the planner knows other things: of a small table, nothing at all, or how it is.
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTeam, type Team } from '../../support/access'
import { type Asker, createAsker } from '../../support/ask'
import { type Call, fill, PROJECT, readingCalls, vary, writingCalls } from '../../support/every-tool'
import {
  copyDatabase,
  endSessions,
  freshDatabase,
  isRealServer,
  restoreDatabase,
  type TestDatabase,
} from '../../support/postgres'
import { execute } from '../../support/postgres-server'
import { startServer } from '../../support/server'
import { type Group, type Reading, type Recorder, replay, startRecorder } from '../../support/wire-recorder'

/** Entries with statistics, of the organization under test, and of another one. */
const [FEW, OURS, THEIRS] = [49, 7 * 49, 20 * 49]

const UNATTENDED = `
  DO $$ DECLARE t regclass; BEGIN
    FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
      EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', t);
    END LOOP;
  END $$`
/** As if no table had been analyzed. */
const FORGET = [
  `DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`,
  `UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`,
]

/**
 * Written rows get ids far beyond the existing ones: so all rows written again, in any copy, get the same ids
 * with which it was heard, and what follows of it (work that was claimed, vectors that are behind) finds the same rows.
 */
const numbersFrom = (first: number): string =>
  `SELECT setval(oid, ${first}) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'`
const HEARD_FROM = 1_000_000

/** A call and what it sent: a group of statements for each transaction. */
interface Heard {
  readonly call: Call
  readonly groups: readonly Group[]
}

interface Read {
  readonly call: string
  readonly rows: number
  readonly walks: number
  readonly statements: readonly Reading[]
}

/** The planner's knowledge: the statistics before the tables have grown, current ones, or none. */
const KNOWN = { small: [], fresh: ['ANALYZE'], none: FORGET } as const
type Reads = Record<keyof typeof KNOWN, readonly Read[]>

/** Limits for rows, as a multiple of the good plan's, and additional. */
const [TIMES, SOME] = [3, 100]
/** Calls that may read all rows of a small org once more, where ordering these seems no dearer than walking them in their order. */
const ORDERS_ALL = /^\["search_context",\{"start_date"|^\["context_getCurrent",\{"projectPath"/

/** Statements that read far more where the planner knows something else. */
const differing = (states: Reads): object[] =>
  states.fresh.flatMap(({ call, statements }, i) =>
    statements.flatMap(({ text }, n) => {
      const rows = Object.values(states).map((reads) => reads[i]?.statements[n]?.rows as number)
      const some = ORDERS_ALL.test(call) ? OURS : SOME
      if (Math.max(...rows) <= TIMES * Math.min(...rows) + some || REACHES_ALL.test(call)) return []
      return [{ call, of: Object.keys(states).join(), rows, text: text.replace(/\s+/g, ' ').slice(0, 600) }]
    }),
  )
/** Calls without an entry or thread read those of the organization, in any order. */
const REACHES_ALL = /delete_context_batch",\{"source"/

/** Calls that read more rows than before, by how many, and the statement responsible. */
const more = (
  before: readonly Read[],
  after: readonly Read[],
  { times, some, apart = () => 0 }: { times: number; some: number; apart?: (call: string) => number },
): object[] =>
  after.flatMap(({ call, rows, statements }, i) => {
    const was = before[i] as Read
    if (rows <= times * was.rows + some + apart(call)) return []
    const each = statements.map(({ text, rows: now }, n) => ({ was: was.statements[n]?.rows as number, now, text }))
    const worst = each.toSorted((a, b) => b.now - b.was - (a.now - a.was))[0]
    return [{ call, was: was.rows, rows, worst: JSON.stringify(worst).slice(0, 700) }]
  })

/**
 * For an org alone in its tables the newest entries are scanned in order; with others a small org's rows are all sorted
 * instead, each counted in the index and in the table. Both end at 256 entries of the newest, whose words are read. The line of an
 * error has several words, whose rows, all the org's own too, are looked up in another order.
 */
const newestOrdered = (call: string): number => {
  if (call.startsWith('["context_reportEvent"')) return 400
  return call === '["context_getCurrent",{}]' ? 300 : 0
}

/** Work that waits is claimed for whichever org it is. */
const isOfCall = ({ text }: Reading): boolean => !text.includes(`UPDATE outbox SET state = 'claimed'`)

describe.skipIf(!isRealServer())('statements of PostgreSQL', () => {
  let database: TestDatabase
  let recorder: Recorder
  let team: Team
  let ours: Asker
  let heard: Heard[]
  /** Of the organization alone, and together with another one. */
  let alone: Reads
  let beside: Reads
  let reached = HEARD_FROM

  const fillOurs = (count: number, project?: string) => fill(ours.ask, { count, ...(project && { project }) })

  async function copied<T>(use: (copy: TestDatabase) => Promise<T>): Promise<T> {
    await recorder.take()
    await endSessions(database)
    const copy = await copyDatabase(database)
    try {
      return await use(copy)
    } finally {
      await copy.drop()
    }
  }

  /** Rows that the calls read, one after the other, in a copy of the present database. */
  const readsOf = (calls: readonly Heard[], ...prepare: readonly string[]): Promise<Read[]> =>
    copied(async ({ url }) => {
      await execute(url, numbersFrom(HEARD_FROM), ...prepare)
      const session = new Client({ connectionString: url })
      await session.connect()
      const all: Read[] = []
      for (const { call, groups } of calls) {
        const statements: Reading[] = []
        for (const group of groups) statements.push(...(await replay(session, group)).filter(isOfCall))
        // A deleted row is dead in the index until some statement that reads it marks it; which one is chance, and it counts.
        if (call[0].includes('delete')) await session.query('VACUUM pending_deletes')
        const sum = (of: 'rows' | 'walks') => statements.reduce((total, one) => total + one[of], 0)
        all.push({ call: JSON.stringify(call).slice(0, 150), rows: sum('rows'), walks: sum('walks'), statements })
      }
      await session.end()
      return all
    })

  async function hear(calls: readonly Call[]): Promise<Heard[]> {
    await recorder.take()
    const all: Heard[] = []
    for (const call of calls) {
      await ours.ask(call)
      all.push({ call, groups: await recorder.take() })
    }
    return all
  }

  const readsOfAll = async (): Promise<Reads> => ({
    small: await readsOf(heard, ...KNOWN.small),
    fresh: await readsOf(heard, ...KNOWN.fresh),
    none: await readsOf(heard, ...KNOWN.none),
  })

  beforeAll(async () => {
    database = await freshDatabase()
    await execute(database.url, UNATTENDED)
    // As Hyperdrive pools: a session for each request took half of the time of filling a store.
    recorder = await startRecorder(database.pooledUrl ?? database.url)
    team = await startTeam({}, (vars) => startServer(vars, recorder.url))
    ours = createAsker(team, (await team.key('ours', { owner: 'ada', role: 'admin' })).key)
    const earlier = await fillOurs(FEW)
    await recorder.take()
    await execute(database.url, 'ANALYZE')
    const stored = await vary(ours.ask, await fill(ours.ask, { from: FEW, count: OURS - FEW, earlier }), 1)
    heard = await copied(async (before) => {
      await execute(database.url, numbersFrom(HEARD_FROM))
      const all = await hear([...readingCalls(stored), ...writingCalls(stored)])
      // The writes must have happened again.
      await restoreDatabase(database, before)
      return all
    })
    alone = await readsOfAll()
    const { ask } = createAsker(team, (await team.key('theirs', { owner: 'ada', role: 'admin' })).key)
    await vary(ask, await fill(ask, { count: THEIRS }), 4)
    beside = await readsOfAll()
  }, 480_000)
  // Each test stores rows with unique ids.
  beforeEach(async () => {
    reached += 1_000_000
    await execute(database.url, numbersFrom(reached))
  })
  afterAll(async () => {
    await team.stop()
    await recorder.stop()
    await database.drop()
  })

  it('are heard of every tool', async () => {
    const names = new Set(heard.map(({ call: [name] }) => name))
    expect((await ours.tools()).filter((tool) => !names.has(tool))).toEqual([])
    expect(heard.filter(({ groups }) => groups.length === 0)).toEqual([])
  })

  it('walk no table from end to end and read nothing of other orgs, whatever the planner knows of them', async () => {
    const grown = (Object.keys(KNOWN) as (keyof Reads)[]).flatMap((state) =>
      more(alone[state], beside[state], { times: 1.1, some: 100, apart: newestOrdered }).map((one) => ({
        state,
        ...one,
      })),
    )
    expect(grown).toEqual([])
    expect(differing(beside)).toEqual([])
    const walks = [alone, beside].flatMap((states) => Object.values(states).flat()).filter(({ walks }) => walks > 0)
    expect(walks).toEqual([])
  }, 240_000)

  it('read nothing of other projects where memories are listed, recalled by words or gathered for the moment in one', async () => {
    const inProject = heard.filter(({ call: [name, args] }) => {
      const named = JSON.stringify(args).includes(`"projectPath":"${PROJECT}"`)
      return named && (/List|getCurrent/i.test(name) || args.mode === 'keyword')
    })
    expect(inProject.length).toBeGreaterThan(4)
    const before = await readsOf(inProject, 'ANALYZE')
    await fillOurs(2 * OURS, 'another')
    // Requested again, since an unconfirmed vector is read separately.
    const again = await hear(inProject.map(({ call }) => call))
    const after = await readsOf(again, 'ANALYZE')
    expect(more(before, after, { times: 1.1, some: 100 })).toEqual([])
    // Lists by type and counts do not grow with their own project either.
    const lists = inProject.filter(({ call: [name, args] }) => /list/i.test(name) && (args.type || args.stats))
    expect(lists.length).toBeGreaterThan(1)
    const few = await readsOf(lists)
    await fillOurs(OURS)
    expect(more(few, await readsOf(lists), { times: 1, some: 20 })).toEqual([])
  }, 240_000)

  it('are planned with statistics of the rows that a batch has just stored', async () => {
    await execute(database.url, ...FORGET)
    const entries = Array.from({ length: 60 }, (_, i) => ({ thread_id: 'many', source: 'user', text: `said ${i}` }))
    await ours.ask(['store_context_batch', { entries }])
    await recorder.take()
    const session = new Client({ connectionString: database.url })
    await session.connect()
    const { rows } = await session.query(
      `SELECT relname FROM pg_class WHERE relname IN ('entries', 'entries_fts') AND reltuples < ${OURS + THEIRS}`,
    )
    await session.end()
    expect(rows).toEqual([])
  })
})
