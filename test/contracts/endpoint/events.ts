import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { backend, unique, useSession } from './session'

const TOKEN = `ghp_${'a1B2'.repeat(10)}`

/** Events of coding agents over MCP (fabric contract §7). */
export function eventContract(connect: Connect): void {
  const session = useSession(connect)
  const { ok } = session
  const eventOf = (type: string, payload: object, more: object = {}) => ({
    event: {
      ...{ type, payload, timestamp: '2026-02-25T10:00:00+01:00', sessionId: 'session-1', cliType: 'claude-code' },
      ...more,
    },
  })
  const report = (type: string, payload: object, projectPath: string, more: object = {}) =>
    ok('context_reportEvent', eventOf(type, payload, { projectPath, ...more }))
  const got = (memoryId: string) => ok('context_get', { memoryId })
  const total = async (projectPath: string) => (await ok('context_list', { stats: true, projectPath })).total

  describe('events on the wire', () => {
    it('[FABRIC-89] stores an event with its origin, session, client and time, and answers with every id', async () => {
      const projectPath = unique('events')
      const noted = await report('command_executed', { command: 'npm test', output: '1 failed' }, projectPath)
      expect([noted.triggeredActions, noted.memoryIds.length]).toEqual([['stored_command'], 1])
      const ran = { command: 'npm test', output: '2 tests\n1 failed', exitCode: 1 }
      const failed = await report('command_executed', ran, projectPath)
      expect(failed).toMatchObject({
        ...{ processed: true, memoryId: failed.memoryIds[0], similar: [], similarCount: 0 },
        triggeredActions: ['stored_command', 'stored_error_memory', 'searched_similar_errors'],
        message: 'Error recorded. No similar error known.',
      })
      const [working, bug] = [await got(failed.memoryIds[0]), await got(failed.memoryIds[1])]
      expect([failed.memoryIds.length, working.layer, bug.layer]).toEqual([2, 1, 2])
      expect(Date.parse(working.memory.expiresAt) - Date.parse(working.memory.createdAt)).toBe(7_200_000)
      expect(bug.memory).toMatchObject({
        ...{
          type: 'bug_fix',
          content: '1 failed\nnpm test\n2 tests\n1 failed',
          tags: ['auto_capture', 'command_failed', 'error'],
        },
        metadata: {
          ...{ source: 'system_auto', sessionId: 'session-1', cliType: 'claude-code', projectPath },
          eventTimestamp: '2026-02-25T09:00:00.000Z',
        },
      })
      const said = await report('user_feedback', { feedback: 'Shorter, please', rating: 0 }, projectPath)
      expect(said).toEqual({
        ...{ processed: true, memoryId: said.memoryId, memoryIds: [said.memoryId] },
        ...{ triggeredActions: ['stored_feedback'], message: 'Feedback recorded.' },
      })
      expect(await got(said.memoryId)).toMatchObject({ layer: 3, memory: { metadata: { source: 'user_explicit' } } })
      const layers = []
      for (const [type, payload] of [
        ['file_opened', { path: 'a.ts' }],
        ['error_occurred', { error: 'boom' }],
        ['decision_made', { decision: 'tabs' }],
        ['session_start', {}],
        ['session_end', {}],
        ['pattern_detected', { pattern: 'guards' }],
      ] as const)
        layers.push((await got((await report(type, payload, projectPath)).memoryId)).layer)
      expect(layers).toEqual([1, 2, 2, 1, 1, 3])
      const { event } = eventOf('decision_made', { decision: 'as a string' })
      const sent = { ...event, payload: JSON.stringify(event.payload) }
      expect((await ok('context_reportEvent', { event: JSON.stringify(sent) })).message).toBe('Decision recorded.')
    })

    it('[FABRIC-91] reports all problems of an event at once, and then stores nothing', async () => {
      const projectPath = unique('refused')
      const wrong = eventOf('error_occurred', { error: ' ' }, { timestamp: 'yesterday', sessionId: ' ', projectPath })
      const { data } = await session.fail('context_reportEvent', wrong)
      expect(data.code).toBe('VALIDATION_ERROR')
      expect(data.details.map(({ path }: { path: string }) => path)).toEqual([
        ...['event.timestamp', 'event.sessionId', 'event.payload.error'],
      ])
      const bad = [
        ...[{}, { event: {} }, { event: 'x' }, { ...eventOf('session_start', {}), more: 1 }],
        ...[eventOf('birthday', {}), eventOf('session_start', {}, { cliType: 'emacs' })],
        ...[eventOf('session_start', {}, { unknown: 1 }), eventOf('session_start', {}, { sessionId: 'x'.repeat(257) })],
        ...[
          eventOf('session_start', {}, { timestamp: 1772265600000 }),
          eventOf('session_start', {}, { projectPath: ' ' }),
        ],
      ]
      for (const args of bad)
        expect((await session.fail('context_reportEvent', args)).data).toMatchObject({ code: 'VALIDATION_ERROR' })
      expect(await ok('context_list', { stats: true, projectPath })).toMatchObject({ l1: 0, l2: 0 })
    })

    it('[FABRIC-96] limits a payload and the content of a file by their bytes', async () => {
      const projectPath = unique('sized')
      const fits = { command: 'x', output: 'y'.repeat(262_144 - '{"command":"x","output":""}'.length) }
      await report('command_executed', fits, projectPath)
      const over = eventOf('command_executed', { ...fits, output: `${fits.output}y` }, { projectPath })
      expect((await session.fail('context_reportEvent', over)).data.error).toContain('262145 bytes')
      const large = { path: 'b.txt', content: 'z\n'.repeat(524_288) }
      expect((await report('file_opened', large, projectPath)).triggeredActions).toContain('indexed_file')
      const larger = eventOf('file_opened', { ...large, content: `${large.content}z` }, { projectPath })
      expect((await session.fail('context_reportEvent', larger)).data.error).toContain('1048577 bytes')
    })

    it('[FABRIC-95] finds the fix of an error: memories that hold most of its line, of the project and of layer 3 at home, captured errors last', async () => {
      const projectPath = unique('similar')
      const error = "TypeError: Cannot read properties of undefined (reading 'email')"
      const first = await report('error_occurred', { error, file: 'src/users.ts', line: 42 }, projectPath)
      expect(first.message).toBe('Error recorded. No similar error known.')
      const [store, home] = [
        { metadata: { projectPath } },
        { layer: 3, metadata: { projectPath: unique('elsewhere') } },
      ]
      const content = 'Reading email of undefined properties: load the user before you greet. TypeError no more.'
      const fix = await ok('context_store', { type: 'bug_fix', content, ...store })
      const foreign = { type: 'decision', content: error, ...home }
      await ok('context_store', foreign)
      const metadata = { ...home.metadata, tags: ['universal'] }
      const meant = await ok('context_store', { ...foreign, content: `Universally: ${error}`, metadata })
      await report('command_executed', { command: 'cat log', output: error }, projectPath)
      const second = await report('error_occurred', { error, file: 'src/other.ts' }, projectPath)
      const ids = ({ similar }: { similar: { id: string }[] }) => similar.map(({ id }) => id)
      expect(new Set(ids(second).slice(0, 2))).toEqual(new Set([fix.id, meant.id]))
      expect([ids(second)[2], second.similarCount]).toEqual([first.memoryId, 3])
      const { createdAt } = (await got(fix.id)).memory
      const told = second.similar.find(({ id }: { id: string }) => id === fix.id)
      expect(told).toEqual({ id: fix.id, type: 'bug_fix', similarity: expect.any(Number), content, createdAt })
      expect(told.similarity).toBeGreaterThanOrEqual(0.87)
      expect(second.message).toMatch(/^Error recorded\. Found 3 similar memories: (fix|decision) \[\d+\], today\.$/)
      expect((await report('error_occurred', { error: 'Disk is full' }, projectPath)).similar).toEqual([])
      const other = await report('error_occurred', { error }, unique('other'))
      expect(ids(other)).toEqual([meant.id])
      expect(other.message).toBe(`Error recorded. Found 1 similar memory: decision [${meant.id}], today.`)
      for (let i = 0; i < 5; i++) await report('error_occurred', { error, file: `src/${i}.ts` }, projectPath)
      const command = { command: 'npm run build', output: `> build\n${error}`, exitCode: 1 }
      const many = await report('command_executed', command, projectPath)
      expect([many.similar.length, many.similarCount]).toEqual([5, 9])
    })

    it('names the memory that supersedes a similar one, after current memories', async () => {
      const projectPath = unique('superseded')
      const store = async (content: string, metadata: object) =>
        (await ok('context_store', { type: 'bug_fix', content, metadata: { projectPath, ...metadata } })).id
      const error = 'TypeError: the pelican has no pier'
      const old = await store(`${error}: build a pier`, {})
      const supersededBy = await store('Move it into the marsh', { supersedes: [Number(old)] })
      const alone = await report('error_occurred', { error, file: 'a.ts' }, projectPath)
      expect([alone.similar, alone.message]).toEqual([
        [expect.objectContaining({ id: old, supersededBy })],
        `Error recorded. Found 1 similar memory: fix [${old}], today, superseded by [${supersededBy}].`,
      ])
      const stands = await store(`TypeError of a pelican: it has no pier, yet`, {})
      const { similar } = await report('error_occurred', { error, file: 'b.ts' }, projectPath)
      expect(similar.map(({ id }: { id: string }) => id).slice(0, 2)).toEqual([stands, old])
      expect(similar[0].supersededBy).toBeUndefined()
    })

    it('[FABRIC-94] counts a further report of an error in its memory, without a new version, also with many simultaneous reports', async () => {
      const projectPath = unique('/home/ada/counted')
      const failing = (n: number) => ({
        error: `Timeout after ${n} ms\n at ${n}`,
        file: `${projectPath}/src/a.ts`,
        line: n,
      })
      const first = await report('error_occurred', failing(1), projectPath)
      const before = (await got(first.memoryId)).memory
      const again = await report('error_occurred', { ...failing(2), file: 'src\\a.ts' }, projectPath)
      expect(again).toMatchObject({
        ...{ memoryId: first.memoryId, memoryIds: [first.memoryId], similar: [], similarCount: 0 },
        triggeredActions: ['counted_error_memory', 'searched_similar_errors'],
        message: 'Error recorded, seen 2 times. No similar error known.',
      })
      const { metadata, version, updatedAt, content } = (await got(first.memoryId)).memory
      expect([version, updatedAt, content]).toEqual([1, before.updatedAt, before.content])
      expect(metadata).toMatchObject({ count: 2, lastSeen: expect.stringMatching(/^\d{4}-.*Z$/) })
      await Promise.all([3, 4, 5, 6, 7].map((n) => report('error_occurred', failing(n), projectPath)))
      expect((await got(first.memoryId)).memory.metadata.count).toBe(7)
      expect(await ok('context_list', { stats: true, projectPath })).toMatchObject({ l2: 1 })
      const others = [{ ...failing(1), file: 'src/a.tsx' }, { error: 'Timeout after 1 ms' }, failing(1)]
      for (const payload of others.slice(0, 2))
        expect((await report('error_occurred', payload, projectPath)).message).toMatch(/^Error recorded\. /)
      expect((await report('error_occurred', failing(1), unique('other'))).memoryId).not.toBe(first.memoryId)
      const run = (command: string, output: string) =>
        report('command_executed', { command, output, exitCode: 1 }, projectPath)
      const [one, two] = [await run('make 1', 'cannot link 0xff12'), await run('make 1', 'ld:\nCannot link 0xa0')]
      expect(one.memoryIds[1]).toBe(two.memoryIds[1])
      expect(one.memoryIds[0]).not.toBe(two.memoryIds[0])
      expect(two.message).toMatch(/^Error recorded, seen 2 times\./)
      expect((await run('make 2', 'cannot link 0xff12')).message).toMatch(/^Error recorded\. /)
      const together = await Promise.all(
        [8, 9, 10].map((n) => report('error_occurred', { error: `race ${n}` }, projectPath)),
      )
      expect(new Set(together.map(({ memoryId }) => memoryId)).size).toBe(1)
      await ok('context_update', { memoryId: first.memoryId, content: 'Raise the limit: the disk is slow.' })
      expect((await report('error_occurred', failing(1), projectPath)).message).toMatch(
        /^Error recorded, seen 8 times\./,
      )
    })

    it('[FABRIC-100] reports likely secrets in a write of any family, or removes them with REDACT=always', async () => {
      const other = await backend().start({ REDACT: 'always' })
      const always = await connect(new URL('/mcp', other.url.href))
      const hidden = { password: 'hunter2hunter2', deep: { list: [TOKEN] } }
      const text = `Use ${TOKEN} there`
      const writes: [string, Record<string, unknown>, (answer: Record<string, string>) => unknown][] = [
        ['context_store', { type: 'decision', content: text, metadata: hidden }, ({ id }) => id],
        ['store_context', { thread_id: 't', source: 'user', text, metadata: hidden }, (answer) => answer.context_id],
        ['remember', { title: 'A key', content: text }, ({ id }) => id],
      ]
      const told = 'content holds what looks like a secret: github'
      for (const [tool, args, idOf] of writes) {
        const [warned, clean] = [await session.ok(tool, args), (await always.call(tool, args)).data]
        expect([tool, warned.warnings, clean.warnings]).toEqual([tool, [expect.stringContaining(told)], undefined])
        const kept = JSON.stringify(await session.ok('context_get', { memoryId: idOf(warned) }))
        expect(kept).toContain(TOKEN)
        // A restoration is a write too.
        const id = Number(idOf(warned))
        await session.ok('delete_context', { context_ids: [id] })
        expect((await session.ok('restore_context', { context_ids: [id] })).warnings).toEqual(warned.warnings)
        const redacted = JSON.stringify((await always.call('context_get', { memoryId: idOf(clean) })).data)
        expect(redacted).toContain('Use [redacted:github] there')
        for (const secret of [TOKEN, hidden.password]) expect(redacted).not.toContain(secret)
      }
      const plain = { type: 'decision', content: 'sk-loading-spinner-2x-wide', metadata: { title: 'A spinner' } }
      expect(await session.ok('context_store', plain)).not.toHaveProperty('warnings')
      await always.close()
      await other.stop()
    })

    it('[FABRIC-92] indexes a file that was opened, without its secrets, and warns if it cannot', async () => {
      const projectPath = unique('/home/ada/app')
      const content = `export const zygomorph = 1\nconst key = '${TOKEN}'\n`
      const path = `${projectPath}/src/a.ts`
      const opened = await report('file_opened', { path, content }, projectPath)
      expect(opened.triggeredActions).toEqual(['stored_scratchpad', 'indexed_file'])
      const { memory } = await got(opened.memoryId)
      expect(memory.metadata.codeBlock.code).toBe(content.replace(TOKEN, '[redacted:github]'))
      const search = (query: string) => ok('context_searchCode', { query, mode: 'text', projectPath })
      expect((await search('zygomorph')).results).toMatchObject([{ filePath: 'src/a.ts', language: 'typescript' }])
      expect((await search(TOKEN)).total).toBe(0)
      const changed = await report(
        'file_opened',
        { filePath: 'src/a.ts', content: 'export const other = 2' },
        projectPath,
      )
      expect(changed.triggeredActions).toContain('indexed_file')
      expect([(await search('zygomorph')).total, (await search('other')).total]).toEqual([0, 1])
      // Four spellings of one file are one memory of it.
      for (const spelt of ['./src/a.ts', 'src/a.ts', `file://${path}`])
        expect(await report('file_opened', { path: spelt }, projectPath)).toMatchObject({
          ...{ memoryId: opened.memoryId, existing: true },
        })
      const outside = await report('file_opened', { path: '/etc/hosts', content: 'x' }, projectPath)
      expect(outside.triggeredActions).toEqual(['stored_scratchpad'])
      expect(outside.warnings).toEqual([expect.stringContaining('not inside the project')])
      const homeless = await ok('context_reportEvent', eventOf('file_opened', { path: 'a.ts', content: 'x' }))
      expect(homeless.warnings).toEqual([expect.stringContaining('names no projectPath')])
      expect(await total(projectPath)).toBeGreaterThanOrEqual(3)
    })

    it('deletes the code of a file that is opened empty, and preserves it if the event has no content', async () => {
      const projectPath = unique('emptied')
      const open = async (more: Record<string, unknown>) =>
        (await report('file_opened', { path: 'a.ts', ...more }, projectPath)).triggeredActions
      const found = async () =>
        (await ok('context_searchCode', { query: 'zygomorph', mode: 'symbol', projectPath })).total
      await open({ content: 'export const zygomorph = 1' })
      for (const none of [{}, { content: null }]) expect(await open(none)).toEqual(['stored_scratchpad'])
      expect(await found()).toBe(1)
      expect(await open({ content: '' })).toEqual(['stored_scratchpad', 'indexed_file'])
      expect(await found()).toBe(0)
    })
  })
}
