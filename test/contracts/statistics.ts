import { type SQL, sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { listed } from '../../src/adapters/sql/core/visibility'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlHistory } from '../../src/adapters/sql/stores/history/history'
import { createSqlRetention } from '../../src/adapters/sql/stores/maintenance/retention'
import { createSqlVectorRows } from '../../src/adapters/sql/stores/search/vector-rows'
import { createUnfinishedDeletes } from '../../src/adapters/sql/tables/changes/pending-deletion'
import { NOTHING_GENERATED } from '../../src/domain/entry/entry'
import type { Caller, Scope } from '../../src/domain/identity/scope'
import { NO_QUOTAS } from '../../src/domain/quota'
import type { Analyzer } from '../../src/domain/search/analysis'
import { deleting } from '../support/deleting'
import { base64, entryOf, freshPrincipal, pngBytes, type TestClock } from '../support/scope'
import { seeded } from '../support/seeded'

interface StatisticsUnderTest {
  readonly analyzer: Analyzer
  readonly connection: SqlConnection
  readonly clock: TestClock
}

const TERMS = { days: 30, receiptHours: 24 }
const MODELS = ['one#1', 'two#1']
const STEPS = 45

/** Statistics read counters, and always equal a count of every entry. */
export function statisticsContract(name: string, make: () => StatisticsUnderTest): void {
  describe(`${name} counts as it writes`, () => {
    const ada: Caller = freshPrincipal()
    const scopes: Scope[] = [
      ada,
      { ...ada, owner: 'eve' },
      { ...ada, owner: null },
      { ...ada, projects: ['a'] },
      { ...ada, owner: 'eve', projects: ['a', 'b'] },
      { ...ada, projects: [] },
      { ...freshPrincipal(), owner: 'ada' },
    ]
    let made: StatisticsUnderTest
    beforeAll(() => {
      made = make()
    })

    const stores = (connection: SqlConnection) =>
      createSqlEntryStore(connection, made.analyzer, made.clock, new Map(), NO_QUOTAS, TERMS)
    const run = (...statements: SQL[]) => made.connection.batch(statements, { org: ada.org })

    /** Definition of statistics: a count of every listed entry. */
    async function plain(scope: Scope) {
      const seen = listed(made.connection.dialect, scope, made.clock.now())
      const [totals, threads, tags, images, ...vectors] = await made.connection.batch([
        sql`SELECT count(*) AS entries, sum(CASE WHEN e.source = 'user' THEN 1 ELSE 0 END) AS users,
            sum(CASE WHEN e.image_count > 0 THEN 1 ELSE 0 END) AS multimodal, sum(e.bytes) AS bytes, sum(e.image_count) AS images,
            sum(CASE WHEN e.summary <> '' THEN 1 ELSE 0 END) AS summaries
          FROM entries e WHERE ${seen}`,
        sql`SELECT e.thread_id, count(*) AS n FROM entries e WHERE ${seen} GROUP BY e.thread_id ORDER BY n DESC, e.thread_id`,
        sql`SELECT t.tag, count(*) AS n FROM entry_tags t JOIN entries e ON e.id = t.entry_id WHERE ${seen}
          GROUP BY t.tag ORDER BY n DESC, t.tag`,
        sql`SELECT sum(size) AS bytes FROM (SELECT u.hash, max(u.size) AS size FROM image_uses u JOIN entries e ON e.id = u.entry_id
          WHERE ${seen} GROUP BY u.hash) used`,
        ...MODELS.map(
          (model) => sql`SELECT count(DISTINCT v.entry_id) AS entries, count(*) AS vectors, sum(length(v.data)) AS bytes
            FROM entry_vectors v JOIN entries e ON e.id = v.entry_id WHERE v.model = ${model} AND ${seen}`,
        ),
      ])
      const of = (rows: typeof totals, name: string) => Number(rows?.[0]?.[name] ?? 0)
      return {
        ...{ entries: of(totals, 'entries'), users: of(totals, 'users'), multimodal: of(totals, 'multimodal') },
        ...{ bytes: of(totals, 'bytes'), images: of(totals, 'images'), summaries: of(totals, 'summaries') },
        ...{ threads: threads?.length, tags: tags?.length, imageBytes: of(images, 'bytes') },
        active: (threads ?? []).slice(0, 5).map(({ thread_id, n }) => [thread_id, Number(n)]),
        top: (tags ?? []).slice(0, 10).map(({ tag, n }) => [tag, Number(n)]),
        vectors: vectors.map((rows) => [of(rows, 'entries'), of(rows, 'vectors'), of(rows, 'bytes')]),
      }
    }

    async function told(scope: Scope) {
      const told = await stores(made.connection).statistics(scope)
      const rows = createSqlVectorRows(made.connection, made.clock)
      const counted = await Promise.all(MODELS.map((model) => rows.counts(scope, model)))
      return {
        ...{ entries: told.entries, users: told.bySource.user, multimodal: told.multimodal, bytes: told.entryBytes },
        ...{ images: told.images, summaries: told.summaries, threads: told.threads, tags: told.uniqueTags },
        imageBytes: told.imageBytes,
        active: told.activeThreads.map(({ threadId, count }) => [threadId, count]),
        top: told.topTags.map(({ tag, count }) => [tag, count]),
        vectors: counted.map(({ entries, vectors, bytes }) => [entries, vectors, bytes]),
      }
    }

    /** The stored rows of counters, and the rows that the entries require. */
    async function counters() {
      const of = sql`FROM entries e WHERE e.org = ${ada.org} AND e.listed = 1`
      const [layers, allLayers, threads, allThreads] = await made.connection.batch([
        sql`SELECT layer, project, reader, kind, pinned, entries, words FROM layer_counters WHERE org = ${ada.org} ORDER BY 1, 2, 3, 4, 5`,
        sql`SELECT e.layer, coalesce(e.project, '') AS project, e.reader, e.kind, e.pinned, count(*) AS entries, sum(e.text_words) AS words
          ${of} AND e.expires_at IS NULL GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
        sql`SELECT thread_id, project, reader, entries, words, first_second, last_second, first_id, last_id FROM thread_counters
          WHERE org = ${ada.org} ORDER BY 1, 2, 3`,
        sql`SELECT e.thread_id, coalesce(e.project, '') AS project, e.reader, count(*) AS entries, sum(e.text_words) AS words,
            min(e.created_second) AS first_second, max(e.created_second) AS last_second, min(e.id) AS first_id, max(e.id) AS last_id
          ${of} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
      ])
      const plainly = (rows: typeof layers) => rows?.map((row) => Object.values(row).map(String))
      return { told: [plainly(layers), plainly(threads)], plain: [plainly(allLayers), plainly(allThreads)] }
    }

    it('a count of everything, for every reader, after every kind of write', async () => {
      const random = seeded(28)
      const upTo = (n: number) => Math.floor(random() * n)
      const oneOf = <T>(values: readonly T[]): T => values[upTo(values.length)] as T
      const vectors = () =>
        MODELS.slice(0, upTo(3)).flatMap((model) =>
          Array.from({ length: upTo(4) }, (_, chunk) => ({
            model,
            chunk,
            start: 0,
            length: 1,
            data: `${upTo(99)}:AQ==`,
          })),
        )
      const entry = async () => {
        const project = oneOf([null, 'a', 'b'])
        const metadata = {
          ...(project === null ? {} : { project }),
          ...{ audience: oneOf(['org', 'private']), diary: upTo(8) === 0 },
        }
        const images = Array.from({ length: upTo(3) }, (_, i) => ({
          ...{ data: base64(pngBytes(`${i}${upTo(2)}`)), mime_type: 'image/png' },
        }))
        const tags = Array.from({ length: upTo(4) }, () => `tag ${upTo(14)}`)
        const source = oneOf(['user', 'agent'] as const)
        const draft = await entryOf(ada, { threadId: `t${upTo(6)}`, source, metadata, tags, images })
        return { ...draft, generated: { ...NOTHING_GENERATED, summary: oneOf(['', 'in short']), vectors: vectors() } }
      }
      const owned = () => ({ ...ada, owner: oneOf(['ada', 'eve']), changeId: `c${random()}` })
      const all: number[] = []
      let unfinished = 0
      const several = () => [...new Set([oneOf(all), oneOf(all), oneOf(all)])]
      const some = () => sql.raw([oneOf(all), oneOf(all), oneOf(all)].join(', '))
      const set = (what: SQL) => run(sql`UPDATE entries SET ${what} WHERE org = ${ada.org} AND id IN (${some()})`)
      const store = stores(made.connection)
      const deletes = deleting(store)
      const history = createSqlHistory(made.connection, made.analyzer, made.clock, NO_QUOTAS, TERMS)
      /** Gives up behind its first transaction. */
      const dying = () => {
        let lives = 1
        return stores({
          ...made.connection,
          batch: (statements, lock) =>
            lock !== undefined && lives-- <= 0
              ? Promise.reject(new Error('gone'))
              : made.connection.batch(statements, lock),
        })
      }
      const writes: (() => Promise<unknown>)[] = [
        async () => {
          const saved = await store.save(
            owned(),
            await Promise.all(Array.from({ length: oneOf([1, 2, 3, 4, 12]) }, entry)),
          )
          all.push(...saved.map(({ id }) => id))
        },
        () => set(sql`project = ${oneOf([null, 'a', 'b'])}`),
        () => set(sql`audience = ${oneOf(['org', 'private'])}, owner = ${oneOf(['ada', 'eve'])}, bytes = bytes + 1`),
        () => set(sql`archived = ${upTo(2)}, diary = ${upTo(2)}`),
        () => set(sql`layer_expires_at = ${oneOf([null, made.clock.now(), made.clock.now() + 5])}`),
        () =>
          set(
            sql`tags = ${JSON.stringify([`tag ${upTo(14)}`])}, project = ${oneOf([null, 'a'])}, layer = ${1 + upTo(3)}`,
          ),
        () => set(sql`summary = ${oneOf(['', 'shorter'])}, images = NULL, image_count = 0`),
        async () => {
          const caller = owned()
          const [entry] = await store.readToChange(caller, [oneOf(all)])
          if (entry === undefined) return
          const text = { text: `other ${random()}`, hash: `${random()}` }
          const generated = { ...NOTHING_GENERATED, vectors: vectors() }
          await store.change(caller, [
            { id: entry.id, version: entry.version, steps: 1, text, generated, tags: ['new'] },
          ])
        },
        async () => {
          const rows = createSqlVectorRows(made.connection, made.clock)
          for (const one of await rows.textsOf([oneOf(all)])) await rows.replace(one, vectors())
        },
        () => deletes.delete(owned(), { ids: several() }),
        () => deletes.delete(owned(), { ids: [oneOf(all)] }),
        () => deletes.erase(owned(), { ids: [oneOf(all)] }),
        async () => {
          await run(sql`UPDATE entries SET bytes = 3000000 WHERE org = ${ada.org} AND thread_id = 't1'`)
          await dying().delete({ ...ada, changeId: `unfinished ${unfinished++}` }, { threadIds: ['t1'] })
        },
        async () => {
          const { finish } = createUnfinishedDeletes(made.connection)
          while (unfinished > 0) await finish(ada.org, `unfinished ${--unfinished}`)
        },
        async () => {
          const caller = owned()
          const { kept } = await history.restorable(caller, { ids: all }, { limit: 9, maxBytes: 9999 })
          const gone = kept.filter(({ live }) => !live)
          const generated = gone.map(() => ({ ...NOTHING_GENERATED, vectors: vectors() }))
          if (gone.length > 0) await history.restore(caller, gone, generated)
        },
        async () => {
          made.clock.advance(5)
          if (upTo(2) === 0) await createSqlRetention(made.connection, made.clock, TERMS).expireEntries(50)
        },
      ]
      await writes[0]?.()
      for (let step = 0; step < STEPS; step++) {
        const kind = step % 3 === 0 ? 0 : upTo(writes.length)
        await writes[kind]?.()
        for (const scope of step % 10 === 9 ? scopes : [oneOf(scopes)]) {
          const expected = [step, kind, await plain(scope)]
          expect([step, kind, await told(scope)]).toEqual(expected)
        }
        const { told: rows, plain: expected } = await counters()
        expect([step, kind, rows]).toEqual([step, kind, expected])
      }
    })

    it('pages of threads in one order, and reads no more rows than a page has, at any offset', async () => {
      const eve: Caller = freshPrincipal()
      const drafts = Array.from({ length: 40 }, (_, i) => entryOf(eve, { threadId: `t${i}` }))
      await stores(made.connection).save(eve, await Promise.all(drafts))
      let most = 0
      const counting: SqlConnection = {
        ...made.connection,
        batch: async (...given) => {
          const results = await made.connection.batch(...given)
          most = Math.max(most, ...results.map((rows) => rows.length))
          return results
        },
      }
      const { threads: all } = await stores(made.connection).threads(eve, { limit: 100, offset: 0 })
      expect(all).toHaveLength(40)
      for (const offset of [0, 1, 17, 38, 40, 99]) {
        const page = { threads: all.slice(offset, offset + 3), total: 40 }
        expect(await stores(counting).threads(eve, { limit: 3, offset })).toEqual(page)
      }
      expect(most).toBeLessThanOrEqual(3)
    })
  })
}
