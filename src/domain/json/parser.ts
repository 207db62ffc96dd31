import { Base64Decoder } from './base64'
import { type LossyValues, readNumber, TOO_DEEP, tooLong, tooMany } from './lossy-values'
import { SentBytes } from './sent-bytes'

/** Character classes of JSON (RFC 8259). */
export const QUOTE = 0x22
const BACKSLASH = 0x5c
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const SCALARS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
])

export const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
/** Characters of numbers, `true`, `false` and `null`: letters, digits, `+`, `-` and `.`. */
const isScalar = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x45 ||
  code === 0x2b ||
  code === 0x2d ||
  code === 0x2e

/** Maximum length of any string: a list or an object that is sent as JSON in a string. */
export const MAX_STRING = 10_000_000

/** Substrings longer than this reference the complete source string in V8, so they are copied. */
const SHORT = 12

/** Reads a JSON string that arrives in pieces. Beyond its maximum length it is counted but not stored. */
class StringReader {
  private parts: string[] = []
  /** Whether it contains an escape or a control character, so `JSON.parse` must decode it. */
  private special = false
  /** Whether the last piece ended after a backslash. */
  private escaped = false
  /** UTF-16 units so far. */
  private units = 0
  private most = MAX_STRING

  /** Starts a string. @param most maximum UTF-16 units */
  begin(most: number): void {
    this.parts = []
    this.special = false
    this.escaped = false
    this.units = 0
    this.most = most
  }

  /** Reads a piece. @returns the index of the closing quote, or the length of the piece if it has none */
  read(piece: string, from: number): number {
    let at = from
    if (this.escaped) this.escape(piece[at++])
    for (; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (code === QUOTE) {
        this.hold(piece.slice(from, at))
        return at
      }
      if (code < 0x20) this.special = true
      if (code === BACKSLASH) {
        this.special = true
        this.units--
        at++
        if (at < piece.length) this.escape(piece[at])
      }
    }
    this.escaped = at > piece.length
    this.hold(piece.slice(from))
    return piece.length
  }

  /** Counts `\\uXXXX` as one unit. */
  private escape(char: string | undefined): void {
    this.escaped = false
    if (char === 'u') this.units -= 4
  }

  private hold(part: string): void {
    this.units += part.length
    if (this.units > this.most) this.parts = []
    else this.parts.push(part)
  }

  /** The decoded string. @throws SyntaxError for an invalid JSON string */
  end(): string | LossyValues {
    const { parts, special, units, most } = this
    this.parts = []
    if (units > most) return tooLong(most)
    const raw = parts.length === 1 ? (parts[0] as string) : parts.join('')
    // A substring is copied, to release its source; a joined string is a copy already.
    return special || (parts.length === 1 && raw.length > SHORT) ? (JSON.parse(`"${raw}"`) as string) : raw
  }
}

/**
 * Options of a streaming JSON parser. Its result equals `JSON.parse`, with three differences: values that cannot be
 * represented (large integers, deep nesting, long strings) become `LossyValues`; base64 strings at chosen paths are
 * decoded as they arrive; texts that need too much memory are rejected.
 */
export interface ParserOptions {
  /** Whether the string at this path is base64. The path is valid during the call only. */
  readonly isBase64?: (path: readonly (string | number)[]) => boolean
  /** Maximum decoded bytes of one base64 string. */
  readonly maxBase64Bytes?: number
  /** Maximum UTF-16 units of the string in a member with this name. Default and upper limit: `MAX_STRING`. */
  readonly longest?: (name: string) => number
  /**
   * Maximum number of values outside of bounded ones. Default and upper limit: MAX_VALUES. Throws `JsonTooLarge` beyond
   * it.
   */
  readonly maxValues?: number
  /** Whether the object or list at this path is bounded: its members and items are counted at every depth. */
  readonly isBounded?: (path: readonly (string | number)[]) => boolean
  /**
   * Maximum number of members and items of all bounded values together. A bounded value beyond it is read but not
   * stored: it becomes an object with one member, a `LossyValues` under the name at which the limit was reached.
   */
  readonly maxMembers?: number
}

/** Valid so far, but too large to keep in memory. */
export class JsonTooLarge extends Error {}

/** More values than allowed. */
export class TooManyValues extends JsonTooLarge {}

/** Maximum number of values of one text, so that a Worker of 128 MB has memory left for its work. */
export const MAX_VALUES = 1_000_000
/** Depth below which values are dropped, because code that reads them is recursive. */
const MAX_KEPT_DEPTH = 1_000
const MAX_OPEN = 100_000
/** Maximum depth of paths that options can name. */
const MAX_PATH = 16

/** The token that may come next. */
enum Next {
  Value,
  FirstItem,
  FirstKey,
  Key,
  Colon,
  After,
  Nothing,
}

/** The kind of token that is being read. */
enum Token {
  None,
  Text,
  Base64,
  Scalar,
}

interface Frame {
  /** Null beyond the limits of depth or number. */
  list: unknown[] | null
  object: Record<string, unknown> | null
  readonly isList: boolean
  key: string
}

const fail = (): never => {
  throw new SyntaxError('not valid JSON')
}

export class JsonParser {
  private next: Next = Next.Value
  private token: Token = Token.None
  private readonly frames: Frame[] = []
  private root: unknown
  private values = 0
  /** The number of values inside bounded ones. */
  private members = 0
  /** Index of the frame of the bounded value that is being read; -1 outside. */
  private bounded = -1
  /** Name of the member at which the limit was reached; null before. */
  private exceededAt: string | null = null
  /** Parts of the current token from earlier pieces. */
  private parts: string[] = []
  private readonly string = new StringReader()
  private decoder: Base64Decoder | null = null
  private readonly spare: Uint8Array[] = []
  private sequence = ''
  private base64Length = 0

  constructor(private readonly options: ParserOptions = {}) {}

  /** Characters of base64 so far; they are decoded, not stored. */
  get decodedLength(): number {
    return this.base64Length
  }

  /** Number of values so far. */
  get count(): number {
    return this.values
  }

  /** Parses a piece of the text. @throws SyntaxError, JsonTooLarge */
  feed(text: string): void {
    let at = 0
    while (at < text.length)
      if (this.token === Token.None) at = this.step(text, at)
      else if (this.token === Token.Text) at = this.readText(text, at)
      else if (this.token === Token.Scalar) at = this.readScalar(text, at)
      else at = this.readBase64(text, at)
  }

  /** The parsed value. @throws SyntaxError, JsonTooLarge */
  end(): unknown {
    if (this.token === Token.Scalar) this.finishScalar()
    if (this.token !== Token.None || this.next !== Next.Nothing) fail()
    return this.root
  }

  private step(text: string, from: number): number {
    let at = from
    while (at < text.length && isSpace(text.charCodeAt(at))) at++
    if (at === text.length) return at
    const char = text[at] as string
    switch (this.next) {
      case Next.FirstItem:
        if (char === ']') return this.close(true, at)
        return this.startValue(char, at)
      case Next.Value:
        return this.startValue(char, at)
      case Next.FirstKey:
      case Next.Key:
        if (char === '}' && this.next === Next.FirstKey) return this.close(false, at)
        if (char !== '"') fail()
        this.token = Token.Text
        this.string.begin(MAX_STRING)
        return at + 1
      case Next.Colon:
        if (char !== ':') fail()
        this.next = Next.Value
        return at + 1
      case Next.After:
        if (char !== ',') return this.close(char === ']', at, char)
        this.next = this.frame?.isList ? Next.Value : Next.Key
        return at + 1
      default:
        return fail()
    }
  }

  private get frame(): Frame | undefined {
    return this.frames[this.frames.length - 1]
  }

  private startValue(char: string, at: number): number {
    if (char === '{' || char === '[') return this.open(char === '[', at)
    if (char === '"') {
      const base64 = this.frame?.key === 'data' && this.isAt(this.options.isBase64)
      this.token = base64 ? Token.Base64 : Token.Text
      this.decoder = base64 ? new Base64Decoder(this.options.maxBase64Bytes ?? 0, this.spare) : null
      if (!base64) this.string.begin(this.longest())
      this.next = Next.After
      return at + 1
    }
    if (!isScalar(char.charCodeAt(0))) fail()
    this.token = Token.Scalar
    return at
  }

  private longest(): number {
    // Beyond the limits a string is skipped to its end.
    if (this.isExceeded) return 0
    return this.options.longest?.(this.frame?.key ?? '') ?? MAX_STRING
  }

  /** Whether the parser is inside a bounded value that exceeds the limit. */
  private get isExceeded(): boolean {
    return this.bounded >= 0 && this.exceededAt !== null
  }

  private open(isList: boolean, at: number): number {
    if (this.frames.length >= MAX_OPEN) throw new JsonTooLarge(`JSON is nested deeper than ${MAX_OPEN} levels`)
    if (this.bounded < 0 && this.isAt(this.options.isBounded)) this.bounded = this.frames.length
    const kept = this.frames.length < MAX_KEPT_DEPTH && !this.isExceeded
    this.frames.push({ isList, list: isList && kept ? [] : null, object: !isList && kept ? {} : null, key: '' })
    this.next = isList ? Next.FirstItem : Next.FirstKey
    return at + 1
  }

  private close(isList: boolean, at: number, char = isList ? ']' : '}'): number {
    const frame = this.frames.pop()
    if (frame?.isList !== isList || (char !== ']' && char !== '}')) fail()
    const isBounded = this.bounded === this.frames.length
    if (isBounded) this.bounded = -1
    const { maxMembers = MAX_VALUES } = this.options
    if (isBounded && this.exceededAt !== null) this.put({ [this.exceededAt]: tooMany(maxMembers) })
    else this.put(frame?.list ?? frame?.object ?? TOO_DEEP)
    return at + 1
  }

  /** Counts a value. @throws JsonTooLarge */
  private countValue(): void {
    this.values++
    const { maxValues = MAX_VALUES, maxMembers = MAX_VALUES } = this.options
    if (this.bounded < 0) {
      if (this.values - this.members > maxValues) throw new TooManyValues(`JSON holds more than ${maxValues} values`)
    } else if (++this.members > maxMembers && this.exceededAt === null) {
      const { list, key } = this.frames[this.bounded] as Frame
      this.exceededAt = list === null ? key : String(list.length)
      for (const frame of this.frames.slice(this.bounded)) {
        frame.list = null
        frame.object = null
      }
    }
  }

  private put(value: unknown): void {
    this.countValue()
    const { frame } = this
    this.next = frame === undefined ? Next.Nothing : Next.After
    if (frame === undefined) this.root = value
    else if (frame.list !== null) frame.list.push(value)
    else if (frame.object !== null) setMember(frame.object, frame.key, value)
  }

  /** Whether an option names the path of the value that begins now. */
  private isAt(isChosen: ((path: (string | number)[]) => boolean) | undefined): boolean {
    // Building a path costs time in proportion to its depth.
    return isChosen !== undefined && this.frames.length <= MAX_PATH && isChosen(this.path())
  }

  private path(): (string | number)[] {
    return this.frames.map(({ list, key }) => (list === null ? key : list.length))
  }

  private readText(text: string, from: number): number {
    const at = this.string.read(text, from)
    if (at === text.length) return at
    const value = this.string.end()
    this.token = Token.None
    if (this.next === Next.After) this.put(value)
    else if (typeof value === 'string') this.name(value)
    else throw new JsonTooLarge(`JSON holds a name that ${value.reason}`)
    return at + 1
  }

  private name(key: string): void {
    if (this.frame) this.frame.key = key
    this.next = Next.Colon
  }

  private readScalar(text: string, from: number): number {
    let at = from
    while (at < text.length && isScalar(text.charCodeAt(at))) at++
    this.parts.push(text.slice(from, at))
    if (at < text.length) this.finishScalar()
    return at
  }

  private finishScalar(): void {
    const raw = this.parts.join('')
    this.parts = []
    this.token = Token.None
    const word = SCALARS.get(raw)
    if (word === undefined && !NUMBER.test(raw)) fail()
    this.put(word === undefined ? readNumber(raw) : word)
  }

  private readBase64(text: string, from: number): number {
    const { decoder } = this
    if (this.sequence !== '') return this.readSequence(text, from)
    const quote = text.indexOf('"', from)
    const end = quote < 0 ? text.length : quote
    const piece = text.slice(from, end)
    const backslash = piece.indexOf('\\')
    const plain = backslash < 0 ? piece : piece.slice(0, backslash)
    if (/[\u0000-\u001f]/.test(plain)) fail()
    decoder?.push(plain)
    this.base64Length += plain.length
    if (backslash >= 0) {
      this.sequence = '\\'
      return from + backslash + 1
    }
    if (quote < 0) return text.length
    this.put(new SentBytes((decoder as Base64Decoder).end()))
    this.decoder = null
    this.token = Token.None
    return quote + 1
  }

  /** Reads an escape inside base64, such as `\\/`, one character at a time. */
  private readSequence(text: string, at: number): number {
    this.sequence += text[at]
    if (this.sequence.length === (this.sequence[1] === 'u' ? 6 : 2)) {
      this.decoder?.push(JSON.parse(`"${this.sequence}"`) as string)
      this.base64Length += this.sequence.length
      this.sequence = ''
    }
    return at + 1
  }
}

/** Sets a member like `JSON.parse` does: `__proto__` is an ordinary member. */
function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}
