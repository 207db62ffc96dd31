import { describe, expect, it } from 'vitest'
import { FAMILIES, TOOLS } from '../../../src/tools/catalogue'
import type { Connect } from '../../support/clients'
import { unique, useSession } from './session'

/** Other families say for themselves what they list. */
const NAMES = TOOLS.filter(({ family }) => family === FAMILIES.threads).map(({ name }) => name)
const isOfThreads = (name: string) => NAMES.includes(name)

/** Rules for every tool, over a real connection. */
export function protocolContract(connect: Connect): void {
  describe('the endpoint', () => {
    const s = useSession(connect)
    const draft = (more: Record<string, unknown> = {}) => ({
      thread_id: unique(),
      source: 'user',
      text: 'words',
      ...more,
    })
    const message = async (name: string, args: Record<string, unknown>) => (await s.fail(name, args)).data.error.message

    it('[THREADS-1] lists its tools in a fixed order with portable names, titles, annotations and described arguments', async () => {
      const tools = await s.client.tools()
      expect(tools.map(({ name }) => name).filter(isOfThreads)).toEqual(NAMES)
      for (const tool of tools) {
        expect(tool.name).toMatch(/^[a-zA-Z0-9_-]+$/)
        expect(tool.title).toBeTruthy()
        expect(tool.description).toBeTruthy()
        expect(tool.annotations).toMatchObject({ openWorldHint: false, readOnlyHint: expect.any(Boolean) })
        for (const [key, argument] of Object.entries<{ description?: string }>(tool.inputSchema.properties))
          expect([tool.name, key, argument.description]).toEqual([tool.name, key, expect.any(String)])
      }
      const hints = (name: string) => tools.find((tool) => tool.name === name)?.annotations
      expect(hints('search_context')).toMatchObject({
        readOnlyHint: true,
        idempotentHint: true,
        destructiveHint: false,
      })
      expect(hints('store_context')).toMatchObject({
        readOnlyHint: false,
        idempotentHint: false,
        destructiveHint: false,
      })
      expect(hints('update_context')).toMatchObject({ destructiveHint: true, idempotentHint: false })
      expect(hints('delete_context')).toMatchObject({ destructiveHint: true, idempotentHint: true })
      expect(s.client.instructions()).toContain('store_context')
    })

    it('[THREADS-19] has input schemas that refuse unknown arguments and have no anyOf at their root', async () => {
      for (const { inputSchema, outputSchema } of await s.client.tools()) {
        expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
        expect(inputSchema).not.toHaveProperty('anyOf')
        expect(inputSchema).not.toHaveProperty('oneOf')
        expect(outputSchema.type).toBe('object')
        expect(outputSchema.required ?? []).toEqual([])
        expect(outputSchema.properties).toHaveProperty('error')
      }
    })

    it('[THREADS-3] answers an unknown tool with the JSON-RPC error -32602', async () => {
      await expect(s.client.call('no_such_tool')).rejects.toMatchObject({ code: -32602 })
      await expect(s.client.call('no_such_tool')).rejects.toThrow('Unknown tool: no_such_tool')
    })

    it('[THREADS-4] refuses an unknown argument by name and lists the allowed ones, also inside items', async () => {
      expect(await message('store_context', draft({ txet: 'x' }))).toBe(
        'Unknown argument "txet". Did you mean text? Allowed: thread_id, source, text, images, metadata, tags, idempotency_key',
      )
      expect(await message('store_context', draft({ images: [{ data: 'x', kind: 1 }] }))).toMatch(
        /Unknown key in images\[0\]: "kind"\. .*Allowed: data, mime_type, metadata/,
      )
      expect(await message('store_context_batch', { entries: [draft({ extra: 1 })] })).toMatch(/index 0.*"extra"/)
      expect(await message('search_context', { metadata_filters: [{ key: 'a', op: 'eq', value: 1 }] })).toMatch(/"op"/)
      for (const tool of ['list_threads', 'get_statistics'])
        expect((await s.ok(tool, { all: true })).warnings).toEqual(['Ignored unknown arguments: "all"'])
      await s.ok('store_context', draft({ task_progress: '- [ ] x', toolCallId: 'call_1' }))
    })

    it('[THREADS-5] treats null for an optional argument as absent and for a required one as missing', async () => {
      await s.ok('store_context', draft({ tags: null, metadata: null, images: null }))
      expect(await message('store_context', draft({ text: null }))).toBe('Missing required field: text')
      expect(await message('store_context', { source: 'user', text: 'x' })).toBe('Missing required field: thread_id')
      await s.ok('search_context', { limit: null, offset: null, metadata: null })
    })

    it('[THREADS-6] accepts integers as decimal strings and as 5.0, and booleans as strings', async () => {
      const thread_id = unique()
      for (const text of ['a', 'b', 'c']) await s.store(text, { thread_id })
      expect((await s.ok('search_context', { thread_id, limit: '2' })).count).toBe(2)
      expect((await s.ok('search_context', { thread_id, limit: 2.0, explain_query: 'TRUE' })).stats).toBeDefined()
      expect(await message('search_context', { limit: 2.5 })).toContain('limit')
      expect(await message('search_context', { limit: 'two' })).toContain('limit must be')
      expect(await message('search_context', { include_images: 'yes' })).toBe('include_images must be a boolean')
    })

    it('[THREADS-7] never converts another type to a string, and never parses a string argument', async () => {
      expect(await message('store_context', draft({ thread_id: 5 }))).toBe('thread_id must be a string')
      const id = await s.store('{"a": 1}', { thread_id: '"quoted"' })
      const [entry] = (await s.ok('get_context_by_ids', { context_ids: [id] })).result
      expect(entry).toMatchObject({ text_content: '{"a": 1}', thread_id: '"quoted"' })
    })

    it('[THREADS-8] parses an array or object that arrives as a JSON string, encoded once or twice', async () => {
      const metadata = { a: { b: [1] } }
      const id = await s.store('x', { metadata: JSON.stringify(metadata), tags: JSON.stringify(JSON.stringify(['t'])) })
      const [entry] = (await s.ok('get_context_by_ids', { context_ids: `[${id}]` })).result
      expect(entry).toMatchObject({ metadata, tags: ['t'] })
      expect(await message('store_context', draft({ images: 'not json' }))).toBe('images must be an array')
      const listed = await s.store('y', { tags: 'a, b' })
      const [tagged] = (await s.ok('get_context_by_ids', { context_ids: `${listed}` })).result
      expect(tagged.tags).toEqual(['a', 'b'])
      expect(await message('store_context', draft({ metadata: '[1]' }))).toBe('metadata must be an object')
      const entries = JSON.stringify([JSON.stringify(draft())])
      expect((await s.ok('store_context_batch', { entries })).succeeded).toBe(1)
    })

    it('[THREADS-9] accepts ids as integers or decimal strings and refuses other values with the value in the message', async () => {
      const id = await s.store('x')
      expect((await s.ok('get_context_by_ids', { context_ids: [String(id), id] })).result).toHaveLength(1)
      for (const bad of [0, -1, 1.5, 'abc', '', '01', true, 2 ** 53, '99999999999999999'])
        expect(await message('get_context_by_ids', { context_ids: [id, bad] })).toBe(
          `Invalid context ID: ${typeof bad === 'string' ? bad : JSON.stringify(bad)}`,
        )
      expect(await message('update_context', { context_id: 'x', text: 'y' })).toBe('Invalid context ID: x')
    })

    it('[THREADS-10] trims every kind of white space from text and thread ids and refuses blank ones', async () => {
      const blanks = '\u0009\u000D\u001C\u0020\u0085\u00A0\u1680\u2007\u2028\u202F\u205F\u3000\uFEFF'
      const thread = unique()
      const id = await s.store(`${blanks}in${blanks}side${blanks}`, { thread_id: `${blanks}${thread}${blanks}` })
      const [entry] = (await s.ok('search_context', { thread_id: ` ${thread} ` })).results
      expect(entry).toMatchObject({ id, thread_id: thread, text_content: `in${blanks}side` })
      expect(await message('store_context', draft({ text: blanks }))).toBe('text cannot be empty or whitespace')
      expect(await message('store_context', draft({ thread_id: blanks }))).toBe(
        'thread_id cannot be empty or whitespace',
      )
      expect((await s.ok('delete_context', { thread_id: `\u0085${thread}` })).deleted_count).toBe(1)
    })

    it('[THREADS-12] shows times in whole seconds, equal on a new entry', async () => {
      const id = await s.store('x')
      const [entry] = (await s.ok('get_context_by_ids', { context_ids: [id] })).result
      expect(entry.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(entry.updated_at).toBe(entry.created_at)
    })

    it('[THREADS-17] returns structured content and the same JSON as one text block', async () => {
      const { data, text } = await s.client.call('list_threads')
      expect(JSON.parse(text)).toEqual(data)
      expect(text).not.toContain('\n')
    })

    it('[THREADS-18] returns an error result whose text starts with the message and whose code is one of the documented codes', async () => {
      const { data, text } = await s.fail('store_context', draft({ source: 'robot' }))
      expect(data).toEqual({
        error: {
          code: 'invalid_input',
          message: 'Missing or invalid source (must be "user" or "agent")',
          retryable: false,
          details: [{ path: 'source', given: 'string "robot"', example: 'user' }],
        },
      })
      expect(text.startsWith(data.error.message)).toBe(true)
      expect((await s.fail('update_context', { context_id: 999_999, text: 'x' })).data.error.code).toBe('not_found')
    })

    it('[THREADS-20, PLATFORM-34] reports all problems of a call at once, each with its path, the given type and a right example', async () => {
      const args = {
        thread_id: ' ',
        source: 'robot',
        tags: ['x'.repeat(129)],
        metadata: { audience: 'all', diary: 'yes' },
        images: [{ data: '' }, { data: btoa('<svg/>'.repeat(4)), kind: 1 }],
        txet: 'x',
      }
      const { data, text } = await s.fail('store_context', args)
      const paths = data.error.details.map(({ path }: { path: string }) => path)
      expect(paths.toSorted()).toEqual(
        [
          ...['thread_id', 'source', 'text', 'tags', 'metadata.audience', 'metadata.diary'],
          ...['images[0].data', 'images[1].data', 'images[1].kind', 'txet'],
        ].toSorted(),
      )
      for (const { path, given, example } of data.error.details) {
        expect([path, given]).toEqual([path, expect.any(String)])
        expect(example).toBeDefined()
        expect(text).toContain(`{"path":${JSON.stringify(path)},"given":${JSON.stringify(given)}`)
      }
      expect(text.startsWith(data.error.message)).toBe(true)
      expect(data.error.message).toContain('Missing required field: text')
      expect(data.error.message).toContain('metadata.diary must be true or false')
      // Errors that only the domain finds are reported at once too.
      const late = await s.fail('store_context', draft({ images: [{ data: 'A' }, { data: btoa('<svg/>'.repeat(4)) }] }))
      expect(late.data.error.message).toBe(
        'Image 0 has invalid base64 encoding; Image 1 is not a PNG, JPEG, GIF or WebP image',
      )
      // Also together with schema errors, each with a valid example.
      const beside: [string, Record<string, unknown>, string[]][] = [
        [
          'context_store',
          { type: 'x', content: ' ', metadata: { weight: 9, confidence: 2, source: 'me', tags: 5, projectPath: 1 } },
          [
            'content',
            'type',
            ...['confidence', 'projectPath', 'source', 'tags', 'weight'].map((key) => `metadata.${key}`),
          ],
        ],
        ['context_update', { memoryId: true, content: ' ', weight: 7 }, ['content', 'memoryId', 'weight']],
        [
          'remember',
          { title: '', content: 5, kind: 'x', status: 'x', audience: 'x', related_to: ['x'], valid_at: 'x', extra: 1 },
          ['audience', 'content', 'extra', 'kind', 'related_to', 'status', 'title', 'valid_at'],
        ],
        [
          'context_recall',
          {
            query: ' ',
            sessionId: 's'.repeat(257),
            mode: 'x',
            filter: { types: ['x'], layers: [4], projectPath: ' ' },
          },
          ['filter.layers[0]', 'filter.projectPath', 'filter.types[0]', 'mode', 'query', 'sessionId'],
        ],
        [
          'context_orient',
          { timezone: 'Mars', also: ['UTC', 'Pluto'], expression: 'soonish', projectPath: ' ', extra: 1 },
          ['also[1]', 'expression', 'projectPath', 'timezone'],
        ],
        [
          'context_reportEvent',
          { event: { type: 'error_occurred', payload: {}, timestamp: 'x', sessionId: ' ', cliType: 'x' } },
          ['event.cliType', 'event.payload.error', 'event.sessionId', 'event.timestamp'],
        ],
        ['context_list', { type: 'x', limit: 0, projectPath: ' ' }, ['limit', 'projectPath', 'type']],
        ['context_getCurrent', { sessionId: 's'.repeat(257), extra: 1 }, ['sessionId']],
        ['context_summarize', { options: {}, projectPath: ' ' }, ['options.targetTokens', 'projectPath']],
        [
          'context_searchCode',
          { query: '', filePattern: 'x'.repeat(257), mode: 'x', projectPath: ' ' },
          ['filePattern', 'mode', 'projectPath', 'query'],
        ],
        ['context_searchCode', { query: 'x', filePattern: 'src/*.{ts' }, ['filePattern']],
        ['fts_search_context', { query: '(a OR b', mode: 'boolean' }, ['query']],
        ['context', { goal: 'x', project: ' ' }, ['project']],
        ['context', { goal: ' ', project: ' ' }, ['goal', 'project']],
        ['list_changes', { thread_id: ' ', project: 'x'.repeat(241) }, ['project', 'thread_id']],
        // An argument is not reported when its partner is wrong itself.
        [
          'remember',
          { title: 'a', content: 'b', kind: 5, status: 'doing', project: 5, audience: 'project' },
          ['kind', 'project'],
        ],
      ]
      for (const [tool, wrong, expected] of beside) {
        const { data: refusal } = await s.fail(tool, wrong)
        const details = refusal.details ?? refusal.error.details
        expect([tool, details.map(({ path }: { path: string }) => path).toSorted()]).toEqual([
          tool,
          expected.toSorted(),
        ])
        for (const row of details)
          expect([row.path, row.example !== undefined || /; an example is /.test(row.message)]).toEqual([
            row.path,
            true,
          ])
      }
      // So are filters together with other arguments.
      const search = await s.fail('search_context', {
        limit: 0,
        tags: [' '],
        metadata_filters: [{ key: 'a', operator: 'is' }],
        start_date: 'x',
      })
      expect(search.data.error.details).toEqual([
        { path: 'limit', given: 'number 0', example: 30 },
        { path: 'metadata_filters[0]', given: 'object', example: { key: 'a', operator: 'eq', value: 'done' } },
        { path: 'tags', given: 'array of 1', example: ['deploy'] },
        { path: 'start_date', given: 'string "x"', example: '2025-11-29' },
      ])
      expect(search.data).toMatchObject({ results: [], validation_errors: [expect.any(String), expect.any(String)] })
    })

    it('[THREADS-20, PLATFORM-34] reports all problems of all entries of a batch by their paths', async () => {
      const entries = [draft({ text: '', source: 1 }), draft(), draft({ images: [{ data: 'A' }], tags: 5 })]
      const { data } = await s.fail('store_context_batch', { entries })
      expect(data.error.details).toMatchObject([
        { path: 'entries[0].source', given: 'number 1', example: 'user' },
        { path: 'entries[0].text', given: 'string ""' },
        { path: 'entries[2].tags', given: 'number 5', example: ['deploy'] },
        { path: 'entries[2].images[0].data', given: 'string', example: expect.any(String) },
      ])
      expect(data.results.map(({ index }: { index: number }) => index)).toEqual([0, 2])
      const loose = await s.ok('store_context_batch', { entries, atomic: false })
      expect(loose.results[0].details).toHaveLength(2)
      expect(loose.results[2].details[0]).toEqual({ path: 'entries[2].tags', given: 'number 5', example: ['deploy'] })
      const updates = [{ context_id: 'x', metadata: 5 }]
      expect((await s.fail('update_context_batch', { updates })).data.error.details).toEqual([
        { path: 'updates[0].context_id', given: 'string "x"', example: 42 },
        { path: 'updates[0].metadata', given: 'number 5', example: expect.any(Object) },
      ])
    })

    it('[THREADS-13] refuses lists longer than their cap by name and number', async () => {
      const many = (n: number, value: unknown = 'x') => Array.from({ length: n }, () => value)
      const cases: [string, Record<string, unknown>, RegExp][] = [
        ['get_context_by_ids', { context_ids: many(101, 1) }, /context_ids has 101 items; at most 100/],
        ['store_context', draft({ tags: many(101) }), /tags has 101 items; at most 100/],
        ['store_context', draft({ images: many(11, {}) }), /images has 11 items; at most 10/],
        ['store_context_batch', { entries: many(101, draft()) }, /entries has 101 items; at most 100/],
        ['delete_context_batch', { thread_ids: many(101) }, /thread_ids has 101 items; at most 100/],
        ['search_context', { metadata_filters: many(101, { key: 'a', value: 1 }) }, /metadata_filters has 101 items/],
        ['search_context', { tags: many(101) }, /tags has 101 items/],
        [
          'search_context',
          { metadata: Object.fromEntries(many(101).map((_, i) => [`k${i}`, 1])) },
          /metadata has 101 keys/,
        ],
        ['search_context', { metadata_filters: [{ key: 'a', operator: 'in', value: many(101, 1) }] }, /101 members/],
      ]
      for (const [name, args, expected] of cases) expect(await message(name, args)).toMatch(expected)
    })

    it('[THREADS-14] applies a limit above 100 as 100 and reports it; refuses a limit below 1', async () => {
      const { clamped_limit } = await s.ok('search_context', { limit: 500 })
      expect(clamped_limit).toEqual({ requested: 500, applied: 100 })
      expect(await message('search_context', { limit: 0 })).toBe('limit must be at least 1')
      expect((await s.ok('list_threads', { limit: 101 })).clamped_limit).toEqual({ requested: 101, applied: 100 })
      expect(await s.ok('search_context', { limit: 100 })).not.toHaveProperty('clamped_limit')
    })

    it('[THREADS-15] accepts offsets from 0 to 1,000,000', async () => {
      expect((await s.ok('search_context', { offset: 1_000_000 })).results).toEqual([])
      expect(await message('search_context', { offset: 1_000_001 })).toBe('offset must be at most 1000000')
      expect(await message('search_context', { offset: -1 })).toBe('offset must be at least 0')
    })

    it('[THREADS-16] refuses U+0000 and lone surrogates in every string', async () => {
      expect(await message('store_context', draft({ text: 'a\u0000b' }))).toMatch(/text contains the character U\+0000/)
      expect(await message('store_context', draft({ metadata: { a: [{ b: '\ud800' }] } }))).toMatch(
        /metadata\.a\[0\]\.b contains a lone surrogate/,
      )
      expect(await message('store_context', draft({ metadata: { 'k\u0000': 1 } }))).toMatch(/U\+0000/)
      await s.ok('store_context', draft({ text: 'whole pair: \u{1F30D}' }))
    })
  })

  describe('an endpoint that is configured otherwise', () => {
    const s = useSession(connect, {
      ENABLE_FTS: 'no',
      ENABLE_SEMANTIC_SEARCH: '0',
      DISABLED_TOOLS: 'Delete_Context, get_statistics, nonsense',
      SEARCH_TRUNCATION_LENGTH: '50',
      MCP_SERVER_INSTRUCTIONS: '',
    })

    it('[THREADS-2] leaves out tools that are disabled or switched off', async () => {
      const names = (await s.client.tools()).map(({ name }) => name).filter(isOfThreads)
      const absent = [
        'semantic_search_context',
        'fts_search_context',
        'hybrid_search_context',
        'delete_context',
        'get_statistics',
      ]
      expect(names).toEqual(NAMES.filter((name) => !absent.includes(name)))
      await expect(s.client.call('delete_context')).rejects.toThrow('Unknown tool: delete_context')
      expect(s.client.instructions()).toBeUndefined()
    })

    it('[THREADS-76] follows SEARCH_TRUNCATION_LENGTH', async () => {
      await s.store('x'.repeat(60))
      expect((await s.ok('search_context', {})).results[0].text_content).toBe(`${'x'.repeat(50)}...`)
    })
  })
}
