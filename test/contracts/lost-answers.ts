import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlConnection } from '../../src/adapters/sql/core/connection'
import { WRITE_BUDGET } from '../../src/adapters/sql/core/write-budget'
import type { Bindings } from '../../src/composition/isolate'
import { loadModules } from '../../src/composition/modules'
import { composeServices } from '../../src/composition/worker'
import { parseConfig } from '../../src/config'
import { unavailable } from '../../src/domain/errors'
import { WORKING_CAPACITY } from '../../src/domain/recall/layers'
import { createLog } from '../../src/http/log'
import { TOOLS } from '../../src/tools/catalogue'
import { CORE_TOOLS } from '../../src/tools/core/tools'
import { createFakeAi } from '../fakes/workers-ai'
import { writesEntries } from '../support/framed'
import { base64, freshPrincipal, pngBytes, TestClock } from '../support/scope'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

const DAY = 86_400_000
const LONG = 'A long report about the harbour and its cranes. '.repeat(20)
/** Members that hold ids, which differ from org to org. */
const IDS = /^(id|context_id|context_ids|memoryId|memoryIds|ids|replaces|evicted|summaryId)$/

/** Ids within words. */
const WORDED_ID = /(Entry |ID |supersedes:|\[#| \[)(\d+)/g

/** Answers as they would be in any org: ids in the order in which they came to be. */
function inAnyOrg(answer: Json, ids: readonly number[]): Json {
  const place = (id: Json): Json => (Array.isArray(id) ? id.map(place) : ids.indexOf(Number(id)))
  const walk = (value: Json): Json => {
    if (typeof value === 'string')
      return value
        .replaceAll(/"change_id": "[0-9a-f]{32}"/g, 'change_id')
        .replaceAll(WORDED_ID, (_, words, id) => `${words}${place(id)}`)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        key === 'change_id' ? 'c' : IDS.test(key) && member !== null ? place(member) : walk(member),
      ]),
    )
  }
  return walk(answer)
}

/** A tool by its name; a core tool has `core:` before it, since two have the name of another. */
const toolNamed = (name: string) =>
  name.startsWith('core:')
    ? CORE_TOOLS.find((one) => `core:${one.name}` === name)
    : TOOLS.find((one) => one.name === name)

/** A client's calls of every tool that writes, and changes by others to the same entries right after each call. */
async function* play(): AsyncGenerator<[tool: string, args: Json, behind?: [tool: string, args: Json]], void, Json> {
  const thread_id = 'answers'
  const draft = { thread_id, source: 'user' as const, text: LONG, images: [{ data: base64(pngBytes('answers')) }] }
  const { context_id: a } = yield ['store_context', draft]
  yield ['store_context', draft, ['update_context', { context_id: a, metadata_patch: { seen: 1 } }]]
  const batch = {
    entries: [draft, { ...draft, source: 'agent' }, { ...draft, text: ' ' }, { thread_id, source: 'user', text: 'x' }],
  }
  yield ['store_context_batch', { ...batch, atomic: false }]
  const { results } = yield ['store_context_batch', { entries: [{ thread_id: 'b', source: 'agent', text: 'of b' }] }]
  const b = results[0].context_id
  yield [
    'store_context',
    { thread_id, source: 'agent', text: 'hay '.repeat(WRITE_BUDGET / 4 + 1) },
    ['delete_context', { thread_id }],
  ]
  yield [
    'update_context',
    { context_id: b, metadata_patch: { plain: 1 } },
    ['update_context', { context_id: b, text: 'other' }],
  ]
  yield [
    'update_context',
    { context_id: b, text: LONG, tags: ['t'], metadata: { title: 'T' } },
    ['delete_context', { context_ids: [b] }],
  ]
  yield ['restore_context', { context_ids: [b, 987_654_321] }, ['delete_context', { context_ids: [b] }]]
  yield ['restore_context', { context_ids: [b] }]
  const updates = [
    { context_id: b, text: `${LONG} again` },
    { context_id: 987_654_321, tags: [] },
    { context_id: b, tags: ['u'] },
    { context_id: b, tags: ['v'], expected_version: 1 },
    { context_id: b },
  ]
  yield ['update_context_batch', { updates, atomic: false }, ['update_context', { context_id: b, text: 'later' }]]
  yield ['restore_context', { context_ids: [b], version: 1 }, ['update_context', { context_id: b, text: 'later' }]]

  const memory = {
    type: 'decision',
    content: 'We keep the cranes.',
    metadata: { projectPath: 'p', tags: ['t'], weight: 4 },
  }
  const { id: first } = yield ['context_store', { ...memory, layer: 3, ttl: 60, pinned: true }]
  const { id: second } = yield ['context_store', { ...memory, layer: 2 }, ['context_delete', { memoryId: first }]]
  const rewrite = { memoryId: second, content: 'No client retains it.' }
  yield ['context_update', { memoryId: second, tags: ['n'], weight: 5 }, ['context_update', rewrite]]
  yield [
    'context_update',
    { memoryId: second, content: 'We do.', metadata: { title: 'C' } },
    ['context_update', rewrite],
  ]
  yield ['context_update', { memoryId: second, targetLayer: 3 }, ['context_update', rewrite]]
  const { id: crowd } = yield ['context_store', { ...memory, layer: 1, ttl: 86_400 }]
  yield ['crowd', { id: crowd }]
  yield ['context_store', { ...memory, layer: 1 }]

  const { id: core } = yield ['core:remember', { title: 'Core', content: 'Of the core.', project: 'p', kind: 'adr' }]
  yield ['core:remember', { title: 'Core', content: 'Later.', project: 'p', kind: 'decision', replaces: [core] }]
  yield ['core:update', { id: core, title: 'Core 2', status: 'done' }, ['core:update', { id: core, content: 'other' }]]
  yield ['core:update', { id: core, metadata: { plain: 1 } }]
  yield ['core:restore', { id: core }, ['core:update', { id: core, content: 'later' }]]
  yield ['core:forget', { ids: [core], dry_run: true }]
  yield ['core:forget', { ids: [core] }, ['core:restore', { id: core }]]
  yield ['core:forget', { filter: { project: 'p', kind: 'idea' }, dry_run: false }]

  const page = { title: 'Cranes', content: 'The cranes of the harbour are blue.', project: 'p', kind: 'decision' }
  const { id: named } = yield ['remember', page]
  // Equal, and of the same title.
  yield ['remember', { ...page, tags: ['again'] }]
  yield ['remember', { ...page, content: 'Other words.' }]
  yield [
    'remember',
    { ...page, content: 'Later words.', related_to: [`supersedes:${named}`] },
    ['delete_context', { context_ids: [Number(named)] }],
  ]
  const event = (type: string, payload: Json) => ({
    event: { type, payload, timestamp: '2026-11-20T09:00:00Z', sessionId: 's', cliType: 'generic', projectPath: 'p' },
  })
  const failed = event('error_occurred', { error: 'TypeError: crane is not a function', file: 'a.ts', line: 3 })
  yield ['context_reportEvent', failed]
  yield ['context_reportEvent', { event: { ...failed.event, payload: { ...failed.event.payload, file: 'b.ts' } } }]
  yield ['wait', { ms: 90_000 }]
  const { memoryId: bug } = yield ['context_reportEvent', failed, ['wait', { ms: 90_000 }]]
  yield [
    'context_reportEvent',
    event('command_executed', { command: 'make', exitCode: 2 }),
    ['context_delete', { memoryId: bug }],
  ]
  yield ['context_reportEvent', event('file_opened', { path: 'src/crane.ts', content: 'export const crane = 1\n' })]
  yield ['context_delete', { memoryId: second }]
  yield ['wait', { ms: 40 * DAY }]
  yield ['context_summarize', { options: { targetTokens: 100 }, projectPath: 'p' }]
  yield ['context_summarize', { options: { targetTokens: 100 }, projectPath: 'nothing' }]

  yield ['delete_context', { context_ids: [b], dry_run: true }]
  const { change_id } = yield ['delete_context', { thread_id: 'b' }, ['wait', { ms: 60_000 }]]
  yield ['restore_context', { change_id }, ['delete_context', { context_ids: [b] }]]
  yield ['delete_context', { context_ids: [b] }]
  yield ['store_context', { ...draft, thread_id: 'c' }]
  yield ['delete_context_batch', { thread_ids: ['c'], source: 'user' }, ['store_context', { ...draft, thread_id: 'c' }]]
  yield ['delete_context', { context_ids: [b, Number(named)], erase: true }]
}

/** Answers without the ids in what they suggest to judge. */
const anyJudged = (answers: unknown[]): unknown[] =>
  JSON.parse(JSON.stringify(answers, (key, value) => (key === 'judge' ? value.replaceAll(/\d+/g, 'ID') : value)))

export interface LostAnswersUnderTest {
  readonly vars: Record<string, string>
  readonly bindings: Bindings & Required<Pick<Bindings, 'IMAGES'>>
}

/** Each call with a key whose answer was lost, made again (history contract §2). */
export function lostAnswersContract(name: string, make: () => LostAnswersUnderTest): void {
  describe(`${name} answers again what the server died on`, () => {
    const clock = new TestClock()
    const ai = createFakeAi()
    /** Whether the server dies with its next commit, and whether it is dead. */
    const death = { near: false, here: false }
    const commits = { n: 0 }
    let uploads = 0
    let bare: SqlConnection
    let services: ReturnType<typeof composeServices>
    let config: ReturnType<typeof parseConfig>
    let afterwards: Promise<unknown>[] = []

    const through = <Connection extends SqlConnection>(connection: Connection): Connection => {
      bare = connection
      const mortal = async <T>(work: () => Promise<T>): Promise<T> => {
        if (death.here) throw unavailable('dead')
        return work()
      }
      return {
        ...connection,
        read: (statements) => mortal(() => connection.read(statements)),
        batch: (statements, lock) =>
          mortal(async () => {
            const rows = await connection.batch(statements, lock)
            if (!writesEntries(statements)) return rows
            commits.n++
            if (death.near) death.here = true
            if (death.here) throw unavailable('dead')
            return rows
          }),
      }
    }

    beforeAll(async () => {
      const { vars, bindings } = make()
      config = parseConfig({
        ...{ AUTH_MODE: 'open', EMBEDDING_PROVIDER: 'workers-ai', EMBEDDING_DIM: '8', LOG_LEVEL: 'CRITICAL', ...vars },
        ...{ ENABLE_SUMMARY_GENERATION: 'true', SUMMARY_PROVIDER: 'workers-ai' },
      })
      await loadModules(config)
      const put: R2Bucket['put'] = async (...given: Parameters<R2Bucket['put']>) => {
        uploads++
        return bindings.IMAGES.put(...given)
      }
      const images = new Proxy(bindings.IMAGES, {
        get: (bucket, name) => (name === 'put' ? put : Reflect.get(bucket, name).bind(bucket)),
      })
      services = composeServices({ ...bindings, IMAGES: images, AI: ai as never }, config, {
        ...{ log: createLog('CRITICAL'), clock, through },
        waitUntil: (work) => void afterwards.push(work),
      })
    })
    afterAll(() => services.close())
    const settle = async () => {
      await Promise.all(afterwards)
      afterwards = []
    }

    /** Services that no call enters, except those that read receipts. */
    const closed = () =>
      new Proxy(services, {
        get(all, name, receiver) {
          // Which projects names mean is read again, as the credential is.
          if (name === 'receipts' || name === 'names') return Reflect.get(all, name, receiver)
          throw new Error(`a call made again enters ${String(name)}`)
        },
      })
    const call = async (org: string, tool: string, args: Json, entered = services): Promise<Json> => {
      const { name, call: run } = toolNamed(tool) as (typeof TOOLS)[number]
      const principal = { ...freshPrincipal({ org, owner: 'ada' }), action: name, tool: name }
      const { structured } = await run({ principal, services: entered, config, origin: 'http://localhost' }, args)
      return structured
    }
    /** A non-tool route, or a tool. */
    const act = async (org: string, what: string, args: Json): Promise<unknown> => {
      if (what === 'wait') return clock.advance(args.ms)
      if (what !== 'crowd') return call(org, what, args)
      await bare.batch(
        [
          sql`
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.raw(String(WORKING_CAPACITY - 1))})
            INSERT INTO entries (org, thread_id, source, layer, project, created_at, updated_at, created_by, text_hash,
              bytes, text_words, text, layer_expires_at)
            SELECT CAST(${org} AS TEXT), 'project:p', 'agent', 1, 'p', CAST(${clock.ms + 1} AS bigint),
              CAST(${clock.ms} AS bigint), 'key-1', 'h', 1, 1, 'x', CAST(${clock.ms + DAY} AS bigint) FROM n`,
        ],
        { org },
      )
      // The first call gives names to these rows' project, in a commit of its own.
      return services.names.names({ org, projects: null, owner: null }, ['p'])
    }
    const count = async (org: string) => {
      const of = (table: string) => sql`SELECT count(*) AS n FROM ${sql.raw(table)} WHERE org = ${org}`
      const rows = await bare.batch(['changes', 'audit', 'receipts', 'entry_versions'].map(of))
      return rows.map(([row]) => Number(row?.n))
    }
    const idsOf = async (org: string) => {
      const [rows = []] = await bare.batch([
        sql`SELECT DISTINCT entry_id FROM changes WHERE org = ${org} ORDER BY entry_id`,
      ])
      return rows.map(({ entry_id: id }) => Number(id))
    }

    /** Plays in an org of its own; what each call was answered, at first and, behind what others did, again. */
    async function played(
      carryOut: (org: string, tool: string, args: Json, behind: () => Promise<unknown>) => Promise<Json[]>,
    ) {
      const { org } = freshPrincipal()
      clock.ms = Date.UTC(2026, 10, 20, 9)
      const told: Json[] = []
      const calls = play()
      for (let step = await calls.next(); !step.done; ) {
        const [tool, args, behind] = step.value
        let answer: Json
        if (toolNamed(tool) !== undefined) {
          const answers = await carryOut(org, tool, { ...args, idempotency_key: `k${told.length}` }, async () => {
            if (behind) await act(org, ...behind)
          })
          answer = answers[0]
          told.push([tool, args, ...answers])
        } else answer = await act(org, tool, args)
        await settle()
        step = await calls.next(answer)
      }
      const ids = await idsOf(org)
      return told.map(([tool, args, ...answers]) => [tool, anyJudged(inAnyOrg([args, ...answers], ids))])
    }

    it('[HISTORY-8] returns the first answer again, equal in every field, for every tool that writes, if the server died directly after the write', async () => {
      const undisturbed = await played(async (org, tool, args, behind) => {
        const first = await call(org, tool, args)
        await settle()
        await behind()
        return [first, await call(org, tool, args, closed())]
      })
      const disturbed = await played(async (org, tool, args, behind) => {
        const committed = commits.n
        death.near = true
        const lost = await call(org, tool, args).catch((error) => error)
        Object.assign(death, { near: false, here: false })
        await settle()
        const died = commits.n > committed
        if (died) expect([tool, lost]).toEqual([tool, expect.objectContaining({ code: 'unavailable' })])
        await behind()
        // The dead call may have a search under way; it ends here.
        for (let trip = 0; trip < 5; trip++) await count(org)
        const [before, spent, sent] = [await count(org), ai.calls.length, uploads]
        // The file of an event is indexed by the first worker that gets to it.
        const indexes = args.event?.type === 'file_opened'
        const again = await call(org, tool, args, died && !indexes ? closed() : services)
        expect([tool, await count(org), indexes || ai.calls.length === spent]).toEqual([tool, before, true])
        expect([tool, uploads - sent]).toEqual([tool, 0])
        const { replayed, ...answer } = again
        expect([tool, replayed]).toEqual([tool, true])
        return [answer, await call(org, tool, args, closed())]
      })
      expect(disturbed).toEqual(undisturbed)
      expect(uploads).toBeGreaterThan(4)
      for (const [tool, [, first, again]] of undisturbed)
        expect([tool, again]).toEqual([tool, { ...first, replayed: true }])
      // Everything that an answer may contain was included.
      const all = JSON.stringify(undisturbed)
      for (const part of [
        'summary preserved',
        'summary regenerated',
        'evicted',
        'similarity',
        'indexed_file',
        'restorable_until',
      ])
        expect(all).toContain(part)
      for (const part of [
        'ttl applies',
        'same title',
        'Summary of',
        'is at version',
        'would_delete',
        'not found',
        '"skipped":[{',
      ])
        expect(all).toContain(part)
      const names = [...TOOLS, ...CORE_TOOLS].map((one) => (CORE_TOOLS.includes(one) ? `core:${one.name}` : one.name))
      const writing = names.filter((name) => toolNamed(name)?.annotations.readOnlyHint === false)
      expect(new Set(undisturbed.map(([tool]) => tool))).toEqual(new Set(writing))
    })
  })
}
