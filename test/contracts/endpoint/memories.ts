import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { unique, useSession } from './session'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** An event that needs nothing. */
const SESSION_START = {
  type: 'session_start',
  payload: {},
  timestamp: '2026-02-25T10:00:00Z',
  sessionId: 's',
  cliType: 'generic',
}

/** Storing, reading, changing and listing memories over MCP (fabric contract §1–§3). */
export function memoryContract(connect: Connect): void {
  const session = useSession(connect)
  const { ok } = session
  const store = (content: string, metadata: object = {}, args: object = {}) =>
    ok('context_store', { type: 'decision', content, metadata, ...args })
  const memoryOf = async (id: string) => (await ok('context_get', { memoryId: id })).memory
  const code = async (name: string, args: Record<string, unknown>) => (await session.fail(name, args)).data.code
  const listed = async (args: object) =>
    (await ok('context_list', args as Record<string, unknown>)).memories.map(({ id }: { id: string }) => id)

  describe('memories on the wire', () => {
    it('[FABRIC-2] marks reads as read-only and idempotent, changes as destructive, and no tool as open to the world', async () => {
      const tools = (await session.client.tools()).filter(({ name }) => name.startsWith('context_'))
      for (const { name, annotations } of tools) {
        const reads = ['get', 'getCurrent', 'list', 'orient', 'recall', 'searchCode', 'setup'].includes(
          name.slice('context_'.length),
        )
        expect([name, annotations.readOnlyHint, annotations.idempotentHint]).toEqual([name, reads, reads])
        expect(annotations).toMatchObject({
          openWorldHint: false,
          destructiveHint: /update|delete|summarize/.test(name),
        })
      }
    })

    it('[FABRIC-17] shows a memory with its metadata, their defaults, times in ISO and its id as a string', async () => {
      const projectPath = unique('project')
      const { id } = await store('we ship on Tuesdays', {
        projectPath,
        tags: ['Deploy', 'deploy '],
        own: { deep: [1] },
      })
      expect(id).toMatch(/^\d+$/)
      const memory = await memoryOf(id)
      expect(memory).toEqual({
        ...{ id, type: 'decision', content: 'we ship on Tuesdays', tags: ['deploy'], pinned: false },
        metadata: {
          ...{ own: { deep: [1] }, tags: ['deploy'], confidence: 0.8, source: 'ai_inferred', cliType: 'generic' },
          ...{ weight: 3, projectPath },
        },
        ...{ createdAt: expect.stringMatching(ISO), updatedAt: memory.createdAt, accessCount: 1, version: 1 },
        by: expect.stringMatching(/key_\w+/),
      })
      const working = await store('soon gone', {}, { layer: 1, ttl: 60 })
      const { createdAt, expiresAt } = await memoryOf(working.id)
      expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(60_000)
    })

    it('[FABRIC-9] accepts an id as string or number, and answers NOT_FOUND for an impossible one', async () => {
      const { id } = await store('numbered')
      for (const memoryId of [id, Number(id)])
        expect((await ok('context_get', { memoryId })).memory).toMatchObject({ id, content: 'numbered' })
      for (const memoryId of ['0', 'abc', '999999999', -1, '1.5', ''])
        for (const tool of ['context_get', 'context_delete'])
          expect((await session.fail(tool, { memoryId })).data).toEqual({
            error: `Memory not found: ${memoryId}`,
            code: 'NOT_FOUND',
          })
      expect(await code('context_get', {})).toBe('VALIDATION_ERROR')
      expect((await session.fail('context_get', { memoryId: true })).data).toEqual({
        error: 'memoryId must be a string or an integer',
        code: 'VALIDATION_ERROR',
        details: [{ path: 'memoryId', message: 'given boolean true; an example is "42"' }],
      })
      expect(await code('context_update', { memoryId: 'abc', pinned: true })).toBe('NOT_FOUND')
    })

    it('[FABRIC-7] refuses unknown arguments, stores unknown keys of metadata, and accepts JSON strings', async () => {
      const error = await session.fail('context_store', { type: 'decision', content: 'x', metadata: {}, nonsense: 1 })
      expect(JSON.parse(error.text)).toEqual(error.data)
      expect(error.data).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'nonsense' }] })
      const { id } = await ok('context_store', {
        ...{ type: 'bug_fix', content: 'lenient', pinned: 'true', layer: '2' },
        metadata: JSON.stringify({ tags: ['a'], weight: '4', mine: null }),
      })
      expect(await memoryOf(id)).toMatchObject({ pinned: true, metadata: { mine: null, weight: 4 }, tags: ['a'] })
      expect((await ok('context_list', { stats: 'true' })).total).toBeGreaterThan(0)
      expect(await code('context_store', { type: 'decision', content: 'x', metadata: '{"a":' })).toBe(
        'VALIDATION_ERROR',
      )
      expect(await code('context_store', { type: 'decision', content: 'x' })).toBe('VALIDATION_ERROR')
    })

    it('[FABRIC-11] treats a project as an opaque key without trailing slashes, the same in every family', async () => {
      const project = unique('/home/Ada/app')
      const { id } = await store('keyed', { projectPath: ` ${project}// ` })
      expect((await memoryOf(id)).metadata.projectPath).toBe(project)
      expect(await listed({ projectPath: `${project}/` })).toEqual([id])
      // Names are compared without case.
      expect(await listed({ projectPath: project.toLowerCase() })).toEqual([id])
      const filter = { key: 'project', operator: 'eq', value: project }
      const [entry] = (await ok('search_context', { metadata_filters: [filter] })).results
      expect(entry).toMatchObject({ id: Number(id), thread_id: `project:${project}` })
      const other = await session.store('from a thread', { metadata: { project: `${project}/` } })
      expect(await listed({ projectPath: project })).toEqual([String(other), id])
      for (const projectPath of ['  ', 'x'.repeat(241)]) {
        expect(await code('context_list', { projectPath })).toBe('VALIDATION_ERROR')
        expect(await code('context_store', { type: 'decision', content: 'x', metadata: { projectPath } })).toBe(
          'VALIDATION_ERROR',
        )
      }
    })

    it('[FABRIC-14, FABRIC-153] hides layers 1 and 2 of a project from calls that name another, and opens layer 3 to all', async () => {
      const [here, there] = [unique('here'), unique('there')]
      const ids = []
      for (const layer of [1, 2, 3]) ids.push((await store(`layer ${layer}`, { projectPath: here }, { layer })).id)
      const [working, plain, semantic] = ids as [string, string, string]
      const homeless = (await store('of none', {}, { layer: 2 })).id
      for (const memoryId of [working, plain, homeless]) {
        expect(await code('context_get', { memoryId, projectPath: there })).toBe('NOT_FOUND')
        expect(await code('context_update', { memoryId, projectPath: there, pinned: true })).toBe('NOT_FOUND')
        expect(await code('context_update', { memoryId, projectPath: there, targetLayer: 3 })).toBe('NOT_FOUND')
        expect(await code('context_delete', { memoryId, projectPath: there })).toBe('NOT_FOUND')
        expect((await memoryOf(memoryId)).version).toBe(1)
      }
      for (const layer of [1, 2]) expect(await listed({ layer, projectPath: there })).toEqual([])
      expect(await ok('context_list', { stats: true, projectPath: there })).toMatchObject({ l1: 0, l2: 0 })
      expect(await listed({ layer: 3, projectPath: there })).toContain(semantic)
      expect((await ok('context_get', { memoryId: semantic, projectPath: there })).layer).toBe(3)
    })

    it('[FABRIC-17] finds memories by the threads tools, and shows entries of threads as memories', async () => {
      const projectPath = unique('shared')
      const metadata = { projectPath, tags: ['zebra'], title: 'Stripes' }
      const { id } = await ok('context_store', { type: 'bug_fix', content: 'the zygomorph was upside down', metadata })
      const { results } = await ok('fts_search_context', { query: 'zygomorph', tags: ['zebra'] })
      expect(results).toMatchObject([{ id: Number(id), metadata: { title: 'Stripes', kind: 'bug_fix' } }])
      const entry = await session.store('said in a thread', { metadata: { project: projectPath, report_type: 'rule' } })
      expect((await ok('context_get', { memoryId: entry })).memory).toMatchObject({
        ...{ id: String(entry), type: 'convention' },
        metadata: { report_type: 'rule', source: 'user_explicit', projectPath },
      })
    })
  })

  describe('layers', () => {
    it('[FABRIC-28] chooses the layer by the first rule that matches', async () => {
      const layerOf = async (type: string, tags: string[] = [], args: object = {}) =>
        (await ok('context_store', { type, content: `${type} ${unique()}`, metadata: { tags }, ...args })).layer
      expect(await layerOf('decision', ['TEMP', 'global'], { layer: 3 })).toBe(3)
      expect(await layerOf('decision', [' Temporary ', 'global', 'project'])).toBe(1)
      expect(await layerOf('scratchpad', ['universal', 'local'], { ttl: 60 })).toBe(3)
      expect(await layerOf('code_pattern', ['local'], { ttl: 60 })).toBe(2)
      expect(await layerOf('code_pattern', [], { ttl: 60 })).toBe(1)
      expect(await layerOf('scratchpad')).toBe(1)
      for (const type of ['code_pattern', 'convention', 'relationship']) expect(await layerOf(type)).toBe(3)
      for (const type of ['decision', 'bug_fix']) expect(await layerOf(type)).toBe(2)
      expect(await code('context_store', { type: 'note', content: 'x', metadata: {} })).toBe('VALIDATION_ERROR')
    })

    it('[FABRIC-29] applies a ttl in layer 1 only, with an hour by default, and warns in other layers', async () => {
      const lasts = async (args: object) => {
        const { createdAt, expiresAt } = await memoryOf((await store(`timed ${JSON.stringify(args)}`, {}, args)).id)
        return (Date.parse(expiresAt) - Date.parse(createdAt)) / 1000
      }
      expect([await lasts({ layer: 1 }), await lasts({ ttl: 31_536_000 })]).toEqual([3600, 31_536_000])
      for (const layer of [2, 3]) {
        const stored = await store('lasting', {}, { layer, ttl: 60 })
        expect(stored.warnings).toEqual(['ttl applies to layer 1 only'])
        expect(await memoryOf(stored.id)).not.toHaveProperty('expiresAt')
      }
      for (const ttl of [0, 31_536_001, 1.5])
        expect(await code('context_store', { type: 'decision', content: 'x', metadata: {}, ttl })).toBe(
          'VALIDATION_ERROR',
        )
    })

    it('[FABRIC-38, FABRIC-160] promotes in one step to the requested layer and keeps the properties of a memory', async () => {
      const projectPath = unique('promoted')
      const stored = await store(
        'rises',
        { projectPath, tags: ['kept', 'temp'], title: 'T', weight: 5 },
        { pinned: true },
      )
      expect(stored).toEqual({ id: stored.id, success: true, layer: 1, pinned: true })
      const before = await memoryOf(stored.id)
      const promoted = await ok('context_update', { memoryId: stored.id, targetLayer: 3 })
      expect(promoted).toEqual({ success: true, memoryId: stored.id, newLayer: 3 })
      const { expiresAt: _, ...rest } = before
      const after = await ok('context_get', { memoryId: stored.id })
      const moved = { version: 2, accessCount: 2, updatedAt: after.memory.updatedAt }
      expect(after).toEqual({ layer: 3, memory: { ...rest, ...moved } })
    })

    it('[FABRIC-40] refuses promotion to the present or a lower layer, and together with a change', async () => {
      const { id: memoryId } = await store('stays', {}, { layer: 2 })
      expect(await code('context_update', { memoryId, targetLayer: 2 })).toBe('CONFLICT')
      expect(await code('context_update', { memoryId, targetLayer: 1 })).toBe('VALIDATION_ERROR')
      expect(await code('context_update', { memoryId, targetLayer: 3, pinned: true })).toBe('VALIDATION_ERROR')
      expect((await ok('context_get', { memoryId })).memory.version).toBe(1)
    })
  })

  describe('storing and changing memories', () => {
    it('[FABRIC-43] stores verbatim and checks every known key of metadata', async () => {
      const content = '  two spaces,\n\n a tab\t and the end \n'
      expect((await memoryOf((await store(content)).id)).content).toBe(content)
      const wrong: [string, unknown][] = [
        ...([
          ['tags', [1]],
          ['title', 5],
          ['confidence', 1.1],
          ['source', 'me'],
        ] as [string, unknown][]),
        ...([
          ['weight', 6],
          ['weight', 2.5],
          ['cliType', 1],
          ['fileContext', { lineStart: 1 }],
        ] as [string, unknown][]),
        ...([
          ['fileContext', { path: 'a', lineEnd: 0 }],
          ['codeBlock', { code: 'x' }],
        ] as [string, unknown][]),
      ]
      for (const [key, value] of wrong) {
        const args = { type: 'decision', content: 'x', metadata: { [key]: value } }
        expect((await session.fail('context_store', args)).data).toMatchObject({
          code: 'VALIDATION_ERROR',
          details: [{ path: `metadata.${key}` }],
        })
      }
      for (const blank of ['', ' \n '])
        expect(await code('context_store', { type: 'decision', content: blank, metadata: {} })).toBe('VALIDATION_ERROR')
      const long = { type: 'decision', content: 'é'.repeat(500_001), metadata: {} }
      expect(await code('context_store', long)).toBe('VALIDATION_ERROR')
      const file = { fileContext: { path: 'a.ts', lineStart: 1, lineEnd: 2, language: 'ts' } }
      const block = { codeBlock: { code: 'x()', language: 'ts', filePath: 'a.ts' } }
      expect((await memoryOf((await store('code', { ...file, ...block })).id)).metadata).toMatchObject({
        ...file,
        ...block,
      })
    })

    it('[FABRIC-12] accepts the project as an argument of every tool that has one, and refuses two that differ', async () => {
      const [projectPath, other] = [unique('/home/ada/everywhere'), unique('other')]
      const draft = { type: 'decision', content: 'A zygomorphic flower.', metadata: {}, sessionId: 's-1' }
      const { id: memoryId } = await ok('context_store', { ...draft, projectPath: `${projectPath}/` })
      const { metadata } = await memoryOf(memoryId)
      expect(metadata).toMatchObject({ projectPath, sessionId: 's-1' })
      const event = SESSION_START
      const { memoryId: started } = await ok('context_reportEvent', { event, projectPath })
      expect((await memoryOf(started)).metadata.projectPath).toBe(projectPath)
      const found = await ok('context_recall', { query: 'zygomorphic', mode: 'keyword', projectPath })
      expect(found.results.map(({ memory }: { memory: { id: string } }) => memory.id)).toEqual([memoryId])
      expect((await ok('context_recall', { query: 'zygomorphic', mode: 'keyword', projectPath: other })).total).toBe(0)
      for (const [tool, args] of [
        ['context_store', { ...draft, metadata: { projectPath: other }, projectPath }],
        ['context_reportEvent', { event: { ...event, projectPath: other }, projectPath }],
        ['context_recall', { query: 'x', filter: { projectPath: other }, projectPath }],
        ['context_store', { ...draft, sessionId: 'x'.repeat(257) }],
      ] as const)
        expect([tool, await code(tool, args)]).toEqual([tool, 'VALIDATION_ERROR'])
    })

    it('[FABRIC-12] reports the argument of a wrong project, the other problems and the right form, in every tool', async () => {
      const wrong = async (tool: string, args: Record<string, unknown>) => {
        const { data } = await session.fail(tool, args)
        expect(data.code).toBe('VALIDATION_ERROR')
        for (const { message } of data.details) expect(message).toContain('an example is')
        return [data.error, ...data.details.map(({ path }: { path: string }) => path)]
      }
      const draft = { type: 'decision', content: 'x', metadata: {} }
      const event = SESSION_START
      const long = 'e'.repeat(241)
      const tooLong = (path: string) => `${path} is longer than 240 characters`
      const differ = (one: string, other: string) => `${one} and ${other} name different projects; give one of them`
      expect(await wrong('context_store', { ...draft, projectPath: long })).toEqual([
        tooLong('projectPath'),
        'projectPath',
      ])
      expect(await wrong('context_store', { ...draft, metadata: { projectPath: long }, content: '' })).toEqual([
        `content cannot be empty or whitespace; ${tooLong('metadata.projectPath')}`,
        ...['content', 'metadata.projectPath'],
      ])
      expect(
        await wrong('context_store', {
          ...{ type: 'decision', content: 'x', projectPath: 'a', pinned: true, layer: 9 },
          metadata: { projectPath: 'b', project: 'c', pinned: false, cliType: 5 },
        }),
      ).toEqual([
        [
          ...['layer must be at most 3', 'metadata.cliType must be a string'],
          ...[differ('projectPath', 'metadata.projectPath'), differ('projectPath', 'metadata.project')],
          'pinned and metadata.pinned differ; give one of them',
        ].join('; '),
        ...['layer', 'metadata.cliType', 'metadata.projectPath', 'metadata.project', 'pinned'],
      ])
      const { id: memoryId } = await store('is there')
      for (const [tool, args] of [
        ['context_get', { offset: -1 }],
        ['context_update', { weight: 9 }],
        ['context_delete', { expected_version: 0 }],
      ] as const)
        expect((await wrong(tool, { memoryId, projectPath: ' ', ...args })).slice(1)).toEqual([
          ...[Object.keys(args)[0], 'projectPath'],
        ])
      expect(await wrong('context_update', { memoryId, content: ' ', metadata: { projectPath: long } })).toEqual([
        `content cannot be empty or whitespace; ${tooLong('metadata.projectPath')}`,
        ...['content', 'metadata.projectPath'],
      ])
      for (const tool of ['context_get', 'context_delete'])
        expect(await wrong(tool, { memoryId, projectPath: long })).toEqual([tooLong('projectPath'), 'projectPath'])
      expect(await wrong('context_reportEvent', { event, projectPath: long })).toEqual([
        tooLong('projectPath'),
        'projectPath',
      ])
      expect(
        await wrong('context_reportEvent', {
          event: { ...event, type: 'command_executed', payload: { exitCode: 'x' }, projectPath: 'a' },
          projectPath: 'b',
        }),
      ).toEqual([
        [
          differ('event.projectPath', 'projectPath'),
          ...['event.payload.command is missing or empty', 'event.payload.exitCode must be a whole number'],
        ].join('; '),
        ...['projectPath', 'event.payload.command', 'event.payload.exitCode'],
      ])
      expect(await wrong('context_recall', { query: ' ', projectPath: 'a', filter: { projectPath: 'b' } })).toEqual([
        `query must not be blank; ${differ('projectPath', 'filter.projectPath')}`,
        ...['query', 'filter.projectPath'],
      ])
    })

    it('[FABRIC-47] returns a part of a content by code points, with the length of the complete content', async () => {
      const { id: memoryId } = await store('🦊0123456789')
      const part = async (given: object) => {
        const { content, length, truncated } = (await ok('context_get', { memoryId, ...given })).memory
        return [content, length, truncated]
      }
      expect(await part({})).toEqual(['🦊0123456789', undefined, undefined])
      expect(await part({ offset: 1, limit: 4 })).toEqual(['0123', 11, true])
      expect(await part({ limit: 1 })).toEqual(['🦊', 11, true])
      expect(await part({ offset: 7 })).toEqual(['6789', 11, undefined])
      expect(await part({ offset: 11 })).toEqual(['', 11, undefined])
      for (const given of [{ offset: -1 }, { limit: 0 }])
        expect(await code('context_get', { memoryId, ...given })).toBe('VALIDATION_ERROR')
    })

    it('[FABRIC-23] lists twenty memories within 2,500 tokens, and answers a store, an update and a delete within 250', async () => {
      const projectPath = unique('/home/ada/a-project-of-usual-length')
      const tokens = (answer: object) => Math.ceil(JSON.stringify(answer).length / 4)
      const file = {
        fileContext: { path: 'src/services/keep/memories.ts' },
        codeBlock: { code: 'x '.repeat(900), language: 'ts' },
      }
      let memoryId = ''
      for (let n = 0; n < 21; n++) {
        const tags = Array.from({ length: 8 }, (_, i) => `tag-${i}`)
        const metadata = { projectPath, tags, title: `${n} ${'long title '.repeat(10)}`.trim(), ...file }
        const content = `${n} ${'What was decided and why it was. '.repeat(n === 0 ? 9_000 : 40)}`
        const stored = await ok('context_store', { type: 'decision', content, metadata })
        expect(tokens(stored)).toBeLessThanOrEqual(250)
        memoryId = stored.id
      }
      const listed = await ok('context_list', { projectPath })
      expect([listed.memories.length, listed.total]).toEqual([20, 21])
      expect(tokens(listed)).toBeLessThanOrEqual(2_500)
      const [first] = listed.memories
      expect(first).toMatchObject({ id: memoryId, truncated: true, pinned: false, tags: expect.any(Array) })
      expect(first.length).toBeGreaterThan(first.content.length)
      expect(first.metadata).not.toHaveProperty('codeBlock')
      expect(first.metadata).not.toHaveProperty('projectPath')
      const all = await ok('context_list', { projectPath, limit: 100 })
      expect(all.memories.at(-1).length).toBeGreaterThan(290_000)
      const plain = { projectPath, type: 'decision', content: 'plain '.repeat(400), metadata: {} }
      const { id } = await ok('context_store', plain)
      const updated = await ok('context_update', { memoryId: id, content: 'new '.repeat(400) })
      expect([updated.memory.truncated, updated.memory.length]).toEqual([true, 1600])
      expect(tokens(updated)).toBeLessThanOrEqual(250)
      expect(tokens(await ok('context_delete', { memoryId: id }))).toBeLessThanOrEqual(250)
    })

    it('[FABRIC-46] answers a store of an equal memory with its id, joins the tags and changes nothing else', async () => {
      const projectPath = unique('equal')
      const draft = {
        type: 'decision',
        content: 'We ship on Fridays.',
        metadata: { projectPath, tags: ['a'], weight: 4 },
      }
      const first = await ok('context_store', draft)
      expect(first.existing).toBeUndefined()
      const again = await ok('context_store', { ...draft, metadata: { projectPath, tags: ['A'] } })
      expect(again).toEqual({ id: first.id, success: true, layer: 2, pinned: false, existing: true })
      expect((await ok('context_get', { memoryId: first.id })).memory.version).toBe(1)
      const joined = await ok('context_store', {
        ...draft,
        pinned: true,
        metadata: { projectPath, tags: ['b'], weight: 5 },
      })
      expect([joined.id, joined.pinned]).toEqual([first.id, false])
      expect(joined.warnings).toEqual([expect.stringContaining('metadata.weight, pinned')])
      expect((await ok('context_get', { memoryId: first.id })).memory).toMatchObject({
        ...{ tags: ['a', 'b'], version: 2, pinned: false, metadata: { weight: 4 } },
      })
      for (const other of [
        { ...draft, type: 'convention', layer: 2 },
        { ...draft, layer: 3 },
        { ...draft, content: `${draft.content} ` },
        { ...draft, metadata: { projectPath: unique('equal') } },
      ])
        expect((await ok('context_store', other)).existing).toBeUndefined()
      const note = { type: 'scratchpad', content: 'for now', metadata: { projectPath } }
      const short = await ok('context_store', { ...note, ttl: 60 })
      const long = await ok('context_store', { ...note, ttl: 3000 })
      expect([long.id, long.existing]).toEqual([short.id, true])
      const { createdAt, expiresAt } = (await ok('context_get', { memoryId: short.id })).memory
      expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBeGreaterThanOrEqual(3_000_000)
      const many = await Promise.all([1, 2, 3, 4, 5].map(() => ok('context_store', { ...draft, content: 'at once' })))
      expect(new Set(many.map(({ id }) => id)).size).toBe(1)
      await ok('context_delete', { memoryId: first.id })
      expect((await ok('context_store', draft)).existing).toBeUndefined()
    })

    it('reports how an equal memory differs, and which one supersedes it, and nothing about equal values', async () => {
      const projectPath = unique('same')
      const again = async (metadata: object) => {
        const call = {
          type: 'decision',
          content: 'We ship on Fridays.',
          metadata,
          projectPath,
          idempotency_key: unique(),
        }
        const told = await ok('context_store', call)
        expect(await ok('context_store', call)).toEqual({ ...told, replayed: true })
        return told
      }
      const { id } = await again({
        fileContext: { path: 'src/a.ts', lineStart: 3 },
        mine: [{ bb: 1, a: { dd: 1, c: null } }],
      })
      for (const same of [
        { fileContext: { lineStart: 3, path: './src/a.ts' }, mine: [{ a: { c: null, dd: 1 }, bb: 1 }] },
        { confidence: 0.8, source: 'ai_inferred', weight: 3, audience: 'org', pinned: false },
        { title: null, audience: null, supersedes: null },
      ])
        expect(await again(same)).toEqual({ id, success: true, layer: 2, pinned: false, existing: true })
      for (const [key, value] of Object.entries({
        mine: [{ bb: 1, a: {} }],
        audience: 'project',
        weight: 2,
        pinned: true,
      }))
        expect((await again({ [key]: value })).warnings).toEqual([
          `Memory ${id} already exists and keeps its own metadata.${key}`,
        ])
      const { id: later } = await store('We ship on Mondays.', { supersedes: [id] }, { projectPath })
      expect((await again({})).warnings).toEqual([
        `Memory ${id} already exists and is superseded by ${later}: packs leave it out`,
      ])
    })

    it('[FABRIC-48, FABRIC-159] changes only the fields that an update names, with the same tags everywhere', async () => {
      const projectPath = unique('updated')
      const { id: memoryId } = await store('old words', { projectPath, tags: ['a'], title: 'T', mine: { x: 1, y: 2 } })
      const update = async (args: object) => (await ok('context_update', { memoryId, ...args })).memory
      expect(await update({ content: ' new words ' })).toMatchObject({
        content: ' new words ',
        tags: ['a'],
        version: 2,
      })
      expect(await update({ pinned: true })).toMatchObject({ pinned: true, tags: ['a'], version: 3 })
      expect(await update({ weight: 5 })).toMatchObject({ metadata: { weight: 5, title: 'T' }, tags: ['a'] })
      const patched = await update({ metadata: { mine: { z: 3 }, title: null, confidence: 0.5 } })
      expect(patched.metadata).toMatchObject({ mine: { z: 3 }, confidence: 0.5, weight: 5, projectPath })
      expect(patched.metadata.mine).toEqual({ z: 3 })
      expect(patched.metadata).not.toHaveProperty('title')
      expect(patched).toMatchObject({ content: ' new words ', pinned: true, tags: ['a'], type: 'decision' })
      expect(await update({ metadata: { tags: ['B', 'c'] } })).toMatchObject({ tags: ['b', 'c'] })
      const other = unique('elsewhere')
      await update({ metadata: { projectPath: other } })
      expect([await listed({ projectPath }), await listed({ projectPath: other })]).toEqual([[], [memoryId]])
      const { threads } = await ok('list_threads', { limit: 100 })
      const names = threads.map(({ thread_id }: { thread_id: string }) => thread_id)
      // It stays in the thread in which it was stored.
      expect(names).toContain(`project:${projectPath}`)
      expect(names).not.toContain(`project:${other}`)
    })

    it('[FABRIC-48, FABRIC-159] keeps tags of row, metadata, filter and threads search equal after each change', async () => {
      const [first, second] = [unique('tag'), unique('tag')]
      const { id: memoryId } = await store('tagged words', { tags: [first] })
      const found = async (tag: string) => {
        const { results } = await ok('fts_search_context', { query: 'tagged words', tags: [tag] })
        return [results.length, (await listed({ tags: [tag.toUpperCase()] })).length]
      }
      expect(await found(first)).toEqual([1, 1])
      const { memory } = await ok('context_update', { memoryId, tags: [second] })
      expect([memory.tags, memory.metadata.tags]).toEqual([[second], [second]])
      expect([await found(first), await found(second)]).toEqual([
        [0, 0],
        [1, 1],
      ])
    })

    it('[FABRIC-49] refuses updates that are empty, blank, contradictory, or of layer 1', async () => {
      const { id: memoryId } = await store('firm', { tags: ['a'] })
      const invalid = [
        ...[{}, { content: ' ' }, { metadata: { weight: 0 } }, { weight: 6 }, { unknown: 1 }],
        ...[
          { tags: ['b'], metadata: { tags: ['c'] } },
          { weight: 2, metadata: { weight: 3 } },
        ],
      ]
      for (const args of invalid) expect(await code('context_update', { memoryId, ...args })).toBe('VALIDATION_ERROR')
      const same = { tags: ['B'], weight: 2, metadata: { tags: ['b '], weight: 2 } }
      expect((await ok('context_update', { memoryId, ...same })).memory).toMatchObject({ tags: ['b'], version: 2 })
      const working = await store('note', {}, { layer: 1 })
      expect((await session.fail('context_update', { memoryId: working.id, pinned: true })).data).toEqual({
        error: 'Working memories (layer 1) cannot be updated; store a new one or promote it',
        code: 'UNSUPPORTED',
      })
    })

    it('[FABRIC-49] loses no simultaneous update of another key', async () => {
      const { id: memoryId } = await store('contended')
      const keys = ['a', 'b', 'c']
      await Promise.all(keys.map((key) => ok('context_update', { memoryId, metadata: { [key]: key } })))
      expect((await memoryOf(memoryId)).metadata).toMatchObject({ a: 'a', b: 'b', c: 'c' })
    })

    it('[FABRIC-43] deletes a memory once, and reports NOT_FOUND the next time', async () => {
      const { id: memoryId } = await store('short-lived', {}, { layer: 3 })
      expect(await ok('context_delete', { memoryId })).toEqual({ success: true, deletedFrom: 3 })
      for (const tool of ['context_delete', 'context_get']) expect(await code(tool, { memoryId })).toBe('NOT_FOUND')
    })

    it('[FABRIC-154] stores fifty memories each of two simultaneous clients, all of them, under ids of their own', async () => {
      const projectPath = unique('busy')
      const other = await session.connect('/mcp')
      const stores = [session.client, other].flatMap((client, k) =>
        Array.from({ length: 50 }, (_, i) =>
          client.call('context_store', { type: 'decision', content: `note ${i} of ${k}`, metadata: { projectPath } }),
        ),
      )
      const answers = await Promise.all(stores)
      await other.close()
      expect(answers.filter(({ isError }) => isError)).toEqual([])
      expect(new Set(answers.map(({ data }) => data.id)).size).toBe(100)
      expect((await ok('context_list', { projectPath, limit: 100 })).total).toBe(100)
    })
  })

  describe('lists of memories', () => {
    it('[FABRIC-51, FABRIC-158] lists newest first with true totals by type, tags and offset', async () => {
      const projectPath = unique('listed')
      const ids: string[] = []
      for (let i = 0; i < 6; i++) {
        const args = {
          type: i % 2 ? 'bug_fix' : 'decision',
          content: `n ${i}`,
          metadata: { projectPath, tags: [`t${i % 3}`] },
        }
        ids.unshift((await ok('context_store', args)).id)
      }
      expect(await ok('context_list', { projectPath, limit: 4 })).toMatchObject({
        total: 6,
        limit: 4,
        layer: 2,
        hasMore: true,
      })
      expect(await listed({ projectPath })).toEqual(ids)
      const pages = [await listed({ projectPath, limit: 4 }), await listed({ projectPath, limit: 4, offset: 4 })]
      expect(pages.flat()).toEqual(ids)
      expect(await listed({ projectPath, type: 'bug_fix' })).toEqual([ids[0], ids[2], ids[4]])
      expect(await listed({ projectPath, tags: [' T0', 't1'] })).toEqual([ids[1], ids[2], ids[4], ids[5]])
      expect(await listed({ projectPath, tags: ['t1'], type: 'bug_fix' })).toEqual([ids[4]])
      expect(await listed({ projectPath, tags: [] })).toEqual(ids)
      const past = await ok('context_list', { projectPath, limit: 500, offset: 50 })
      expect(past).toEqual({ memories: [], total: 6, limit: 100, offset: 50, layer: 2, hasMore: false })
      const summary = await session.store('in short', { metadata: { project: projectPath, kind: 'summary' } })
      for (const type of ['summary', 'scratchpad'])
        expect(await listed({ projectPath, type })).toEqual([String(summary)])
      expect(await code('context_list', { type: 'nonsense' })).toBe('VALIDATION_ERROR')
      const all = { layer: 2, type: 'decision', limit: 100 }
      expect(await listed(all)).toEqual(expect.arrayContaining([ids[1]]))
    })

    it('[FABRIC-52] counts layers, pinned ones and types of the project, and layer 3 of the organization', async () => {
      const projectPath = unique('counted')
      const before = await ok('context_list', { stats: true, projectPath })
      await store('a', { projectPath })
      await store('b', { projectPath }, { pinned: true })
      await store('c', { projectPath }, { layer: 1 })
      await store('d', { projectPath: unique('other') }, { layer: 3, pinned: true })
      const stats = await ok('context_list', { stats: true, projectPath, layer: 1, type: 'bug_fix' })
      expect(stats).toMatchObject({ l1: 1, l2: 2, l3: before.l3 + 1, total: before.l3 + 4 })
      const ignored = { layer: 9, limit: 0, offset: -1, tags: 'x', type: 5, archived: 'perhaps' }
      expect(await ok('context_list', { stats: 'true', projectPath, ...ignored })).toEqual(stats)
      const { warnings, ...same } = await ok('context_list', { stats: true, projectPath, unknown: 1 })
      expect([same, warnings]).toEqual([stats, ['Ignored unknown arguments: "unknown"']])
      expect(await code('context_list', { stats: false, projectPath, ...ignored })).toBe('VALIDATION_ERROR')
      expect(stats.pinned).toEqual({ l2: 1, l3: before.pinned.l3 + 1 })
      expect(stats.byType.decision).toBe((before.byType.decision ?? 0) + 4)
      const sum = Object.values(stats.byType as Record<string, number>).reduce((a, b) => a + b, 0)
      expect(sum).toBe(stats.total)
    })
  })
}
