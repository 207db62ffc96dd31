import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pngBytes } from '../../support/scope'
import { type RunningServer, startServer } from '../../support/server'

/** Bodies as they arrive: how deep, how large, how many values, and images that are decoded on the way. */
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
/** Each on a connection of its own: one on which a body was refused before it had arrived is closed, maybe while the next is sent. */
const HEADERS = { 'content-type': 'application/json', accept: '*/*', connection: 'close' }

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

/** @param most images of nearly 10 MB each in one body */
export function bodyContract(most: number): void {
  describe('a body', () => {
    let server: RunningServer
    beforeAll(async () => {
      server = await startServer({}, undefined, { onLog: (line) => logged.push(line) })
    })
    afterAll(() => server.stop())
    const logged: string[] = []

    const post = (body: string) => fetch(server.url, { method: 'POST', headers: HEADERS, body })
    async function call(name: string, args: string): Promise<Json> {
      const text = await (
        await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`)
      ).text()
      const message = JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] as string))
      return message.result?.structuredContent ?? message
    }
    const draft = (more: string) => `{"thread_id":"t","source":"user","text":"text ${Math.random()}"${more}}`
    const members = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join(',')
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const list = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`

    it('nested deeper than 500 levels in any argument is a tool error that names it', async () => {
      const png = base64(pngBytes('deep'))
      for (const depth of [501, 998, 1_500, 8_000, 49_000])
        for (const [name, args, argument] of [
          ['store_context', draft(`,"metadata":${nested(depth)}`), 'metadata'],
          ['store_context', draft(`,"metadata":${JSON.stringify(nested(depth))}`), 'metadata'],
          ['store_context', draft(`,"images":[{"data":"${png}","metadata":${nested(depth)}}]`), 'images'],
          ['store_context', draft(`,"tags":${list(depth)}`), 'tags'],
          ['update_context', `{"context_id":1,"metadata_patch":${nested(depth)}}`, 'metadata_patch'],
          ['get_context_by_ids', `{"context_ids":${list(depth)}}`, 'context_ids'],
          ['list_threads', `{"odd":${nested(depth)}}`, 'odd'],
        ] as const) {
          const { error } = await call(name, args)
          expect([depth, argument, error?.code, error?.message.split('; ')[0]]).toEqual([
            depth,
            argument,
            'limit_exceeded',
            `${argument} is nested deeper than 500 levels`,
          ])
        }
      const filters = await call('search_context', `{"metadata_filters":[{"key":"a","value":${nested(8_000)}}]}`)
      expect(filters.validation_errors).toHaveLength(1)
      expect((await call('store_context_batch', `{"entries":${list(8_000)}}`)).error.code).toBe('invalid_input')
      expect((await call('store_context', draft(`,"metadata":${nested(500)}`))).success).toBe(true)
      expect(logged.filter((line) => line.includes('tool_failed'))).toEqual([])
    })

    it('with a string that is longer than anything there may be is refused without holding it, in a batch as that item', async () => {
      const long = `"${'x'.repeat(2_000_001)}"`
      const tooLong =
        'has more than 2000000 characters; at most 1000000 UTF-8 bytes are allowed. Split it into several entries'
      const refused = await call('store_context', `{"thread_id":"t","source":"user","text":${long}}`)
      expect(refused.error).toMatchObject({
        code: 'limit_exceeded',
        message: `text ${tooLong}`,
        details: [{ path: 'text', given: 'string' }],
      })
      const mixed = await call(
        'store_context_batch',
        `{"entries":[${draft('')},{"thread_id":"t","source":"user","text":${long}}],"atomic":false}`,
      )
      expect(mixed.results.map(({ code }: Json) => code)).toEqual([null, 'limit_exceeded'])
      const padded = await call('store_context', `{"thread_id":"t","source":"user","text":"${' '.repeat(1_500_000)}x"}`)
      expect(padded.success).toBe(true)
      const odd = await call('list_threads', `{"odd":"${'x'.repeat(10_000_001)}"}`)
      expect(odd.error.message).toContain(
        'odd has more than 10000000 characters; send less, or send a list or object as JSON itself',
      )
    })

    it('whose item of a batch is nested too deep is that item error', async () => {
      const entries = `[${draft('')},${draft(`,"metadata":${nested(8_000)}`)}]`
      const result = await call('store_context_batch', `{"entries":${entries},"atomic":false}`)
      expect(result).toMatchObject({ succeeded: 1, failed: 1 })
      expect(result.results[1]).toMatchObject({
        code: 'limit_exceeded',
        error: 'metadata is nested deeper than 500 levels',
      })
    })

    it('with more than 50,000 members and items in the arguments of a call is limit_exceeded, as JSON and as JSON strings', async () => {
      const text = (args: unknown) => JSON.stringify(args)
      const tooMany = 'The arguments have more than 50000 members and items, counted at every depth; send less'
      const entry = '"thread_id":"t","source":"user","text":"x"'
      const tags = (count: number) => `[${Array.from({ length: count }, (_, i) => `"t${i}"`).join(',')}]`
      const item = `{${entry},"metadata":{${members(600)}}}`
      const list = `[${Array(100).fill(item).join(',')}]`
      const stringItem = text({ thread_id: 't', source: 'user', text: 'x', metadata: `{${members(600)}}` })
      for (const [name, args] of [
        ['get_statistics', `{${members(50_001)}}`],
        ['store_context', `{${entry},"metadata":{${members(49_997)}}}`],
        ['store_context', `{${entry},"metadata":${text(`{${members(49_997)}}`)}}`],
        ['store_context', `{${entry},"metadata":${text(text(`{${members(49_997)}}`))}}`],
        ['search_context', `{"tags":${tags(50_000)}}`],
        ['search_context', `{"tags":${text(tags(50_000))}}`],
        ['search_context', `{"tags":${text(tags(25_000))},"metadata":${text(`{${members(25_000)}}`)}}`],
        ['store_context_batch', `{"entries":${list}}`],
        ['store_context_batch', `{"entries":${text(list)}}`],
        ['store_context_batch', `{"entries":[${Array(100).fill(stringItem).join(',')}],"atomic":false}`],
        ['context_store', `{"type":"decision","content":"x","metadata":{${members(50_000)}}}`],
        // Strings that are JSON only at first cost as much as others.
        [
          'store_context_batch',
          `{"entries":[${Array(3)
            .fill(text(`{${members(20_000)}`))
            .join(',')}]}`,
        ],
        [
          'search_context',
          `{"metadata_filters":[${Array(3)
            .fill(text(`[${'0,'.repeat(20_000)}x`))
            .join(',')}]}`,
        ],
      ] as const) {
        const answer = await call(name, args)
        const message = answer.error.message ?? answer.error
        expect([name, args.slice(0, 60), message.slice(0, tooMany.length)]).toEqual([name, args.slice(0, 60), tooMany])
        expect(answer.error.code ?? answer.code).toBe(name === 'context_store' ? 'VALIDATION_ERROR' : 'limit_exceeded')
      }
      const within = await call('get_statistics', `{${members(50_000)}}`)
      expect(within.warnings).toEqual([expect.stringContaining('and 49990 more')])
      const filled = await call('store_context', `{${entry},"metadata":${text(`{${members(15_000)}}`)}}`)
      expect(filled.success).toBe(true)
    })

    it('with tens of thousands of bad filters is answered with the first hundred', async () => {
      for (const args of [
        `{"metadata_filters":[${'0,'.repeat(40_000)}0]}`,
        `{"metadata":{${Array.from({ length: 40_000 }, (_, i) => `"bad key ${i}":null`).join(',')}}}`,
      ]) {
        const answer = await call('search_context', args)
        expect(answer.error.code).toMatch(/invalid_input|limit_exceeded/)
        expect(answer.error.message).toMatch(/40001 items|40000 keys/)
        expect(answer.validation_errors.length).toBeLessThanOrEqual(101)
        expect(JSON.stringify(answer).length).toBeLessThan(100_000)
      }
    })

    it('of more values, text or levels than a Worker holds is refused before it fills the memory', async () => {
      for (const [body, reason] of [
        [`[${'0,'.repeat(50_001)}0]`, '50000 values'],
        [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{${members(50_001)}}}`, '50000 values'],
        [
          `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":[${'0,'.repeat(50_001)}0]}}`,
          '50000 values',
        ],
        [`{"a":"${'x'.repeat(24_000_001)}"}`, '24000000 bytes'],
        ['['.repeat(200_000), '100000 levels'],
      ] as const) {
        const response = await post(body)
        expect([reason, response.status]).toEqual([reason, 413])
        expect(((await response.json()) as Json).error.message).toContain(reason)
      }
    })

    it(`may be of ${most} images of 10 MB each, which are stored as they were sent`, async () => {
      const image = (seed: number) => {
        const bytes = new Uint8Array(7_400_000).fill(seed)
        bytes.set(pngBytes(`large ${seed}`))
        return base64(bytes)
      }
      const images = Array.from({ length: most }, (_, i) => `{"data":"${image(i)}"}`).join(',')
      const stored = await call('store_context', draft(`,"images":[${images}]`))
      expect(stored).toMatchObject({ success: true, message: expect.stringContaining(`with ${most} images`) })
      const [entry] = (await call('get_context_by_ids', `{"context_ids":[${stored.context_id}]}`)).result
      expect(entry.images.map(({ size }: Json) => size)).toEqual(Array(most).fill(7_400_000))
    })

    it('accepts images inside a JSON string up to 10 MB of it, and reports how to send more', async () => {
      const bytes = (size: number) => {
        const all = new Uint8Array(size)
        all.set(pngBytes('inside'))
        return base64(all)
      }
      const inside = (size: number) => JSON.stringify(JSON.stringify([{ data: bytes(size) }]))
      expect((await call('store_context', draft(`,"images":${inside(3_000_000)}`))).success).toBe(true)
      const { error } = await call('store_context', draft(`,"images":${inside(8_000_000)}`))
      expect([error.code, error.message]).toEqual([
        'limit_exceeded',
        expect.stringContaining('send a list or object as JSON itself'),
      ])
    })

    it('reports what is wrong with an image, as for one that arrives at once', async () => {
      for (const [data, message] of [
        ['""', 'Image 0 has empty "data" field'],
        ['"!!!!"', 'Image 0 has invalid base64 encoding'],
        ['"="', 'Image 0 "data" decodes to zero bytes'],
        ['"AAAA"', 'Image 0 is not a PNG, JPEG, GIF or WebP image'],
        [`"${base64(new Uint8Array(10_485_761))}"`, 'Image 0 exceeds 10MB limit'],
        ['5', 'Image 0 "data" must be a base64 string'],
        ['null', 'Image 0 is missing required "data" field'],
      ] as const) {
        const { error } = await call('store_context', draft(`,"images":[{"data":${data}}]`))
        expect(error.message).toBe(message)
      }
      const kept = await call('store_context', draft(',"metadata":{"images":[{"data":"AAAA"}]}'))
      const text = JSON.stringify(await call('get_context_by_ids', `{"context_ids":[${kept.context_id}]}`))
      expect(text).toContain('{"images":[{"data":"AAAA"}]}')
    })
  })
}
