import { isDeeper, type JsonValue } from '../entry/metadata'
import { MAX_DEPTH } from '../json/lossy-values'
import { jsonText } from '../json/write'

/** A value of a record has the wrong type or form. The message follows the member's name. */
export class Mismatch extends Error {}

/** Reads one value of a record from parsed JSON, and writes it. */
interface Codec<T> {
  /** @throws Mismatch */
  readonly read: (value: unknown) => T
  readonly write: (value: T) => string
}

/** A member of a record. Optional members are left out where they have their default. */
export interface Member<T, R extends boolean = boolean> {
  readonly codec: Codec<T>
  readonly required: R
  /** Default of an absent member, in addition to null, false, "" and []. */
  readonly usual?: T
}

// biome-ignore lint/suspicious/noExplicitAny: a codec reads and writes one type, so no other type holds codecs of all
export type Shape = Readonly<Record<string, Member<any>>>
type ValueOf<M> = M extends Member<infer T> ? T : never
type RequiredKeys<S> = { [K in keyof S]: S[K] extends { readonly required: true } ? K : never }[keyof S]
/** The type of the record that a shape describes. */
export type Shaped<S> = { readonly [K in RequiredKeys<S>]: ValueOf<S[K]> } & {
  readonly [K in Exclude<keyof S, RequiredKeys<S>>]?: ValueOf<S[K]> | undefined
}

export const required = <T>(codec: Codec<T>): Member<T, true> => ({ codec, required: true })
export const optional = <T>(codec: Codec<T>, usual?: T): Member<T, false> => ({
  codec,
  required: false,
  ...(usual === undefined ? {} : { usual }),
})

const codec = <T>(what: string, is: (value: unknown) => value is T, write: (value: T) => string): Codec<T> => ({
  read(value) {
    if (!is(value)) throw new Mismatch(`must be ${what}`)
    return value
  },
  write,
})

/** A codec for strings that match a pattern. @param what description for errors, after "must be" */
export const matching = (what: string, pattern: RegExp): Codec<string> =>
  codec(what, (value): value is string => typeof value === 'string' && pattern.test(value), JSON.stringify)

export const word = <T extends string>(...words: readonly T[]): Codec<T> =>
  codec(
    words.map((known) => `"${known}"`).join(' or '),
    (value): value is T => words.some((known) => known === value),
    JSON.stringify,
  )

export const text: Codec<string> = codec('a string', (value) => typeof value === 'string', JSON.stringify)
export const flag: Codec<boolean> = codec('true or false', (value) => typeof value === 'boolean', String)
export const number: Codec<number> = codec('a number', (value) => typeof value === 'number', jsonText)

/** A codec for integers. @param least the smallest allowed value */
export const integer = (least: number): Codec<number> =>
  codec(
    `a whole number from ${least}`,
    (value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= least,
    String,
  )

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
export const time: Codec<string> = codec(
  'a time such as "2026-10-05T08:12:41.000Z"',
  (value): value is string =>
    typeof value === 'string' &&
    TIME.test(value) &&
    !Number.isNaN(Date.parse(value)) &&
    new Date(value).toISOString() === value,
  JSON.stringify,
)

const isObject = (value: unknown): value is Record<string, JsonValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Any JSON object, its members in their own order. */
export const anyObject: Codec<Record<string, JsonValue>> = codec(
  `an object nested no deeper than ${MAX_DEPTH} levels`,
  (value): value is Record<string, JsonValue> => isObject(value) && !isDeeper(value, MAX_DEPTH),
  jsonText,
)

export const either = <A, B>(a: Codec<A>, b: Codec<B>, isA: (value: A | B) => value is A): Codec<A | B> => ({
  read: (value) => (typeof value === 'string' ? a.read(value) : b.read(value)),
  write: (value) => (isA(value) ? a.write(value) : b.write(value as B)),
})

export const list = <T>(of: Codec<T>): Codec<readonly T[]> => ({
  read(value) {
    if (!Array.isArray(value)) throw new Mismatch('must be a list')
    return value.map((item, i) => within(`[${i}]`, () => of.read(item)))
  },
  write: (values) => `[${values.map(of.write).join(',')}]`,
})

export const object = <S extends Shape>(shape: S): Codec<Shaped<S>> => ({
  read: (value) => readShape(shape, value),
  write: (value) => `{${membersOf(shape, value).join(',')}}`,
})

/** Adds the path of a part to its mismatch. */
function within<T>(place: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Mismatch)
      throw new Mismatch(/^[.[]/.test(error.message) ? `${place}${error.message}` : `${place} ${error.message}`)
    throw error
  }
}

/**
 * Reads a record by its shape. @param besides names of members that the caller reads @throws Mismatch for an unknown,
 * missing or invalid member
 */
export function readShape<S extends Shape>(shape: S, value: unknown, besides: readonly string[] = []): Shaped<S> {
  if (!isObject(value)) throw new Mismatch('must be an object')
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(shape, key) && !besides.includes(key))
  if (unknown !== undefined) throw new Mismatch(`has the unknown member ${JSON.stringify(unknown)}`)
  const read: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(shape)) {
    const given = Object.hasOwn(value, name) ? value[name] : null
    if (given !== null) read[name] = within(`.${name}`, () => member.codec.read(given))
    else if (member.required) throw new Mismatch(`has no ${name}`)
  }
  // Each member was read by the codec of its type.
  return read as Shaped<S>
}

const saysNothing = (value: unknown, usual: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  value === usual ||
  (Array.isArray(value) && value.length === 0)

/** The members of a record as JSON, in the order of its shape, without optional members that have their default. */
export function membersOf<S extends Shape>(shape: S, value: Shaped<S>): string[] {
  const given: Record<string, unknown> = value
  return Object.entries(shape)
    .filter(([name, { required, usual }]) => required || !saysNothing(given[name], usual))
    .map(([name, member]) => `${JSON.stringify(name)}:${member.codec.write(given[name])}`)
}
