import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prepareEntry } from '../../src/domain/entry/draft'
import { Base64Decoder } from '../../src/domain/json/base64'
import { LossyValues } from '../../src/domain/json/lossy-values'
import { JsonParser, JsonTooLarge, MAX_STRING, MAX_VALUES, TooManyValues } from '../../src/domain/json/parser'
import { SentBytes } from '../../src/domain/json/sent-bytes'
import { jsonText } from '../../src/domain/json/write'
import { sha256Hex } from '../../src/domain/text'
import { KnownIds } from '../../src/domain/transfer/content-checksum'
import type { CarriedRecord } from '../../src/domain/transfer/records'
import { verifyExport } from '../../src/domain/transfer/verify'
import { writeVolumes } from '../../src/domain/transfer/volume-writer'
import { ANY } from '../support/any-text'
import { notePauses } from '../support/pauses'
import { freshPrincipal, LIMITS, pngBytes } from '../support/scope'

/** JSON that arrives in pieces means the same as with `JSON.parse`, and numbers are stored exactly or refused. */
const RUNS = { numRuns: 2_000, seed: 20261122 }

function inPieces(
  text: string,
  cuts: readonly number[],
  options?: ConstructorParameters<typeof JsonParser>[0],
): unknown {
  const parser = new JsonParser(options)
  let from = 0
  for (const cut of [...cuts].map((one) => one % (text.length + 1)).sort((a, b) => a - b)) {
    parser.feed(text.slice(from, cut))
    from = Math.max(from, cut)
  }
  parser.feed(text.slice(from))
  return parser.end()
}

const parseJson = (text: string): unknown => {
  const parser = new JsonParser()
  parser.feed(text)
  return parser.end()
}

/** The result of `JSON.parse`, with the source of each number that it would change. */
const oracle = (text: string): unknown =>
  JSON.parse(text, function (this: unknown, _key: string, value: unknown, context?: { source: string }) {
    if (typeof value !== 'number') return value
    const { source } = context as { source: string }
    const whole = /^-?\d+$/.test(source)
    const kept = Number.isFinite(value) && (!whole || BigInt(value) === BigInt(source))
    return kept ? value : `unkept ${source}`
  } as (key: string, value: unknown) => unknown)

const said = (value: unknown): unknown => {
  if (value instanceof LossyValues) return `unkept ${value}`
  if (Array.isArray(value)) return value.map(said)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, said(member)]))
}

const outcome = (run: () => unknown): unknown => {
  try {
    return { value: run() }
  } catch {
    return 'refused'
  }
}

const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/)
const number = fc.oneof(
  digits,
  fc.constantFrom(
    '9007199254740992',
    '9007199254740993',
    '1152921504606846976',
    '-0',
    '1e400',
    '-1e400',
    '1E5',
    '5e-400',
  ),
)
const anyString = fc.oneof(fc.string({ unit: ANY, maxLength: 40 }), fc.string({ maxLength: 40 }))
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    number,
    fc.constantFrom('true', 'false', 'null', '{}', '[]', '"\\u0041\\n\\/\\\\"', '"\\ud800"'),
    anyString.map((text) => JSON.stringify(text)),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[ ${items.join(' ,')}]`),
    fc
      .array(
        fc.tuple(fc.oneof(fc.constantFrom('a', '__proto__', 'constructor', '1', 'data'), anyString), tie('json')),
        { maxLength: 4 },
      )
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:\n${value}`).join(',')} }`),
  ),
}))
const cuts = fc.array(fc.nat(), { maxLength: 6 })

describe('JSON that arrives in pieces', () => {
  it('equals the result of JSON.parse, for every cut', () => {
    fc.assert(
      fc.property(json, cuts, (text, at) => {
        expect(said(inPieces(text, at))).toEqual(oracle(text))
        // A request never sets a prototype.
        expect(JSON.stringify(said(inPieces(text, at)))).toBe(JSON.stringify(oracle(text)))
      }),
      RUNS,
    )
  })

  it('is refused where JSON.parse refuses it, whatever was changed in it', () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat({ max: 2 }),
      fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '0', 'e', '-', ' ', '\n', 'u', '\t'),
    )
    fc.assert(
      fc.property(json, fc.array(edit, { minLength: 1, maxLength: 3 }), cuts, (text, edits, at) => {
        let changed = text
        for (const [place, dropped, added] of edits) {
          const i = place % (changed.length + 1)
          changed = changed.slice(0, i) + added + changed.slice(i + dropped)
        }
        const ours = outcome(() => said(inPieces(changed, at)))
        expect([changed, ours]).toEqual([changed, outcome(() => oracle(changed))])
      }),
      RUNS,
    )
  })

  it('keeps a thousand levels and marks what is deeper, without running out of stack', () => {
    const depthOf = (value: unknown): number => {
      let depth = 0
      for (let at = value; Array.isArray(at); at = at[0]) depth++
      return depth
    }
    expect(depthOf(parseJson('['.repeat(900) + ']'.repeat(900)))).toBe(900)
    expect(depthOf(parseJson('['.repeat(50_000) + ']'.repeat(50_000)))).toBe(1000)
    expect(() => parseJson('['.repeat(200_000))).toThrow(JsonTooLarge)
    expect(() => parseJson(`${'['.repeat(8_000)}}`)).toThrow(SyntaxError)
  })

  it('holds no string that is longer than its place allows, escapes counted as what they mean', () => {
    const value = fc.record({ text: fc.string({ unit: ANY, maxLength: 30 }), other: fc.string({ maxLength: 30 }) })
    const escaped = (text: string) =>
      Array.from(text, (char) =>
        /[a-m]/.test(char) ? `\\u00${char.charCodeAt(0).toString(16)}` : JSON.stringify(char).slice(1, -1),
      ).join('')
    fc.assert(
      fc.property(value, fc.array(fc.nat(), { maxLength: 12 }), ({ text, other }, cuts) => {
        const json = `{"text":"${escaped(text)}","other":${JSON.stringify(other)},"n":1}`
        const longest = (name: string) => (name === 'text' ? 10 : 20)
        const read = inPieces(json, cuts, { longest }) as Record<string, unknown>
        expect(read.n).toBe(1)
        for (const [name, sent] of Object.entries({ text, other }))
          if (sent.length > longest(name)) expect(read[name]).toMatchObject({ flaw: 'too_long' })
          else expect(read[name]).toBe(sent)
      }),
      RUNS,
    )
    expect(() => inPieces(`{"${'n'.repeat(MAX_STRING + 1)}":1}`, [5])).toThrow(JsonTooLarge)
  })

  it('contains at most the allowed number of values', () => {
    const list = (count: number) => `[${'0,'.repeat(count - 2)}0]`
    expect(inPieces(list(MAX_VALUES), [5000])).toHaveLength(MAX_VALUES - 1)
    expect(() => inPieces(list(MAX_VALUES + 1), [5000])).toThrow(JsonTooLarge)
    const bounded = new JsonParser({ maxValues: 6 })
    bounded.feed('[[1,2],{"a":3}]')
    expect([bounded.end(), bounded.count]).toEqual([[[1, 2], { a: 3 }], 6])
    expect(() => new JsonParser({ maxValues: 5 }).feed('[[1,2],{"a":3}]')).toThrow(TooManyValues)
  })

  it('keeps nothing of a bounded value with too many members, and reads what is around it', () => {
    const isBounded = (path: readonly (string | number)[]) => path.at(-1) === 'arguments'
    const value = fc.anything({ maxDepth: 3, values: [fc.string(), fc.integer(), fc.constantFrom(null, true)] })
    const size = (one: unknown): number =>
      typeof one === 'object' && one !== null
        ? Object.values(one).reduce<number>((sum, member) => sum + 1 + size(member), 0)
        : 0
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), value),
        fc.nat(20),
        fc.array(fc.nat(), { maxLength: 5 }),
        (args, max, cuts) => {
          const text = JSON.stringify({ before: [1], arguments: args, after: { b: [args] } })
          const options = { isBounded, maxMembers: max }
          const read = inPieces(text, cuts, options) as Record<string, unknown>
          const { arguments: kept, ...around } = JSON.parse(text)
          expect({ ...read, arguments: null }).toEqual({ ...around, arguments: null })
          if (size(args) <= max) expect(read.arguments).toEqual(kept)
          else expect(Object.values(read.arguments as object)).toEqual([expect.objectContaining({ flaw: 'too_many' })])
        },
      ),
      { numRuns: 500, seed: 20261128 },
    )
  })

  it('counts the members of all bounded values of a text together, and values outside of them alone', () => {
    const options = {
      isBounded: (path: readonly (string | number)[]) => path.at(-1) === 'arguments',
      maxMembers: 4,
      maxValues: 7,
    }
    const call = (...items: number[]) => ({ arguments: { list: items } })
    const flaw = { list: expect.objectContaining({ flaw: 'too_many' }) }
    expect(inPieces(JSON.stringify([call(1), call(2)]), [], options)).toEqual([call(1), call(2)])
    expect(inPieces(JSON.stringify([call(1, 2), call(3), call()]), [], options)).toEqual([
      call(1, 2),
      { arguments: flaw },
      { arguments: flaw },
    ])
    expect(inPieces(JSON.stringify([call(1, 2, 3), 1, 1, 1, 1]), [], options)).toHaveLength(5)
    expect(() => inPieces(JSON.stringify([call(1, 2, 3), 1, 1, 1, 1, 1]), [], options)).toThrow(TooManyValues)
  })

  it('asks for the path of no value that is deep, since a path costs as much as it is deep', () => {
    let asked = 0
    const count = () => {
      asked++
      return false
    }
    inPieces(`${'{"data":'.repeat(5_000)}"x"${'}'.repeat(5_000)}`, [], { isBounded: count, isBase64: count })
    expect(asked).toBeLessThan(20)
  })
})

describe('a number in JSON', () => {
  it.each([
    '0',
    '-0',
    '1',
    '9007199254740991',
    '9007199254740992',
    '1152921504606846976',
    String(2n ** 90n),
    String(-(2n ** 1000n)),
  ])('comes back with all its digits: %s', (literal) => {
    expect(jsonText(parseJson(`{"a":[${literal}]}`))).toBe(`{"a":[${literal === '-0' ? '0' : literal}]}`)
  })

  it.each([
    ['1e20', '100000000000000000000'],
    ['3.6028797018963968e16', '36028797018963968'],
    ['0.1', '0.1'],
    ['1.0', '1'],
    ['1e-400', '0'],
    ['5e-324', '5e-324'],
  ])('with a fraction or an exponent is the nearest double: %s', (literal, text) => {
    expect(jsonText(parseJson(literal))).toBe(text)
  })

  it.each(['9007199254740993', '-9007199254740993', '10000000000000000000000001', '1'.repeat(400), '1e400', '-1e309'])(
    'that would be changed is marked: %s',
    (literal) => {
      const mark = (parseJson(`[${literal}]`) as unknown[])[0]
      expect(mark).toBeInstanceOf(LossyValues)
      expect((mark as LossyValues).reason).toMatch(/send it as a string$/)
    },
  )
})

/** Value of the complete text (threads contract §2.4). */
function wholeBase64(data: string): number[] | null {
  const body = data.replace(/^data:[^,]*;base64,/i, '').replace(/[\t\n\v\f\r ]+/g, '')
  const standard = body.replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, '')
  try {
    return [
      ...Uint8Array.fromBase64(standard + '='.repeat((4 - (standard.length % 4)) % 4), { lastChunkHandling: 'strict' }),
    ]
  } catch {
    return null
  }
}

describe('base64 that arrives in pieces', () => {
  const bytes = fc.uint8Array({ maxLength: 60 })
  const sent = fc
    .tuple(
      bytes,
      fc.constantFrom('', 'data:image/png;base64,', 'DATA:;base64,', 'data:image/png,'),
      fc.boolean(),
      fc.boolean(),
      cuts,
      fc.constantFrom('', '\n', ' ', '=', '==', 'A', '!', ','),
    )
    .map(([content, prefix, url, padded, at, odd]) => {
      let text = content.toBase64(url ? { alphabet: 'base64url' } : {})
      if (!padded) text = text.replace(/=+$/, '')
      const place = (at[0] ?? 0) % (text.length + 1)
      return prefix + text.slice(0, place) + odd + text.slice(place)
    })

  it('is decoded like the complete text', () => {
    fc.assert(
      fc.property(sent, cuts, (text, at) => {
        const decoder = new Base64Decoder(1000)
        let from = 0
        for (const cut of [...at].map((one) => one % (text.length + 1)).sort((a, b) => a - b)) {
          decoder.push(text.slice(from, cut))
          from = Math.max(from, cut)
        }
        decoder.push(text.slice(from))
        const { bytes: decoded, empty, tooLarge } = decoder.end()
        expect([text, decoded === null ? null : [...decoded]]).toEqual([text, wholeBase64(text)])
        expect([empty, tooLarge]).toEqual([text === '', false])
      }),
      RUNS,
    )
  })

  it('stores exactly the allowed values, and refuses more as too much', () => {
    for (const [size, fits] of [
      [1000, true],
      [999, true],
      [1001, false],
      [1_000_000, false],
    ] as const) {
      const decoder = new Base64Decoder(1000)
      decoder.push(new Uint8Array(size).toBase64())
      const { bytes: decoded, tooLarge } = decoder.end()
      expect([size, decoded?.length ?? null, tooLarge]).toEqual([size, fits ? size : null, !fits])
    }
    const large = new Uint8Array(700_000).map((_, i) => i % 251)
    const decoder = new Base64Decoder(1_000_000)
    const text = large.toBase64()
    for (let at = 0; at < text.length; at += 65_537) decoder.push(text.slice(at, at + 65_537))
    expect(decoder.end().bytes?.toBase64()).toBe(text)
  })

  it('is decoded where requested, escapes included, and nowhere else', () => {
    const isBase64 = (path: readonly (string | number)[]) => path.join('.') === 'images.0.data'
    const text = '{"images":[{"data":"\\u0041QI\\/"}],"other":[{"data":"AQI/"}],"data":"AQI/"}'
    for (let cut = 0; cut < text.length; cut++) {
      // biome-ignore lint/suspicious/noExplicitAny: results are untyped
      const value = inPieces(text, [cut], { isBase64, maxBase64Bytes: 100 }) as any
      expect(value.images[0].data).toBeInstanceOf(SentBytes)
      expect([...value.images[0].data.decoded.bytes]).toEqual([1, 2, 63])
      expect([value.other[0].data, value.data]).toEqual(['AQI/', 'AQI/'])
    }
    expect(() => inPieces('{"images":[{"data":"AQ\nI/"}]}', [], { isBase64, maxBase64Bytes: 100 })).toThrow(SyntaxError)
  })
})

it('pauses after each image of a call, which is decoded and hashed at once', async () => {
  let rests = 0
  notePauses(() => rests++)
  const images = [1, 2, 3].map((i) => ({
    data: pngBytes(`${i}${'x'.repeat(300_000)}`).toBase64(),
    mime_type: 'image/png',
  }))
  const draft = { threadId: 't', source: 'agent', text: 'three pictures', images } as const
  await prepareEntry(freshPrincipal(), draft, LIMITS, 0)
  expect(rests).toBe(3)
})

it('writes and verifies a volume of an export in workerd, with an image and all digits of a number', async () => {
  const bytes = Uint8Array.of(1, 2, 3)
  const image = { sha256: await sha256Hex(bytes), mime_type: 'image/png', size: 3 }
  const entry = { record: 'entry', id: 1, thread_id: 't', source: 'agent', text: 'ü', images: [image] } as const
  const records: CarriedRecord[] = [
    { record: 'image', ...image, data: 'AQID' },
    { ...entry, metadata: { n: 2 ** 60 } },
  ]
  const known = new KnownIds()
  known.note(entry)
  const volumes: Uint8Array[] = []
  const all = { store: 'test:here', at: '2026-11-23T10:00:00.000Z' }
  for await (const volume of writeVolumes(all, records, known)) volumes.push(volume.bytes)
  const verified = await verifyExport(async function* () {
    yield* volumes
  })
  expect(verified.counts).toEqual({ manifest: 1, image: 1, entry: 1 })
  expect(verified.volumes[0]?.computed).toBe(verified.volumes[0]?.content)
  expect(new TextDecoder().decode(volumes[0])).toContain('1152921504606846976')
})
