import { type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { TEXTS_CHUNK } from '../../src/adapters/sql/core/write-budget'
import { createSqlEntryStore } from '../../src/adapters/sql/stores/entries/entry-store'
import { createSqlOutbox } from '../../src/adapters/sql/stores/maintenance/outbox'
import { createSqlLongTexts } from '../../src/adapters/sql/stores/texts/staged-texts'
import { LEASE_MS } from '../../src/adapters/sql/tables/outbox/outbox-rows'
import type { EntryChange } from '../../src/domain/entry/entry-write'
import type { Caller } from '../../src/domain/identity/scope'
import { NO_QUOTAS } from '../../src/domain/quota'
import type { Analyzer } from '../../src/domain/search/analysis'
import { sha256Hex } from '../../src/domain/text'
import { createOutboxWork } from '../../src/services/maintenance/outbox-work'
import { notePauses } from '../support/pauses'
import { entryOf, freshPrincipal, TestClock } from '../support/scope'

interface Made {
  readonly analyzer: Analyzer
  readonly connection: SqlConnection
  readonly clock: TestClock
}

/** Characters of the values of a transaction: all that is sent to the database. */
const sizeOf = (statements: readonly SQL[]): number =>
  statements
    .flatMap((statement) => new SQLiteSyncDialect().sqlToQuery(statement).params)
    .reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

/** Few words, so that reading them takes little: what counts here is how much there is. */
const SIZE = 950_000
const text = (name: string): string => `${name} ${'x'.repeat(SIZE)}`
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']

/** Calls that write many megabytes of text, seen transaction by transaction. */
export function textsAheadContract(name: string, make: () => Made): void {
  describe(`${name} stages long texts of one call before its transaction`, () => {
    let made: Made
    let ada: Caller
    beforeEach(() => {
      made = make()
      ada = freshPrincipal()
    })

    /** A store whose transactions are watched. @param before what happens before each, which may fail */
    function watched(before: (n: number) => unknown = () => {}, quotas = NO_QUOTAS) {
      const sizes: number[] = []
      let rests = 0
      const connection: SqlConnection = {
        ...made.connection,
        batch: async (statements, lock) => {
          sizes.push(sizeOf(statements))
          await before(sizes.length)
          return made.connection.batch(statements, lock)
        },
      }
      notePauses(() => rests++)
      return {
        store: createSqlEntryStore(connection, made.analyzer, made.clock, new Map(), quotas),
        sizes,
        rests: () => rests,
      }
    }
    const dying = (n: number) => {
      if (n > 2) throw new Error('gone')
    }
    const drafts = (names: readonly string[]) =>
      Promise.all(names.map((one) => entryOf(ada, { threadId: one, text: text(one) })))
    /** Previews of the stored long texts, and how many are awaited. */
    const standing = async () => {
      const [texts = [], awaited = []] = await made.connection.batch([
        sql`SELECT substr(text, 1, 1) AS name FROM long_texts WHERE org = ${ada.org} ORDER BY 1`,
        sql`SELECT key FROM outbox WHERE org = ${ada.org} AND topic = 'text'`,
      ])
      return [texts.map((row) => row.name).join(''), awaited.length]
    }
    const workAt = (ms: number) =>
      createOutboxWork({
        ...{ outbox: createSqlOutbox(made.connection, new TestClock(ms)), images: {} as never, deletes: {} as never },
        ...{ index: {} as never, longTexts: createSqlLongTexts(made.connection), generation: null },
        ...{ syncOrg: async () => {}, log: () => {} },
      })()
    const changeTo = async (id: number, version: number, to: string, steps = 1): Promise<EntryChange> => {
      const indexed = {
        threadId: to,
        title: null,
        project: null,
        agent: null,
        reader: '',
        layer: 2 as const,
        captured: false,
      }
      const given = { text: text(to), hash: await sha256Hex(text(to)) }
      return { id, version, steps, text: given, indexed: { ...indexed, text: text(to), metadata: null } }
    }

    it('in parts of a few megabytes with yields between them, so that its transaction contains none, and stores and changes the same', async () => {
      const { store, sizes, rests } = watched()
      const saved = await store.save(ada, await drafts(NAMES))
      // Two staged parts, the transaction, and the query for pending words.
      expect(sizes.slice(0, 2).every((size) => size > SIZE && size <= TEXTS_CHUNK)).toBe(true)
      expect(Math.max(...sizes.slice(2, 4))).toBeLessThan(100_000)
      expect(rests()).toBeGreaterThan(2)
      expect(await standing()).toEqual([NAMES.join(''), 0])
      const ids = saved.map(({ id }) => id)
      expect((await store.read(ada, ids)).map((entry) => entry.text[0])).toEqual(NAMES)

      // Each takes the text of the one before it, which no longer needs it by then.
      sizes.length = 0
      const changes = await Promise.all(ids.map((id, i) => changeTo(id, 1, NAMES[(i + 5) % 6] as string)))
      await store.change(ada, [await changeTo(ids[0] as number, 1, 'g'), ...changes.slice(1)])
      expect(Math.max(...sizes)).toBeLessThanOrEqual(TEXTS_CHUNK)
      expect((await store.read(ada, ids)).map((entry) => entry.text[0]).join('')).toBe('gabcde')
      expect(await standing()).toEqual(['abcdeg', 0])
      await store.erase(ada, { ids })
      expect(await standing()).toEqual(['', 0])
    })

    it('and leaves nothing of a call that was refused', async () => {
      const { store } = watched(undefined, { entries: 6, bytes: null })
      await store.save(ada, await drafts(['a']))
      await expect(store.save(ada, await drafts(NAMES.concat('g')))).rejects.toMatchObject({ code: 'limit_exceeded' })
      expect(await standing()).toEqual(['a', 0])
    })

    it('and leaves staged texts to the schedule when the writer died before its transaction', async () => {
      const [a] = await watched().store.save(ada, await drafts(['a']))
      await expect(watched(dying).store.save(ada, await drafts(NAMES))).rejects.toThrow('gone')
      await workAt(made.clock.now())
      expect(await standing()).toEqual(['abcdef', 6])
      await workAt(made.clock.now() + LEASE_MS)
      expect(await standing()).toEqual(['a', 0])

      // Texts deleted while they are awaited are removed when the wait ends.
      await expect(watched(dying).store.save(ada, await drafts(NAMES))).rejects.toThrow('gone')
      await watched().store.erase(ada, { ids: [a?.id as number] })
      expect(await standing()).toEqual(['abcdef', 6])
      await workAt(made.clock.now() + LEASE_MS)
      expect(await standing()).toEqual(['', 0])
    })

    it('and stores nothing when one was withdrawn before the transaction came, which may be tried again', async () => {
      const late = watched((n) => (n === 3 ? workAt(made.clock.now() + LEASE_MS) : null))
      await expect(late.store.save(ada, await drafts(NAMES))).rejects.toMatchObject({ code: 'conflict' })
      expect(await standing()).toEqual(['', 0])
      expect(await watched().store.save(ada, await drafts(NAMES))).toHaveLength(6)
      expect(await standing()).toEqual(['abcdef', 0])
    })
  })
}
