import { Nearest, Runs } from './runs'
import { BEGINNING, BODIES, formOf, mayBegin, type SecretForm } from './secret-forms'
import { assignedSecrets } from './secret-values'

/**
 * Secrets are replaced before anything is stored, embedded or indexed (fabric contract §7): tokens of known forms, what follows `Bearer`,
 * passwords of URLs, private keys, and values that are named as secrets. A text may be full of beginnings, whose bodies overlap: each
 * character is read a few times all the same (platform contract §6).
 */

/** No token is longer, but those of three parts. */
const LONGEST = 512
const LONGEST_PART = 8000
const LONGEST_KEY = 20_000
/** A line such as `-----BEGIN RSA PRIVATE KEY-----` is no longer. */
const LONGEST_LABEL = 80

/** What follows the first line of a key, and nothing that only names such a line. */
const BODY_OF_KEY = /(?:\\[nrt]|[\s"'+\\]){0,40}(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{1,20}: )/y

/** A stretch of the text that is a secret. */
interface Found {
  readonly kind: string
  readonly from: number
  readonly to: number
}

/** The label behind `-----BEGIN ` or `-----END `; null where none ends. */
function labelAt(text: string, at: number): string | null {
  const line = text.slice(at, at + LONGEST_LABEL)
  const end = line.indexOf('-----')
  return end < 0 ? null : line.slice(0, end)
}

/** Whether words of a sentence could be written so. */
const isProse = (value: string): boolean =>
  value.length < 40 &&
  !/\d/.test(value) &&
  value.split(/[^A-Za-z]+/).every((word) => /^(?:[A-Z]?[a-z]*|[A-Z]*)$/.test(word))

/** Stands for a password in a URL, as a whole, and is none. */
const STANDS_FOR_ONE = /^(?:\$?\{.*\}|\$\w+|\$?\(.*\)|<.*>|\[.*\]|[*.…]+|x+)$/i
/** A user that is a variable, in which a `:` may stand: `${USER:-ada}`. */
const VARIABLE_USER = /^\$?\{[^{}]*\}/
const LINE_END = /[\n\r\u2028\u2029]/
/** Behind the end of a line, what hardly is a word, a date, a host or a file. */
const NO_WORD = /^(?=[^A-Za-z]*[A-Za-z])(?=\D*\d).*[\w~+=]{16}/

/** Looks for secrets at beginnings of one text, in order. */
class Finder {
  private readonly bodies = new Map<keyof typeof BODIES, Runs>()
  private readonly digit: Nearest
  private readonly part: Nearest
  private readonly dot: Nearest
  private readonly headers: Runs
  private readonly payloads: Runs
  private readonly signatures: Runs
  private readonly bearers: Runs
  private readonly authorities: Runs
  private readonly azure: Runs
  private ends: Map<string, number[]> | null = null

  constructor(private readonly text: string) {
    this.digit = new Nearest(text, /\d/g)
    // A long part with a digit, by its end.
    this.part = new Nearest(text, /(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}/g)
    this.dot = new Nearest(text, /\./g)
    this.headers = new Runs(text, /[\w-]*/y)
    this.payloads = new Runs(text, /[\w-]*/y)
    this.signatures = new Runs(text, /[\w-]*/y)
    this.bearers = new Runs(text, /[\w.~+/=-]*/y)
    this.authorities = new Runs(text, /[^\s/?#'"`<>\\]*/y)
    this.azure = new Runs(text, /[\w.~-]*/y)
  }

  /** @param beginning what stands at `at`, of the forms of `BEGINNING` */
  secretAt(at: number, beginning: string): Found | null {
    if (beginning.startsWith(':')) return this.password(at + beginning.length)
    if (beginning.startsWith('-----')) return this.privateKey(at)
    if (beginning.endsWith('Q~')) return this.azureSecret(at)
    if (!mayBegin(this.text, at)) return null
    if (beginning === 'eyJ') return this.webToken(at)
    const form = formOf(beginning)
    return form === undefined
      ? this.credentials(at + beginning.length, LINE_END.test(beginning))
      : this.token(at, at + beginning.length, form)
  }

  private token(at: number, from: number, { kind, body, least, most, holds }: SecretForm): Found | null {
    let runs = this.bodies.get(body)
    if (runs === undefined) {
      runs = new Runs(this.text, BODIES[body]())
      this.bodies.set(body, runs)
    }
    const to = Math.min(runs.endFrom(from), from + LONGEST)
    if (to - from < least || to - from > (most ?? LONGEST)) return null
    return holds !== undefined && !this[holds].isIn(from, to) ? null : { kind, from: at, to }
  }

  /** A secret of an application of Azure: three characters, a digit, `Q~` and thirty-odd more. */
  private azureSecret(at: number): Found | null {
    const from = at - 3
    if (from < 0 || !/^[\w.~-]{3}$/.test(this.text.slice(from, at)) || !mayBegin(this.text, from)) return null
    const to = this.azure.endFrom(at + 3)
    return to - at < 34 || to - at > 43 ? null : { kind: 'azure', from, to }
  }

  /** Three parts of base64, the first two of which are JSON objects. */
  private webToken(at: number): Found | null {
    const { text } = this
    const header = this.headers.endFrom(at)
    if (header - at < 8 || header - at > LONGEST || !text.startsWith('.eyJ', header)) return null
    const payload = this.payloads.endFrom(header + 1)
    if (payload - header < 9 || payload - header > LONGEST_PART || text[payload] !== '.') return null
    const to = Math.min(this.signatures.endFrom(payload + 1), payload + 1 + LONGEST_PART)
    return to - payload < 6 ? null : { kind: 'jwt', from: at, to }
  }

  /** What follows `Bearer` or `Basic`, unless it is a word of a sentence. */
  private credentials(from: number, isOnNextLine: boolean): Found | null {
    const to = Math.min(this.bearers.endFrom(from), from + LONGEST_PART)
    if (to - from < 8 || isProse(this.text.slice(from, Math.min(to, from + 40)))) return null
    if (isOnNextLine && !NO_WORD.test(this.text.slice(from, Math.min(to, from + LONGEST)))) return null
    return { kind: 'authorization', from, to }
  }

  /** The password of a URL that holds one: up to the last `@` before the path. */
  private password(at: number): Found | null {
    const { text } = this
    const end = this.authorities.endFrom(at)
    let to = end - 1
    while (to > at && text[to] !== '@') to--
    let from = at + (VARIABLE_USER.exec(text.slice(at, Math.min(to, at + LONGEST)))?.[0].length ?? 0)
    while (from < to && text[from] !== ':') from++
    from++
    return from >= to || STANDS_FOR_ONE.test(text.slice(from, Math.min(to, from + LONGEST)))
      ? null
      : { kind: 'password', from, to }
  }

  /** A private key from its first line to its last; where none follows, to the end of the text. */
  private privateKey(at: number): Found | null {
    const label = labelAt(this.text, at + '-----BEGIN '.length)
    if (label === null || !label.includes('PRIVATE KEY')) return null
    this.ends ??= this.lastLines()
    const to = this.nextEnd(this.ends.get(label), at)
    if (to !== null && to - at <= LONGEST_KEY) return { kind: 'private-key', from: at, to }
    BODY_OF_KEY.lastIndex = at + '-----BEGIN '.length + label.length + '-----'.length
    return BODY_OF_KEY.test(this.text) ? { kind: 'private-key', from: at, to: to ?? this.text.length } : null
  }

  /** Where last lines of private keys end, by their labels, the last one first. */
  private lastLines(): Map<string, number[]> {
    const ends = new Map<string, number[]>()
    for (const { index } of this.text.matchAll(/-----END /g)) {
      const label = labelAt(this.text, index + '-----END '.length)
      if (label === null || !label.includes('PRIVATE KEY')) continue
      const end = index + '-----END '.length + label.length + '-----'.length
      const known = ends.get(label)
      if (known === undefined) ends.set(label, [end])
      else known.push(end)
    }
    for (const known of ends.values()) known.reverse()
    return ends
  }

  /** The first of these that lies behind a place; those before it are asked for by nobody any more. */
  private nextEnd(ends: number[] | undefined, at: number): number | null {
    while (ends?.length && (ends.at(-1) as number) <= at) ends.pop()
    return ends?.at(-1) ?? null
  }
}

/** Secrets of known forms, in order. */
function* formedSecrets(text: string): Generator<Found> {
  const finder = new Finder(text)
  let at = 0
  for (const { 0: beginning, index } of text.matchAll(BEGINNING)) {
    if (index < at) continue
    const found = finder.secretAt(index, beginning)
    if (found === null || found.from < at) continue
    at = found.to
    yield found
  }
}

function without(text: string, secrets: Iterable<Found>, kinds?: Set<string>): string {
  let clean = ''
  let at = 0
  for (const { kind, from, to } of secrets) {
    const breaks = text.slice(from, to).replace(/[^\n]/g, '')
    clean += `${text.slice(at, from)}[redacted:${kind}]${breaks}`
    kinds?.add(kind)
    at = to
  }
  return clean + text.slice(at)
}

/**
 * The text without secrets: each becomes `[redacted:<kind>]`. Lines keep their numbers.
 *
 * @param text any text, also a whole file of code
 * @param kinds takes what was found
 */
export function redact(text: string, kinds?: Set<string>): string {
  const formed = without(text, formedSecrets(text), kinds)
  return without(formed, assignedSecrets(formed), kinds)
}
