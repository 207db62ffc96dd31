import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { listed, visible } from '../../src/adapters/sql/core/visibility'
import { createSqlDirectory } from '../../src/adapters/sql/stores/identity/directory'
import { createSqlVectorRows } from '../../src/adapters/sql/stores/search/vector-rows'
import { type Layer, NOTHING_GENERATED } from '../../src/domain/entry/entry'
import type { Scope } from '../../src/domain/identity/scope'
import type { Analyzer } from '../../src/domain/search/analysis'
import { EVERYTHING } from '../../src/domain/search/filter'
import type { EntryStore } from '../../src/ports/entry-store'
import type { FullText } from '../../src/ports/full-text'
import { createSearchText } from '../../src/services/searching/ranked/search-text'
import { entryOf, freshPrincipal, type TestClock } from '../support/scope'

export interface VisibilityUnderTest {
  readonly entries: EntryStore
  readonly fullText: FullText
  readonly analyzer: Analyzer
  readonly connection: SqlConnection
  readonly clock: TestClock
}

/** Everything about an entry that decides who sees it, in every combination. */
interface Memory {
  readonly archived: boolean
  readonly ends: 'never' | 'before' | 'after'
  readonly diary: boolean
  readonly audience: 'org' | 'private'
  readonly project: string | null
  readonly layer: Layer
}

const MEMORIES: readonly Memory[] = [false, true].flatMap((archived) =>
  (['never', 'before', 'after'] as const).flatMap((ends) =>
    [false, true].flatMap((diary) =>
      (['org', 'private'] as const).flatMap((audience) =>
        [null, 'a', 'b'].flatMap((project) =>
          ([1, 2, 3] as const).map((layer) => ({ archived, ends, diary, audience, project, layer })),
        ),
      ),
    ),
  ),
)

/** The rule in plain code (platform contract §5); all memories are ada's. */
const isReadable = (scope: Scope, { ends, diary, audience, project }: Memory): boolean =>
  ends !== 'before' &&
  (scope.projects === null || project === null || scope.projects.includes(project)) &&
  ((!diary && audience === 'org') || scope.owner === 'ada')

const isListed = (scope: Scope, memory: Memory): boolean =>
  isReadable(scope, memory) && !memory.archived && !memory.diary

const MODEL = 'test#1'
const VECTOR = { model: MODEL, chunk: 0, start: 0, length: 1, data: '1:AQ==' }

/** Lists, counts, candidates and vectors all keep to one rule of visibility. */
export function visibilityContract(name: string, make: () => VisibilityUnderTest): void {
  describe(`${name} shows by one rule`, () => {
    const ada = freshPrincipal()
    const callers: [string, Scope][] = [
      ['the owner', ada],
      ['another owner', { ...ada, owner: 'eve' }],
      ['no owner', { ...ada, owner: null }],
      ['the owner, narrowed to a project', { ...ada, projects: ['a'] }],
      ['another owner, narrowed to two', { ...ada, owner: 'eve', projects: ['a', 'b'] }],
      ['a key without projects', { ...ada, projects: [] }],
    ]
    const ids = new Map<Memory, number>()
    let made: VisibilityUnderTest

    beforeAll(async () => {
      made = make()
      const { entries, connection, clock } = made
      for (let i = 0; i < MEMORIES.length; i += 100) {
        const part = MEMORIES.slice(i, i + 100)
        const drafts = part.map(async ({ diary, audience, project, layer }, at) => {
          const metadata = { diary, audience, ...(project === null ? {} : { project }) }
          const entry = await entryOf(ada, { threadId: `t${at % 7}`, text: `walrus ${i + at}`, metadata })
          return { ...entry, layer, generated: { ...NOTHING_GENERATED, vectors: [VECTOR] } }
        })
        const saved = await entries.save(ada, await Promise.all(drafts))
        for (const [at, memory] of part.entries()) ids.set(memory, saved[at]?.id as number)
      }
      const of = (wanted: (memory: Memory) => boolean) =>
        sql.raw([...ids].flatMap(([memory, id]) => (wanted(memory) ? [id] : [])).join(', '))
      const soon = clock.ms + 10
      await connection.batch(
        [
          sql`UPDATE entries SET archived = 1 WHERE id IN (${of(({ archived }) => archived)})`,
          sql`UPDATE entries SET layer_expires_at = ${soon} WHERE id IN (${of(({ ends }) => ends === 'before')})`,
          sql`UPDATE entries SET named_expires_at = ${soon + 1} WHERE id IN (${of(({ ends }) => ends === 'after')})`,
        ],
        { org: ada.org },
      )
      clock.advance(10)
    })

    const admitted = (rule: (memory: Memory) => boolean): number[] =>
      [...ids].flatMap(([memory, id]) => (rule(memory) ? [id] : [])).sort((a, b) => a - b)
    const inOrder = (found: readonly number[]) => [...found].sort((a, b) => a - b)

    for (const [who, scope] of callers)
      it(`to ${who}, in reads, pages, totals, threads, names, statistics, words and vectors`, async () => {
        const { entries, connection, clock } = made
        const wanted = admitted((memory) => isListed(scope, memory))
        const all = [...ids.values()]
        const read = [...(await entries.read(scope, all.slice(0, 100))), ...(await entries.read(scope, all.slice(100)))]
        expect(inOrder(read.map(({ id }) => id))).toEqual(admitted((memory) => isReadable(scope, memory)))

        const page = await entries.page(scope, EVERYTHING, { limit: 300, offset: 0, previewLength: 10 })
        expect([inOrder(page.entries.map(({ id }) => id)), page.total]).toEqual([wanted, wanted.length])
        const { threads } = await entries.threads(scope, { limit: 100, offset: 0 })
        expect(threads.reduce((sum, thread) => sum + thread.entries, 0)).toBe(wanted.length)
        expect((await entries.statistics(scope)).entries).toBe(wanted.length)

        const directory = createSqlDirectory(connection, clock)
        const names = await directory.threads(scope, null, 100)
        expect(names).toEqual(
          threads.map(({ threadId, lastSecond, lastId, entries: count }) => ({
            threadId,
            lastSecond,
            lastId,
            entries: count,
          })),
        )
        expect(
          inOrder((await directory.threadsBeginning(scope, 't', 100)).map((name) => Number(name.slice(1)))),
        ).toEqual(inOrder(threads.map(({ threadId }) => Number(threadId.slice(1)))))
        const tails = await Promise.all(names.map(({ threadId }) => directory.tail(scope, threadId, 100, 1e6)))
        expect(inOrder(tails.flatMap(({ entries: of }) => of.map(({ id }) => id)))).toEqual(wanted)
        expect(tails.map(({ total }) => total)).toEqual(names.map(({ entries: count }) => count))
        for (const project of ['a', 'b']) {
          const counted = admitted((memory) => isListed(scope, memory) && memory.project === project).length
          const overview = await directory.project(scope, project, { decisions: 5, inFlight: 5, previewLength: 10 })
          expect(overview?.counts.reduce((sum, { count }) => sum + count, 0) ?? 0).toBe(counted)
          expect(await directory.projectsBeginning(scope, project, 5)).toEqual(counted > 0 ? [project] : [])
        }
        const source = { op: 'source', is: 'user' } as const
        expect((await entries.page(scope, source, { limit: 1, offset: 0, previewLength: 1 })).total).toBe(wanted.length)

        const { ordering } = await createSearchText({ ...made })(scope, 'walrus', 'match', EVERYTHING)
        expect(inOrder(ordering.map(({ id }) => id))).toEqual(wanted)
        const vectors = createSqlVectorRows(connection, clock)
        const scanned: number[] = []
        for (let after: number | null = 0; after !== null; ) {
          const step = await vectors.scan(scope, MODEL, EVERYTHING, after, 7)
          scanned.push(...step.rows.map(({ entryId }) => entryId))
          after = step.last
        }
        expect(inOrder(scanned)).toEqual(wanted)
        expect((await vectors.counts(scope, MODEL)).entries).toBe(wanted.length)
      })

    it('to questions about some layers, no other layers', async () => {
      const { connection, clock } = made
      const { dialect } = connection
      for (const layers of [[1], [2, 3], [1, 2, 3]] as const) {
        const [found, shown] = await connection.batch([
          sql`SELECT e.id FROM entries e WHERE ${visible(dialect, ada, clock.ms, 'e', { layers })} ORDER BY e.id`,
          sql`SELECT e.id FROM entries e WHERE ${listed(dialect, ada, clock.ms, 'e', { layers })} ORDER BY e.id`,
        ])
        const of = (layer: Layer) => (layers as readonly Layer[]).includes(layer)
        expect(found?.map(({ id }) => id)).toEqual(admitted((one) => of(one.layer) && isReadable(ada, one)))
        expect(shown?.map(({ id }) => id)).toEqual(admitted((one) => of(one.layer) && isListed(ada, one)))
      }
    })
  })
}
