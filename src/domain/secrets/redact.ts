/** Redacts secrets. First: passwords in command lines and login files, which have no name (fabric contract §7). */

import type { JsonValue, Metadata } from '../entry/metadata'
import { jsonText } from '../json/write'
import { assignedSecrets } from './assigned-secrets'
import { isPlaceholder, isWordlike, NextInClass, Runs, type SecretRange } from './secret-text'
import { BEGINNING, BODIES, formsOf, LONGEST_BODY, LONGEST_TOKEN, mayBegin, type TokenForm } from './token-forms'

/** Programs with a short option for a password. */
const PROGRAMS =
  'curl wget https http xh sshpass mysqldump mysqladmin mysqlimport mysqlshow mysql mariadb-dump mariadb redis-cli unzip zip 7za 7z ' +
  'ldapsearch ldapmodify ldapadd ldapwhoami smbclient mongosh mongodump mongorestore mongoexport mongoimport mongo sqlcmd lftp ftp ' +
  'mosquitto_pub mosquitto_sub rabbitmqadmin etcdctl openssl htpasswd'
const LOGIN_PROGRAMS = 'docker podman nerdctl skopeo buildah az oc cf'
const PROGRAM = new RegExp(
  `(?<![\\w.-])(?:${PROGRAMS.replaceAll(' ', '|')}|helm registry login|(?:${LOGIN_PROGRAMS.replaceAll(' ', '|')}) login)(?=[ \\t])`,
  'g',
)
/** The rest of a command that is checked. */
const LONGEST_COMMAND = 400
const QUOTED = `(?:"([^"\\n]{1,128})"|'([^'\\n]{1,128})'|([^\\s"'\`]{1,256}))`
const USER_AND_PASSWORD = new RegExp(
  `(?:^|\\s)(?:-u|-U|--user|--proxy-user|-a|--auth)(?:[ \\t=]+|(?=[^\\s-]))${QUOTED}`,
  'g',
)
const optionOf = (names: string, gap: string): RegExp => new RegExp(`(?:^|\\s)(?:${names})${gap}${QUOTED}`, 'g')

/** A program, and the options that take a password after a blank or at once. */
const OPTIONS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^sshpass/, optionOf('-p', '[ \\t]*')],
  [/^(?:mysql|mariadb)/, optionOf('-p', '')],
  [/login$/, optionOf('-p', '[ \\t]+')],
  [/^redis-cli/, optionOf('-a', '[ \\t]+')],
  [/^(?:zip|unzip|mosquitto|sqlcmd)/, optionOf('-P', '[ \\t]*')],
  [/^7z/, optionOf('-p', '')],
  [/^ldap/, optionOf('-w', '[ \\t]+')],
  [/^(?:mongo|rabbitmqadmin)/, optionOf('-p', '[ \\t]+')],
  [/^openssl/, optionOf('-pass(?:in|out)?', '[ \\t]+pass:')],
  [/^htpasswd/, optionOf('-\\w*b\\w*', '[ \\t]+\\S+[ \\t]+\\S+[ \\t]+')],
]
const LOGINS = /^(?:curl|etcdctl|wget|https?|xh|smbclient|lftp|ftp)$/

/** The value and position of a match: the one of three groups that matched, which is at the end except for a quote. */
function rangeOf(match: RegExpExecArray, offset: number): { value: string; from: number } {
  const value = match[1] ?? match[2] ?? match[3] ?? ''
  return { value, from: offset + match.index + match[0].length - value.length - (match[3] === undefined ? 1 : 0) }
}

const LEAST_PASSWORD = 4

function* ofCommand(program: string, rest: string, offset: number): Generator<SecretRange> {
  if (LOGINS.test(program)) {
    for (const match of rest.matchAll(USER_AND_PASSWORD)) {
      const { value, from } = rangeOf(match, offset)
      const colon = value.search(/[:%]/)
      const password = value.slice(colon + 1)
      if (colon < 0 || password.length < LEAST_PASSWORD || value.startsWith('//', colon + 1)) continue
      if (password === value.slice(0, colon) || isPlaceholder(password, password)) continue
      yield { kind: 'password', from: from + colon + 1, to: from + value.length }
    }
    return
  }
  const option = OPTIONS.find(([of]) => of.test(program))?.[1]
  if (option === undefined) return
  for (const match of rest.matchAll(option)) {
    const { value, from } = rangeOf(match, offset)
    if (value.length < LEAST_PASSWORD || isPlaceholder(value, value)) continue
    yield { kind: 'password', from, to: from + value.length }
  }
}

/** A program started with a token to log in: `wandb login 1f…`. */
const LOGIN_WITH_TOKEN = new RegExp(
  String.raw`(?<=(?:^|[\n;&|${'`'}$#>])[ \t]{0,20}(?:[a-z][\w-]{1,20}[ \t]{1,5}){1,3}` +
    String.raw`(?:login|auth|(?:add-)?authtoken|unseal|token)[ \t]{1,5}["']?)` +
    String.raw`[\w.+/=:-]{20,256}(?=["']?[ \t]{0,5}(?:$|[\r\n;&|${'`'}]))`,
  'g',
)

/** The key that a service client is created with: `new Client("…")`. */
const ARGUMENT_OF_CLIENT =
  /(?<=(?:\bnew (?!Set|Map|Intl|Date|RegExp)[A-Z][\w.]{0,40}|\b\w{0,40}Client\w{0,9})\(\s{0,9}["'])[\w.:-]{20,128}(?=["'])/g
/** A line of a password file: host, port, database and user precede the password. */
const IN_PASSFILE = /(?<=(?:^|[\s"'`])[\w.*-]{1,80}:(?:\d{4,5}|\*):[\w*-]{1,64}:[\w-]{1,64}:)[^\s:"'`]{8,128}/g
const isMixed = (value: string): boolean => /[a-z]/.test(value) && /[A-Z]/.test(value) && !isWordlike(value)
const isRandom = (value: string): boolean =>
  isMixed(value) || (/^\D*\d\D*\d/.test(value) && /[A-Za-z]/.test(value) && !isWordlike(value))

/** Secrets without a name: kind, position, and whether a value is one. */
const UNNAMED = [
  ['token', LOGIN_WITH_TOKEN, isRandom],
  ['token', ARGUMENT_OF_CLIENT, isMixed],
  ['password', IN_PASSFILE, isRandom],
] as const

/** Passes over a text, each of which finds secrets in order. */
const UNNAMED_SECRETS = UNNAMED.map(
  ([kind, place, isOne]) =>
    function* (text: string): Generator<SecretRange> {
      for (const { 0: value, index: from } of text.matchAll(place))
        if (isOne(value) && !isPlaceholder(value, value)) yield { kind, from, to: from + value.length }
    },
)

/** The passwords in commands of a text, in order. */
function* passwordsOfCommands(text: string): Generator<SecretRange> {
  let at = 0
  for (const { 0: program, index } of text.matchAll(PROGRAM)) {
    if (index < at) continue
    const from = index + program.length
    const line = text.slice(from, from + LONGEST_COMMAND)
    const end = /(?<!\\)\r?\n/.exec(line)?.index ?? line.length
    yield* ofCommand(program, line.slice(0, end), from)
    at = from + end
  }
}

/**
 * Secrets are replaced before anything is stored, embedded or indexed (fabric contract §7): tokens of known forms, the
 * value after `Bearer`, passwords of URLs and commands, private keys, and values that are named as secrets. The bodies
 * of many prefixes can overlap, so each character is read only a few times (platform contract §6).
 */

const LONGEST_PART = 8000
const MOST_PUNCTUATION = 64
const LONGEST_KEY = 20_000
/** Maximum length of a line such as `-----BEGIN RSA PRIVATE KEY-----`. */
const LONGEST_LABEL = 80

/** The text after the first line of a key; a mention of such a line does not match. */
const BODY_OF_KEY = /(?:\\[nrt]|[\s"'+\\]){0,40}(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{1,20}: )/y

/** The label after `-----BEGIN ` or `-----END `; null for an incomplete one. */
function labelAt(text: string, at: number): string | null {
  const line = text.slice(at, at + LONGEST_LABEL)
  const end = line.indexOf('-----')
  return end < 0 ? null : line.slice(0, end)
}

/** Whether a value may be words of a sentence. */
const isProse = (value: string): boolean =>
  value.length < 40 &&
  !/\d/.test(value) &&
  (value.split(/[^A-Za-z]+/).every((word) => /^(?:[A-Z]?[a-z]*|[A-Z]*)$/.test(word)) || isWordlike(value))

/** Placeholders for the password of a URL. */
const STANDS_FOR_ONE = /^(?:\$?\{.*\}|\$\w+|\$?\(.*\)|<.*>|\[.*\]|%\w+%|[*.…]+|x+)$/i
const WORD_FOR_ONE = /^(?:(?:my|your|db|the)?[-_]?(?:passw(?:or)?d|pass|pwd?|secret|token|example)|change.?me)$/i
const LOCAL_HOST = /^@(?:localhost|127\.0\.0\.1|host\.docker\.internal|db|database|postgres|mysql|redis)(?::|$)/
/** Maximum characters of a token that are compared with words. */
const LONGEST_CHECKED = 48
/** A user that is a variable, which can contain a `:`: `${USER:-ada}`. */
const VARIABLE_USER = /^\$?\{[^{}]*\}/
const LINE_END = /[\n\r\u2028\u2029]/
/** Text after a line end that is unlikely to be a word, date, host or file. */
const NO_WORD = /^(?=[^A-Za-z]*[A-Za-z])(?=\D*\d).*[\w~+=]{16}/

/** Tokens with a mark inside: the text before and after it, and its length. */
interface MarkedForm {
  readonly kind: string
  readonly mark: RegExp
  /** Ends where the mark starts. */
  readonly before: RegExp
  /** Maximum characters before the mark, plus one. */
  readonly mostBefore: number
  readonly after: 'dashed' | 'dotted' | 'letters' | 'base64'
  readonly least: number
  readonly most: number
}

const MARKED: readonly MarkedForm[] = [
  {
    kind: 'telegram',
    mark: /^:[A-Z]$/,
    before: /(?<!\d)\d{8,11}$/,
    mostBefore: 12,
    after: 'dashed',
    least: 31,
    most: 36,
  },
  { kind: 'laravel', mark: /^\|$/, before: /(?<!\w)\d{1,7}$/, mostBefore: 9, after: 'letters', least: 48, most: 48 },
  {
    kind: 'discord',
    mark: /^\.$/,
    before: /(?<![\w-])[MNO][\w-]{22,27}$/,
    mostBefore: 30,
    after: 'dotted',
    least: 33,
    most: 48,
  },
  {
    kind: 'terraform',
    mark: /^\.atlasv1\.$/,
    before: /(?<!\w)[A-Za-z0-9]{14}$/,
    mostBefore: 15,
    after: 'base64',
    least: 40,
    most: 90,
  },
  {
    kind: 'mailchimp',
    mark: /^-us\d$/,
    before: /(?<![a-z0-9])[a-f0-9]{32}$/,
    mostBefore: 33,
    after: 'letters',
    least: 0,
    most: 1,
  },
  {
    kind: 'newrelic',
    mark: /^NRAL$/,
    before: /(?<!\w)[a-f0-9]{36}$/,
    mostBefore: 37,
    after: 'letters',
    least: 0,
    most: 0,
  },
  {
    kind: 'maxmind',
    mark: /^_mmk$/,
    before: /(?<!\w)[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/,
    mostBefore: 37,
    after: 'letters',
    least: 0,
    most: 0,
  },
  {
    kind: 'azure',
    mark: /^(?:JQQJ99|AZDO|Az..|\+ASt|ACDb|AIoT)$/,
    before: /(?<![\w+/])[\w+/]{32,76}$/,
    mostBefore: 78,
    after: 'base64',
    least: 4,
    most: 46,
  },
]

const LONGEST_MARK = '.atlasv1.'.length

/** Finds the secrets that start at given positions of a text, in order. */
class Finder {
  private readonly bodies = new Map<keyof typeof BODIES, Runs>()
  private readonly digit: NextInClass
  private readonly part: NextInClass
  private readonly dot: NextInClass
  private readonly headers: Runs
  private readonly payloads: Runs
  private readonly signatures: Runs
  private readonly bearers: Runs
  private readonly authorities: Runs
  private readonly azure: Runs
  private ends: Map<string, number[]> | null = null
  private wordsTo = -1
  private areWords = false

  constructor(private readonly text: string) {
    this.digit = new NextInClass(text, /\d/g)
    // A long part with a digit, by its end.
    this.part = new NextInClass(
      text,
      /(?<![A-Za-z0-9])(?=[A-Za-z]*\d|[A-Za-z]*[A-Z]{2}[a-z]|[A-Za-z]*[a-z][A-Z][a-z][A-Z])[A-Za-z0-9]{16,}/g,
    )
    this.dot = new NextInClass(text, /\./g)
    this.headers = new Runs(text, /[\w-]*/y)
    this.payloads = new Runs(text, /[\w-]*/y)
    this.signatures = new Runs(text, /[\w-]*/y)
    this.bearers = new Runs(text, /[\w.~+/=!%-]*/y)
    this.authorities = new Runs(text, /[^\s/?#'"`<>\\]*/y)
    this.azure = new Runs(text, /[\w.~-]*/y)
  }

  /** @param beginning the match of `BEGINNING` at `at` */
  secretAt(at: number, beginning: string): SecretRange | null {
    const marked = beginning.length > LONGEST_MARK ? undefined : MARKED.find(({ mark }) => mark.test(beginning))
    if (marked !== undefined) return this.marked(at, at + beginning.length, marked)
    if (beginning.startsWith(':')) return this.password(at + beginning.length)
    if (beginning.startsWith('-----')) return this.privateKey(at)
    if (beginning.endsWith('Q~')) return this.azureSecret(at)
    if (!mayBegin(this.text, at)) return null
    if (beginning === 'eyJ') return this.webToken(at)
    const forms = formsOf(beginning)
    if (forms.length === 0) return this.credentials(at + beginning.length, LINE_END.test(beginning))
    for (const { form, prefixLength } of forms) {
      const found = this.token(at, at + prefixLength, form)
      if (found !== null) return found
    }
    return null
  }

  private runsOf(body: keyof typeof BODIES): Runs {
    let runs = this.bodies.get(body)
    if (runs === undefined) {
      runs = new Runs(this.text, BODIES[body]())
      this.bodies.set(body, runs)
    }
    return runs
  }

  /**
   * The end of a token without punctuation. The number of removed characters is limited, because many tokens can share
   * a long end.
   */
  private trimmed(from: number, to: number): number {
    const least = Math.max(from, to - MOST_PUNCTUATION)
    while (to > least && '.:'.includes(this.text[to - 1] as string)) to--
    return to
  }

  private token(at: number, from: number, { kind, body, least, most, holds }: TokenForm): SecretRange | null {
    let to = Math.min(this.runsOf(body).endFrom(from), from + LONGEST_BODY)
    to = this.trimmed(from, to)
    if (to - from < least || to - from > most) return null
    if (holds !== null && !this[holds].isIn(from, to) && !(holds === 'part' && this.isMixed(from, to))) return null
    return this.isRandom(from, to) ? { kind, from: at, to } : null
  }

  /** Whether a token contains digits, upper and lower case letters, unlike words joined by dashes. */
  private isMixed(from: number, to: number): boolean {
    const value = this.text.slice(from, Math.min(to, from + LONGEST_CHECKED))
    return (
      /^\D*\d\D*\d\D*\d/.test(value) &&
      /^[^A-Z]*[A-Z][^A-Z]*[A-Z]/.test(value) &&
      /[a-z]/.test(value) &&
      !isWordlike(value)
    )
  }

  /** A token can consist of letters only, unless they are words. */
  private isRandom(from: number, to: number): boolean {
    if (this.digit.isIn(from, to)) return true
    if (this.wordsTo !== to) {
      this.wordsTo = to
      this.areWords = isWordlike(this.text.slice(from, Math.min(to, from + LONGEST_CHECKED)))
    }
    return !this.areWords
  }

  private marked(at: number, from: number, form: MarkedForm): SecretRange | null {
    const { kind, before, mostBefore, after, least, most } = form
    if (!(kind === 'telegram' ? /\d/ : /\w/).test(this.text[at - 1] ?? '')) return null
    let to = this.runsOf(after).endFrom(from)
    to = this.trimmed(from, to)
    if (to - from < least || to - from > most) return null
    const begin = before.exec(this.text.slice(Math.max(0, at - mostBefore), at))?.[0]
    return begin === undefined ? null : { kind, from: at - begin.length, to }
  }

  /** The secret of an Azure application: three characters, a digit, `Q~` and more than thirty others. */
  private azureSecret(at: number): SecretRange | null {
    const from = at - 3
    if (from < 0 || !/^[\w.~-]{3}$/.test(this.text.slice(from, at)) || !mayBegin(this.text, from)) return null
    const to = this.azure.endFrom(at + 3)
    return to - at < 34 || to - at > 43 ? null : { kind: 'azure', from, to }
  }

  /** Three parts of base64, the first two of which are JSON objects. */
  private webToken(at: number): SecretRange | null {
    const { text } = this
    const header = this.headers.endFrom(at)
    if (header - at < 8 || header - at > LONGEST_TOKEN || !text.startsWith('.eyJ', header)) return null
    const payload = this.payloads.endFrom(header + 1)
    if (payload - header < 9 || payload - header > LONGEST_PART || text[payload] !== '.') return null
    const to = Math.min(this.signatures.endFrom(payload + 1), payload + 1 + LONGEST_PART)
    return to - payload < 6 ? null : { kind: 'jwt', from: at, to }
  }

  /** The text after `Bearer` or `Basic`, unless it is a word of a sentence. */
  private credentials(from: number, isOnNextLine: boolean): SecretRange | null {
    const to = Math.min(this.bearers.endFrom(from), from + LONGEST_PART)
    if (to - from < 8 || isProse(this.text.slice(from, Math.min(to, from + 40)))) return null
    if (isOnNextLine && !NO_WORD.test(this.text.slice(from, Math.min(to, from + LONGEST_TOKEN)))) return null
    return { kind: 'authorization', from, to }
  }

  /** The password of a URL: up to the last `@` before the path. */
  private password(at: number): SecretRange | null {
    const { text } = this
    const end = this.authorities.endFrom(at)
    let to = end - 1
    while (to > at && text[to] !== '@') to--
    let from = at + (VARIABLE_USER.exec(text.slice(at, Math.min(to, at + LONGEST_TOKEN)))?.[0].length ?? 0)
    while (from < to && text[from] !== ':') from++
    from++
    const password = text.slice(from, Math.min(to, from + LONGEST_TOKEN))
    if (from >= to || STANDS_FOR_ONE.test(password) || WORD_FOR_ONE.test(password)) return null
    // Credentials of a development database, where user and password are equal.
    if (text.startsWith(`${password}:`, at) && LOCAL_HOST.test(text.slice(to, end))) return null
    return { kind: 'password', from, to }
  }

  /** A private key from its first line to its last one; without a last line, to the end of the text. */
  private privateKey(at: number): SecretRange | null {
    const label = labelAt(this.text, at + '-----BEGIN '.length)
    if (label === null || !label.includes('PRIVATE KEY')) return null
    this.ends ??= this.lastLines()
    const to = this.nextEnd(this.ends.get(label), at)
    if (to !== null && to - at <= LONGEST_KEY) return { kind: 'private-key', from: at, to }
    BODY_OF_KEY.lastIndex = at + '-----BEGIN '.length + label.length + '-----'.length
    return BODY_OF_KEY.test(this.text) ? { kind: 'private-key', from: at, to: to ?? this.text.length } : null
  }

  /** The ends of private keys by label, last one first. */
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

  /** The first of these after a position; earlier ones are removed. */
  private nextEnd(ends: number[] | undefined, at: number): number | null {
    while (ends?.length && (ends.at(-1) as number) <= at) ends.pop()
    return ends?.at(-1) ?? null
  }
}

/** Letters and digits after an unknown prefix: at least thirty, in both cases, with digits. */
const LONG_PART = /[_-][A-Za-z0-9]{30,}/g
const UNKNOWN_PREFIX = /(?<![\w/+=.-])[A-Za-z][A-Za-z0-9]{1,15}(?:[_-][A-Za-z0-9]{1,8}){0,3}$/
const LONGEST_PREFIX = 52
/** A digest with a suffix. */
const HEX_FIRST = /^[0-9a-f]{30}/
const NO_PREFIX = /^(?:sha\d|md5|commit|chunk|index|asset|file|img|image|etag|msg|call|toolu|req|chatcmpl)/i

/** Tokens of unknown forms, in order. */
function* unlistedTokens(text: string): Generator<SecretRange> {
  for (const { 0: part, index } of text.matchAll(LONG_PART)) {
    const body = part.slice(1, LONGEST_TOKEN)
    if (HEX_FIRST.test(body) || !/[a-z]/.test(body) || !/[A-Z]/.test(body) || isWordlike(body)) continue
    const prefix = UNKNOWN_PREFIX.exec(text.slice(Math.max(0, index - LONGEST_PREFIX), index))?.[0]
    if (prefix === undefined || NO_PREFIX.test(prefix) || /[\w+/=]/.test(text[index + part.length] ?? '')) continue
    yield { kind: 'token', from: index - prefix.length, to: index + part.length }
  }
}

/** Secrets of known forms, in order. */
function* formedSecrets(text: string): Generator<SecretRange> {
  const finder = new Finder(text)
  let at = 0
  BEGINNING.lastIndex = 0
  for (let match = BEGINNING.exec(text); match !== null; match = BEGINNING.exec(text)) {
    const found = finder.secretAt(match.index, match[0])
    // Another prefix can start inside one that no token follows.
    BEGINNING.lastIndex = match.index + 1
    if (found === null || found.from < at) continue
    at = found.to
    BEGINNING.lastIndex = at
    yield found
    BEGINNING.lastIndex = at
  }
}

function without(text: string, secrets: Iterable<SecretRange>, kinds?: Set<string>): string {
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
 * Replaces the secrets of a text with `[redacted:<kind>]`. Line numbers do not change.
 * @param text any text, including complete files of code
 * @param kinds receives the kinds that were found
 */
export function redact(text: string, kinds?: Set<string>): string {
  const passes = [formedSecrets, passwordsOfCommands, ...UNNAMED_SECRETS, assignedSecrets, unlistedTokens]
  return passes.reduce((rest, secretsOf) => without(rest, secretsOf(rest), kinds), text)
}

/** Maximum length of a named value that can be a secret. */
const LONGEST_VALUE = 512

/**
 * Redacts a metadata value, also by its name.
 * @param kinds receives the kinds that were found
 */
export function redactValue(value: JsonValue, name: string, kinds: Set<string>): JsonValue {
  if (typeof value === 'string') {
    const clean = redact(value, kinds)
    if (clean !== value || value.length > LONGEST_VALUE) return clean
    const named = `${jsonText(name)}: ${jsonText(value)}`
    return redact(named, kinds) === named ? value : '[redacted:secret]'
  }
  if (Array.isArray(value)) return value.map((item) => redactValue(item, name, kinds))
  if (typeof value !== 'object' || value === null) return value
  const object: Metadata = Object.create(null)
  for (const [key, member] of Object.entries(value)) object[key] = redactValue(member, key, kinds)
  return object
}

/** The kinds of secrets that an entry seems to contain, in its text and metadata. */
export function secretsOf({ text, metadata }: { readonly text: string; readonly metadata: Metadata | null }): string[] {
  const kinds = new Set<string>()
  redact(text, kinds)
  if (metadata !== null) redactValue(metadata, '', kinds)
  return [...kinds]
}
