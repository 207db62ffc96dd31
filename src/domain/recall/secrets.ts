import { Nearest, Runs } from './runs'

/**
 * Secrets of known forms are replaced before anything is stored, embedded or indexed (fabric contract §7). A form is a beginning
 * that nothing else has, and the characters that follow it. A text may be full of beginnings, whose bodies overlap: each character is
 * read a few times all the same (platform contract §6).
 */
interface SecretForm {
  readonly kind: string
  /** What may follow the beginning. */
  readonly body: 'capitals' | 'letters' | 'lettersAndDashes' | 'words' | 'dashed'
  /** Fewer characters are no secret. */
  readonly least: number
  /** More are none, either. */
  readonly most?: number
  /** Words joined by dashes are one that looks alike, such as the name of a CSS class. */
  readonly orProse?: true
}

const GITHUB: SecretForm = { kind: 'github-token', body: 'letters', least: 20 }
const STRIPE: SecretForm = { kind: 'stripe-key', body: 'letters', least: 10 }
const AWS: SecretForm = { kind: 'aws-key', body: 'capitals', least: 16 }

const FORMS: Readonly<Record<string, SecretForm>> = {
  AKIA: AWS,
  ASIA: AWS,
  ghp_: GITHUB,
  gho_: GITHUB,
  ghu_: GITHUB,
  ghs_: GITHUB,
  ghr_: GITHUB,
  github_pat_: { ...GITHUB, body: 'words' },
  'glpat-': { kind: 'gitlab-token', body: 'dashed', least: 16 },
  npm_: { kind: 'npm-token', body: 'letters', least: 30 },
  sk_live_: STRIPE,
  rk_live_: STRIPE,
  AIza: { kind: 'google-key', body: 'dashed', least: 35 },
  cp_: { kind: 'commonplace-key', body: 'dashed', least: 49, most: 49 },
  'sk-': { kind: 'api-key', body: 'dashed', least: 20, orProse: true },
}
const SLACK: SecretForm = { kind: 'slack-token', body: 'lettersAndDashes', least: 11 }

const BEGINNING =
  /AKIA|ASIA|gh[posur]_|github_pat_|glpat-|npm_|[sr]k_live_|AIza|cp_|sk-|xox[a-z](?=-)|eyJ|[Bb]earer |BEARER |:\/\/|-----BEGIN /g
/** No token is longer, but those of three parts. */
const LONGEST = 512
const LONGEST_PART = 8000
const LONGEST_KEY = 20_000
/** A line such as `-----BEGIN RSA PRIVATE KEY-----` is no longer. */
const LONGEST_LABEL = 80

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

/** Looks for secrets at beginnings of one text, in order. */
class Finder {
  private readonly bodies: Readonly<Record<SecretForm['body'], Runs>>
  private readonly dash: Nearest
  private readonly digitOrCapital: Nearest
  private readonly headers: Runs
  private readonly payloads: Runs
  private readonly signatures: Runs
  private readonly bearers: Runs
  private readonly users: Runs
  private readonly passwords: Runs
  private ends: Map<string, number[]> | null = null

  constructor(private readonly text: string) {
    this.bodies = {
      capitals: new Runs(text, /[A-Z0-9]*/y),
      letters: new Runs(text, /[A-Za-z0-9]*/y),
      lettersAndDashes: new Runs(text, /[A-Za-z0-9-]*/y),
      words: new Runs(text, /\w*/y),
      dashed: new Runs(text, /[\w-]*/y),
    }
    this.dash = new Nearest(text, /-/g)
    this.digitOrCapital = new Nearest(text, /[0-9A-Z]/g)
    this.headers = new Runs(text, /[\w-]*/y)
    this.payloads = new Runs(text, /[\w-]*/y)
    this.signatures = new Runs(text, /[\w-]*/y)
    this.bearers = new Runs(text, /[\w.~+/=-]*/y)
    this.users = new Runs(text, /[^\s:@/'"`<>]*/y)
    this.passwords = new Runs(text, /[^\s@/'"`<>${}[\]]*/y)
  }

  /** @param beginning what stands at `at`, of the forms of `BEGINNING` */
  secretAt(at: number, beginning: string): Found | null {
    if (beginning === '://') return this.password(at + 3)
    if (beginning.startsWith('-----')) return this.privateKey(at)
    const before = this.text[at - 1] ?? ' '
    if (beginning.endsWith('IA') ? /[A-Za-z0-9]/.test(before) : /\w/.test(before)) return null
    if (beginning === 'eyJ') return this.webToken(at)
    if (beginning.endsWith(' ')) return this.bearer(at + beginning.length)
    return this.token(at, at + beginning.length, FORMS[beginning] ?? SLACK)
  }

  private token(at: number, from: number, { kind, body, least, most, orProse }: SecretForm): Found | null {
    const to = Math.min(this.bodies[body].endFrom(from), from + LONGEST)
    if (to - from < least || to - from > (most ?? LONGEST)) return null
    if (orProse && this.dash.isIn(from, to) && !this.digitOrCapital.isIn(from, to)) return null
    return { kind, from: at, to }
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

  /** What follows `Bearer `, unless it is a word of a sentence. */
  private bearer(from: number): Found | null {
    const to = Math.min(this.bearers.endFrom(from), from + LONGEST_PART)
    const isWord = to - from < 20 && !/[0-9]/.test(this.text.slice(from, to))
    return to - from < 8 || isWord ? null : { kind: 'bearer-token', from, to }
  }

  /** The password of a URL that holds one. */
  private password(at: number): Found | null {
    const user = this.users.endFrom(at)
    if (user - at > LONGEST || this.text[user] !== ':') return null
    const from = user + 1
    const to = this.passwords.endFrom(from)
    const isOne = to > from && to - from <= LONGEST && this.text[to] === '@'
    return isOne ? { kind: 'password', from, to } : null
  }

  /** A private key from its first line to its last. */
  private privateKey(at: number): Found | null {
    const label = labelAt(this.text, at + '-----BEGIN '.length)
    if (label === null || !label.includes('PRIVATE KEY')) return null
    this.ends ??= this.lastLines()
    const to = this.nextEnd(this.ends.get(label), at)
    return to === null || to - at > LONGEST_KEY ? null : { kind: 'private-key', from: at, to }
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

/**
 * The text without secrets of known forms: each becomes `[redacted:<kind>]`. Lines keep their numbers.
 *
 * @param text any text, also a whole file of code
 */
export function redact(text: string): string {
  const finder = new Finder(text)
  let clean = ''
  let at = 0
  for (const { 0: beginning, index } of text.matchAll(BEGINNING)) {
    if (index < at) continue
    const found = finder.secretAt(index, beginning)
    if (found === null) continue
    const breaks = text.slice(found.from, found.to).replace(/[^\n]/g, '')
    clean += `${text.slice(at, found.from)}[redacted:${found.kind}]${breaks}`
    at = found.to
  }
  return clean + text.slice(at)
}
