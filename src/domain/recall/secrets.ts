/**
 * Secrets of known forms are replaced before anything is stored, embedded or indexed (fabric contract §7). A form is a beginning
 * that nothing else has, and the characters that follow it; so a text is read once, and each beginning costs a bounded look.
 */
interface SecretForm {
  readonly kind: string
  /** What may follow the beginning. */
  readonly body: RegExp
  /** Fewer characters are no secret. */
  readonly least: number
  /** What looks like one but is a word, such as the name of a CSS class. */
  readonly isProse?: (body: string) => boolean
}

const WORD = /^[A-Za-z0-9]*/
const WORD_LINE = /^\w*/
const WORD_DASH = /^[\w-]*/

const FORMS: Readonly<Record<string, SecretForm>> = {
  AKIA: { kind: 'aws-key', body: /^[A-Z0-9]*/, least: 16 },
  ASIA: { kind: 'aws-key', body: /^[A-Z0-9]*/, least: 16 },
  ghp_: { kind: 'github-token', body: WORD, least: 20 },
  gho_: { kind: 'github-token', body: WORD, least: 20 },
  ghu_: { kind: 'github-token', body: WORD, least: 20 },
  ghs_: { kind: 'github-token', body: WORD, least: 20 },
  ghr_: { kind: 'github-token', body: WORD, least: 20 },
  github_pat_: { kind: 'github-token', body: WORD_LINE, least: 20 },
  'glpat-': { kind: 'gitlab-token', body: WORD_DASH, least: 16 },
  npm_: { kind: 'npm-token', body: WORD, least: 30 },
  sk_live_: { kind: 'stripe-key', body: WORD, least: 10 },
  rk_live_: { kind: 'stripe-key', body: WORD, least: 10 },
  AIza: { kind: 'google-key', body: WORD_DASH, least: 35 },
  cp_: { kind: 'commonplace-key', body: WORD_DASH, least: 49, isProse: (body) => body.length !== 49 },
  'sk-': {
    kind: 'api-key',
    body: WORD_DASH,
    least: 20,
    isProse: (body) => body.includes('-') && !/[0-9A-Z]/.test(body),
  },
  xox: { kind: 'slack-token', body: /^[a-z]-[A-Za-z0-9-]*/, least: 12 },
}

const BEGINNING =
  /AKIA|ASIA|gh[posur]_|github_pat_|glpat-|npm_|[sr]k_live_|AIza|cp_|sk-|xox|eyJ|[Bb]earer |BEARER |:\/\/|-----BEGIN /g
/** No token is longer, but those of three parts. */
const LONGEST = 512
const LONGEST_PART = 8000
const LONGEST_KEY = 20_000

/** A stretch of the text that is a secret. */
interface Found {
  readonly kind: string
  readonly from: number
  readonly to: number
}

const run = (text: string, at: number, body: RegExp, most: number): string =>
  body.exec(text.slice(at, at + most))?.[0] ?? ''

/** Three parts of base64, the first two of which are JSON objects. */
function webToken(text: string, at: number): Found | null {
  const header = run(text, at, WORD_DASH, LONGEST)
  let to = at + header.length
  if (header.length < 8 || !text.startsWith('.eyJ', to)) return null
  const payload = run(text, to + 1, WORD_DASH, LONGEST_PART)
  to += 1 + payload.length
  if (payload.length < 8 || text[to] !== '.') return null
  const signature = run(text, to + 1, WORD_DASH, LONGEST_PART)
  return signature.length < 5 ? null : { kind: 'jwt', from: at, to: to + 1 + signature.length }
}

/** What follows `Bearer `, unless it is a word of a sentence. */
function bearer(text: string, at: number): Found | null {
  const token = run(text, at, /^[\w.~+/=-]*/, LONGEST_PART)
  const isWord = token.length < 20 && !/[0-9]/.test(token)
  return token.length < 8 || isWord ? null : { kind: 'bearer-token', from: at, to: at + token.length }
}

/** The password of a URL that holds one. */
function password(text: string, at: number): Found | null {
  const user = run(text, at, /^[^\s:@/'"`<>]*/, LONGEST)
  const from = at + user.length + 1
  if (text[from - 1] !== ':') return null
  const secret = run(text, from, /^[^\s@/'"`<>${}[\]]*/, LONGEST)
  const to = from + secret.length
  return secret === '' || text[to] !== '@' ? null : { kind: 'password', from, to }
}

/** A private key from its first line to its last. */
function privateKey(text: string, at: number): Found | null {
  const first = text.slice(at, at + 80)
  const label = first.slice('-----BEGIN '.length).split('-----')[0] as string
  if (!label.includes('PRIVATE KEY')) return null
  const last = `-----END ${label}-----`
  const end = text.slice(at, at + LONGEST_KEY).indexOf(last)
  return end < 0 ? null : { kind: 'private-key', from: at, to: at + end + last.length }
}

function secretAt(text: string, at: number, beginning: string): Found | null {
  if (beginning === '://') return password(text, at + 3)
  if (beginning.startsWith('-----')) return privateKey(text, at)
  const before = text[at - 1] ?? ' '
  if (beginning.endsWith('IA') ? /[A-Za-z0-9]/.test(before) : /\w/.test(before)) return null
  if (beginning === 'eyJ') return webToken(text, at)
  if (beginning.endsWith(' ')) return bearer(text, at + beginning.length)
  const { kind, body, least, isProse } = FORMS[beginning] as SecretForm
  const found = run(text, at + beginning.length, body, LONGEST)
  if (found.length < least || isProse?.(found)) return null
  return { kind, from: at, to: at + beginning.length + found.length }
}

/**
 * The text without secrets of known forms: each becomes `[redacted:<kind>]`. Lines keep their numbers.
 *
 * @param text any text, also a whole file of code
 */
export function redact(text: string): string {
  let clean = ''
  let at = 0
  for (const { 0: beginning, index } of text.matchAll(BEGINNING)) {
    if (index < at) continue
    const found = secretAt(text, index, beginning)
    if (found === null) continue
    const breaks = text.slice(found.from, found.to).replace(/[^\n]/g, '')
    clean += `${text.slice(at, found.from)}[redacted:${found.kind}]${breaks}`
    at = found.to
  }
  return clean + text.slice(at)
}
