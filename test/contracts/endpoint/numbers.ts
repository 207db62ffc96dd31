import { beforeAll, describe, expect, it } from 'vitest'
import { base64, pngBytes } from '../../support/scope'
import type { RunningServer } from '../../support/server'
import { sharedOpen, unique } from './session'

/** Numbers are stored exactly as sent, or refused (platform contract §6). Sent as raw text, since a client would round them. */
const HEADERS = { 'content-type': 'application/json', accept: '*/*' }
const LARGE = [
  '9007199254740992',
  '1152921504606846976',
  '-1152921504606846976',
  '18446744073709551616',
  String(2n ** 80n),
]

export function numbersContract(): void {
  describe('numbers', () => {
    let server: RunningServer
    beforeAll(async () => {
      server = await sharedOpen()
    })

    /** Sends arguments as they are written; the JSON of the result, as it is written. */
    async function call(name: string, args: string): Promise<string> {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
      const text = await (await fetch(server.url, { method: 'POST', headers: HEADERS, body })).text()
      return text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] as string)
    }
    const structured = (text: string) => JSON.parse(text).result.structuredContent
    const draft = (thread: string, metadata: string, more = '') =>
      `{"thread_id":"${thread}","source":"user","text":"${unique('text')}","metadata":${metadata}${more}}`
    const store = async (metadata: string, thread = unique(), more = ''): Promise<number> => {
      const result = structured(await call('store_context', draft(thread, metadata, more)))
      expect(result.error).toBeUndefined()
      return result.context_id
    }
    const stored = (id: number) => call('get_context_by_ids', `{"context_ids":[${id}]}`)
    const refused = async (name: string, args: string): Promise<string> => {
      const { error } = structured(await call(name, args))
      expect(error?.code).toBe('invalid_input')
      return error.message
    }

    it.each(LARGE)('are returned with all their digits, in both forms of a result: %s', async (number) => {
      const text = await stored(await store(`{"n":${number},"deep":[{"n":${number}}]}`))
      expect(text).toContain(`"n":${number},"deep":[{"n":${number}}]`)
      expect(JSON.parse(text).result.content[0].text).toContain(`"n":${number},"deep":[{"n":${number}}]`)
    })

    it('with a fraction or an exponent become the nearest double', async () => {
      const text = await stored(await store('{"a":1e20,"b":3.6028797018963968e16,"c":0.1,"d":1E2,"e":-2.50}'))
      expect(text).toContain('"a":100000000000000000000,"b":36028797018963968,"c":0.1,"d":100,"e":-2.5')
    })

    it.each(LARGE)('are found by value, by size and in lists: %s', async (number) => {
      const thread = unique()
      const id = await store(`{"n":${number},"list":[1,${number}]}`, thread)
      await store('{"n":5,"list":[5]}', thread)
      const above = (BigInt(number) + 4096n * 2n ** 60n).toString()
      const found = async (filters: string) =>
        structured(await call('search_context', `{"thread_id":"${thread}",${filters}}`)).results.map(
          (entry: { id: number }) => entry.id,
        )
      expect(await found(`"metadata":{"n":${number}}`)).toEqual([id])
      for (const [operator, value, key = 'n'] of [
        ['eq', number],
        ['in', `[7,${number}]`],
        ['array_contains', number, 'list'],
      ])
        expect([
          operator,
          await found(`"metadata_filters":[{"key":"${key}","operator":"${operator}","value":${value}}]`),
        ]).toEqual([operator, [id]])
      const sized = async (operator: string, value: string) =>
        (await found(`"metadata_filters":[{"key":"n","operator":"${operator}","value":${value}}]`)).includes(id)
      expect([await sized('gte', number), await sized('lte', number)]).toEqual([true, true])
      expect([await sized('gt', number), await sized('lt', number)]).toEqual([false, false])
      expect([await sized('lt', above), await sized('gt', above)]).toEqual([true, false])
    })

    it('that a double would change are refused with their place, in every position', async () => {
      const bad = '9007199254740993'
      const reason = `is the integer ${bad}, which a JSON number cannot represent exactly; send it as a string`
      expect(await refused('store_context', draft('t', `{"a":[{"b":${bad}}]}`))).toBe(`metadata.a[0].b ${reason}`)
      // Inside arguments that arrive as JSON strings, also when encoded twice.
      const inside = JSON.stringify(`{"a":${bad}}`)
      expect(await refused('store_context', draft('t', inside))).toBe(`metadata.a ${reason}`)
      expect(await refused('store_context', draft('t', JSON.stringify(inside)))).toBe(`metadata.a ${reason}`)
      const images = `,"images":[{"data":"${base64(pngBytes('n'))}","metadata":{"n":${bad}}}]`
      expect(await refused('store_context', draft('t', '{}', images))).toBe(`images[0].metadata.n ${reason}`)
      const id = await store('{"a":1}')
      expect(await refused('update_context', `{"context_id":${id},"metadata_patch":{"b":${bad}}}`)).toBe(
        `metadata_patch.b ${reason}`,
      )
      expect(await refused('update_context', `{"context_id":${id},"metadata":{"b":1e400}}`)).toContain(
        'metadata.b is the number 1e400, which is too large for a JSON number',
      )
      expect(await refused('get_context_by_ids', `{"context_ids":[${bad}]}`)).toContain(bad)
      expect(await stored(id)).toContain('"metadata":{"a":1}')
    })

    it('that overflow never become null, nor delete what a patch names', async () => {
      const id = await store('{"keep":1}')
      expect(await refused('update_context', `{"context_id":${id},"metadata_patch":{"keep":1e400}}`)).toContain(
        'metadata_patch.keep',
      )
      expect(await refused('store_context', draft('t', '{"a":-1e400}'))).toContain('metadata.a')
      expect(await stored(id)).toContain('"metadata":{"keep":1}')
    })

    it('are the error of their item in a batch', async () => {
      const good = draft('t', '{"n":1152921504606846976}')
      const bad = draft('t', '{"n":9007199254740993}')
      const loose = structured(await call('store_context_batch', `{"entries":[${good},${bad}],"atomic":false}`))
      expect(loose).toMatchObject({ succeeded: 1, failed: 1 })
      expect(loose.results[1]).toMatchObject({ success: false, code: 'invalid_input' })
      expect(loose.results[1].error).toContain('metadata.n is the integer 9007199254740993')
      const strict = structured(await call('store_context_batch', `{"entries":[${good},${bad}]}`))
      expect(strict.error.message).toContain('First error at index 1: metadata.n is the integer')
    })

    it('are patched digit by digit, and keep what a patch does not name', async () => {
      const id = await store('{"old":1152921504606846976}')
      const patched = structured(
        await call('update_context', `{"context_id":${id},"metadata_patch":{"new":1152921504606847232}}`),
      )
      expect(patched.success).toBe(true)
      const text = await stored(id)
      expect(text).toContain('"old":1152921504606846976')
      expect(text).toContain('"new":1152921504606847232')
    })

    it.each([
      ...['search_context', 'fts_search_context', 'semantic_search_context', 'hybrid_search_context', 'grep_context'],
    ])('that no store could hold are refused in the filters of %s, whatever the operator', async (tool) => {
      const asked = tool === 'search_context' ? '' : tool === 'grep_context' ? '"pattern":"x",' : '"query":"x",'
      for (const bad of [
        '9007199254740993',
        '-9223372036854775809',
        String(10n ** 30n),
        '1e400',
        `1${'0'.repeat(400)}`,
      ]) {
        const filters = ['eq', 'ne', 'gt', 'lte', 'array_contains', 'contains', 'exists', 'is_null'].flatMap(
          (operator) => [
            ...[
              `{"key":"n","operator":"${operator}","value":${bad}}`,
              `{"key":"n","operator":"${operator}","value":[1,${bad}]}`,
            ],
          ],
        )
        const lists = [...filters, `{"key":"n","operator":"in","value":[1,${bad}]}`].map((one) => `[${one}]`)
        const metadata = [`{"n":${bad}}`, JSON.stringify(`{"n":${bad}}`)].map((one) => `"metadata":${one}`)
        const every = [...metadata, ...lists.map((list) => `"metadata_filters":${list}`)]
        for (const given of every) {
          const { error, results } = structured(await call(tool, `{${asked}${given}}`))
          expect([given, error?.code, results]).toEqual([given, 'invalid_input', []])
        }
      }
    })

    it('of images and filters are judged alike', async () => {
      const images = `,"images":[{"data":"${base64(pngBytes('big'))}","metadata":{"n":1152921504606846976}}]`
      expect(await stored(await store('{}', unique(), images))).toContain('"n":1152921504606846976')
      const { validation_errors: errors } = structured(
        await call(
          'search_context',
          '{"metadata":{"a":9007199254740993},"metadata_filters":[{"key":"b","value":1e400},{"key":"c","operator":"in","value":[9007199254740993]}]}',
        ),
      )
      expect(errors).toHaveLength(3)
      expect(errors[0]).toContain('9007199254740993')
      expect(errors[1]).toContain('1e400')
    })
  })
}
