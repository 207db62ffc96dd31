import { isPlaceholder, isWordlike, type SecretRange } from './secret-text'

/**
 * The strength of a name: every value of a strong name such as `password` is a secret, one of a weak name such as
 * `auth` only if it looks random.
 */
export type NameStrength = 'strong' | 'plain' | 'weak'

const KEYS =
  '(?:api|access|secret|private|auth|encryption|signing|master|account|subscription|license|admin|session|service|app|application|server|' +
  'webhook)'
/** Names whose values are secrets (fabric contract §7). */
const ENDS_WITH_ONE =
  /(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|_key|accountkey|sharedaccesskey)\d*$/i
const KEY_OF_SERVICE = new RegExp(`${KEYS}[-_.]?key\\d*$`, 'i')
const PASS = /(?:^|[^A-Za-z])pass\d*$|[a-z]Pass\d*$/i
/** Names of passwords that include their user or service. */
const PASS_OF =
  /(?:db|user|admin|root|smtp|mail|ftp|ssh|sql|redis|pg|proxy|become|sudo|login|key|cert|store|vault|mongo|mq|bind|account)[-_.]?pass\d*$/i
const AUTH = /(?:^|[^A-Za-z])_?auth$/i
const OTHER_KEY = /[a-z]Key\d*$|[-.](?:key|KEY|Key)\d*$/
const NO_SECRET_KEY = new RegExp(
  '(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|index|unique|query|publishable|site|socket|object|s3|file|' +
    'map|hash)-?key\\d*$',
  'i',
)
const STRONG =
  /(?:passw(?:or)?d|passphrase|passcode|passwort|pwd)|secret\d*$|(?:api|access|auth|private|signing|encryption|master)[-_.]?key\d*$/i
const HARMLESS_KEY =
  /(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|index|unique|storage|query|publishable|site)_key$/i
/** A name up to its last word for a secret. */
const LAST_WORD = new RegExp(
  `^.*(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|${KEYS}[-_.]?key)`,
  'i',
)
/** The boundary between two words of a name. */
const BETWEEN_WORDS = /[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/

/** Words that, after a word for a secret, describe it: `tokenCount`, `PASSWORD_MIN_LENGTH`, `token.ts`. */
const ABOUT_ONE = new Set(
  (
    'age agent algorithm alg arn at audience box budget button category chars class column cost count counter counts created date days ' +
    'description dir duration enabled encoder encoding endpoint env error errors event expire expires expiration expiry field fields ' +
    'file filename flag form format generator group handler header help hint host hours id ids in index input issuer kind label length ' +
    'len lifetime limit limits list manager max message method min minutes mode model ms name names number offset on path pattern ' +
    'placeholder policy position prefix price prompt provider rate ref reference regex remaining required reset response rotation ' +
    'rule rules schema scope scopes score seconds selector service size source start state status stdin store stream strength suffix ' +
    'table text time timeout title ttl type types updated uri url usage used validator version visible window ' +
    'cs css go html java js json jsx log md php py rb rs sh sql toml ts tsx txt vue yaml yml'
  ).split(' '),
)

/**
 * The strength of a name; null for a name whose value is not a secret. Names can continue: `DB_PASSWORD_PROD`,
 * `tokenValue`, but not `tokenizer`.
 */
function strengthOf(name: string): NameStrength | null {
  if (ENDS_WITH_ONE.test(name) || KEY_OF_SERVICE.test(name))
    return HARMLESS_KEY.test(name) ? null : STRONG.test(name) ? 'strong' : 'plain'
  if (PASS_OF.test(name) || /psk$|honeycomb-team$/i.test(name)) return 'plain'
  if (PASS.test(name) || AUTH.test(name)) return 'weak'
  if (OTHER_KEY.test(name)) return NO_SECRET_KEY.test(name) ? null : 'weak'
  const word = LAST_WORD.exec(name)?.[0]
  if (word === undefined) return null
  const tail = name.slice(word.length)
  const goesOn = /[A-Z]$/.test(word) ? /^[A-Za-z]/ : /^[a-z]/
  if (goesOn.test(tail) || tail.split(BETWEEN_WORDS).some((part) => ABOUT_ONE.has(part.toLowerCase()))) return null
  return STRONG.test(word) ? 'strong' : 'plain'
}

/** Finds values that are secrets because of their names (fabric contract §7). */

/** From a word for a secret to the end of the name. */
const NAME = new RegExp(
  String.raw`(?:secret|pass(?:w(?:or)?d|phrase|code|wort)?|pwd|token|key|credential|unseal|authorization|cookie|_auth|\bauth|sig|psk|` +
    String.raw`appid|honeycomb-team)[\w.-]*`,
  'gi',
)
/** Color codes; a terminal can show a name and its value in different colors. */
const COLOR = String.raw`(?:(?:\p{Cc}|\\x1b|\\u001b|\\033|\\e)\[[0-9;]{0,9}m)?`
/** The separator of a name and its value: quotes, escaped or not, a type, and an assignment. */
const ASSIGNED = new RegExp(
  [
    String.raw`${COLOR}(?:\\{0,3}["'${'`'}]|\*\*)?\]?${COLOR}[ \t]{0,20}(?:=>|:=|\?=|[=:](?![=:]))`,
    String.raw`${COLOR}(?:\*\*)?[ \t]{0,20}(?:[A-Za-z]{1,20}[ \t]{1,5}=[ \t]{0,5})?${COLOR}`,
  ].join(''),
  'uy',
)
/** The separator where name and value are members of one object, attribute or list item. */
const AS_VALUE =
  /\\{0,3}["'`]?[ \t]{0,5},?\s{0,20}\\{0,3}["'`]?(?:value|content|default)\\{0,3}["'`]?[ \t]{0,5}[:=][ \t]{0,5}/iy
/** The rest of a tag, where a value without tags and the end of the element follow. */
const IN_ELEMENT = /(?:["'][^<>\n]{0,60})?>(?=[^<>\n]{1,256}<\/)[ \t]{0,5}/y
/** A comparison with a literal. */
const COMPARED = /["'`]?\]?[ \t]{0,5}[!=]==?[ \t]{0,5}(?=["'`])/y
/** The next argument or item, where the name is one: `define('DB_PASSWORD', '…')`. */
const AS_NEXT = /\\{0,3}["'][ \t]{0,5},[ \t]{0,5}(?:["'](?=["']))?(?=\\{0,3}["'])/y
/** The user of credentials, before their password. */
const AFTER_USER = /\(\s{0,5}["'][^"'\n]{1,80}["'],\s{0,5}(?=["'])/y
const AS_ARGUMENT = /\([ \t]{0,5}(?=["'`])/y
/** `Unseal Key 2`. */
const NUMBER = /[ \t]\d{1,2}(?=:)/y
const BLANKS = /[ \t]{1,20}/y
const IN_PROSE =
  /[ \t]{0,3}(?:(?:for|of|to|on|in)[ \t]\S{1,40}[ \t])?(?:is|was|are|=|is:|will be|should be|\|)[ \t]{1,5}/iy
const QUOTE = /[bBruU@]?\\{0,3}["'`]/y
const BLOCK = /[|>][+-]?\d?[ \t]{0,20}\r?\n/y
/** The value between two quotes of a kind: without blanks, and with them. */
const QUOTED: Readonly<Record<string, readonly [word: RegExp, line: RegExp]>> = {
  '"': [/[^\s"\\\p{Cc}]*/uy, /[^\n"\\\p{Cc}]*/uy],
  "'": [/[^\s'\\\p{Cc}]*/uy, /[^\n'\\\p{Cc}]*/uy],
  '`': [/[^\s`\\\p{Cc}]*/uy, /[^\n`\\\p{Cc}]*/uy],
}
const ON_LINE = /[^\s"'`\p{Cc}]*/uy
const IN_PARAMETER = /[^\s"'`<>&;#)\p{Cc}]*/uy
const IN_CONNECTION = /[^\s"'`<>;\p{Cc}]*/uy
const IN_TAGS = /[^<>\n\p{Cc}]*/uy
const BARE = /[^\s"'`,;&()[\]{}<>\\=:|\p{Cc}]*={0,2}/uy

const LEAST = 8
/** Passwords are shorter than tokens. */
const LEAST_OF_PASSWORD = 6
/** Maximum characters of a value, and of the line after its start, that are checked. */
const LONGEST_CHECKED = 256
const LONGEST_NAME = 64
const LONGEST_COOKIES = 4_000
const LONGEST_BLOCK = 8_000

const PASSWORD = /passw|passphrase|passcode|pwd/i
const WORD_OF_SECRET = /secret|passw|pwd|token|key|required|invalid|missing|credential|hash/i
/** A variable, or a member of one. */
const MEMBER = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/
/** Characters that read or change a variable outside quotes. */
const OF_VARIABLE = '$*#%'
const UPPER = /^[A-Z][A-Z0-9_]*$/
/** Words of messages and labels, which passphrases rarely contain. */
const MESSAGE_WORDS = new Set(
  (
    'must be is are was the a an your it its of for at should not no with and or in on to please enter forgot reset change confirm new ' +
    'min least character characters if this that can cannot will use see from by'
  ).split(' '),
)
const isMessage = (value: string): boolean =>
  /[?…]|\.\.\./.test(value) || value.split(/\s/).some((word) => MESSAGE_WORDS.has(word.toLowerCase()))
const CODE_FOLLOWS = /^[,;()[\]{}<>.=&|]/
const LINE_ENDS = /^(?:[ \t]{0,5}(?:$|[\r\n]|#|\/\/|\\n|\\r)|["'`]|\p{Cc}|\\(?:u001b|x1b|033|e\[))/u

/**
 * - `line`: the complete value of a setting, an option, a header or a parameter
 * - `quoted`, `bare`: a value without blanks in data or code
 * - `words`: a quoted value with blanks
 * - `prose`: a value in a sentence
 */
type Form = 'line' | 'quoted' | 'bare' | 'words' | 'prose'

interface Value {
  readonly strength: NameStrength | null
  readonly form: Form
  /** The value, and the text that follows it. */
  readonly rest: string
}

const digitsOf = (value: string): number => value.match(/\d/g)?.length ?? 0
const looksRandom = (value: string): boolean =>
  (digitsOf(value) > 0 && /[A-Za-z]/.test(value)) ||
  (/[a-z]/i.test(value) && /[!@#%^*+~$]/.test(value)) ||
  !isWordlike(value)

/** Whether an unquoted value in data or code is a secret, and not a variable, a type or a word of a sentence. */
function isBareSecret(value: string, { strength, rest }: Value): boolean {
  if (OF_VARIABLE.includes(value.charAt(0))) return false
  if (digitsOf(value) >= 2 || /[-!@#%^*+/~]/.test(value)) return true
  const after = rest.slice(value.length, value.length + 8)
  if (strength === 'strong' && LINE_ENDS.test(after)) return !WORD_OF_SECRET.test(value) || !isWordlike(value)
  if (CODE_FOLLOWS.test(after) && /^[A-Za-z_]+\d?$/.test(value)) return !isWordlike(value)
  return !isWordlike(value)
}

/** Whether a named value is a secret. */
function isSecret(value: string, named: Value): boolean {
  const { strength, form, rest } = named
  if (isPlaceholder(value, rest)) return false
  if (strength === null) return form !== 'words' && digitsOf(value) >= 2 && value.length >= 20 && /[A-Za-z]/.test(value)
  if (strength === 'weak' && form !== 'line')
    return (
      value.length >= 16 &&
      digitsOf(value) > 0 &&
      looksRandom(value) &&
      (digitsOf(value) > 1 || (/[A-Z]/.test(value) && !isWordlike(value)))
    )
  if (form === 'line') return true
  if (form === 'words')
    return strength === 'strong' && /^\w/.test(value) && !WORD_OF_SECRET.test(value) && !isMessage(value)
  if (value.includes('.') && MEMBER.test(value) && digitsOf(value) < 4) return false
  if (form === 'prose') return looksRandom(value)
  if (form === 'bare') return isBareSecret(value, named)
  if (digitsOf(value) > 0) return true
  if (/[^\w\-./]/.test(value)) return !(/[/#]/.test(value) && WORD_OF_SECRET.test(value) && isWordlike(value))
  return !isWordlike(value) || (strength === 'strong' && !WORD_OF_SECRET.test(value))
}

/** Matches a sticky expression at a position; null without a match. */
function matchAt(expression: RegExp, text: string, at: number): string | null {
  expression.lastIndex = at
  return expression.exec(text)?.[0] ?? null
}

const endOf = (run: RegExp, text: string, from: number): number => from + (matchAt(run, text, from)?.length ?? 0)

interface Name {
  readonly text: string
  readonly from: number
  readonly to: number
}

/** The form of the value after a name, and its earliest start. */
interface Separator {
  readonly end: number
  readonly form: Form | 'element' | 'parameter' | 'member' | 'argument'
}

/** The text before a name on its line. */
const textBefore = (text: string, at: number, length: number): string => text.slice(Math.max(0, at - length), at)

function formOfAssigned(text: string, { text: name, from }: Name, assigned: string, end: number): Separator['form'] {
  const isTight =
    assigned === '=' || (/\p{Cc}/u.test(assigned) && /^=$/.test(assigned.replace(/\p{Cc}\[[0-9;]{0,9}m/gu, '')))
  const before = text[from - 1] === ' ' ? text[from - 2] : text[from - 1]
  if (isTight && (before === '?' || before === '&')) return 'parameter'
  if (isTight && before === ';') return 'member'
  if (name.startsWith('-') || (isTight && UPPER.test(name))) return 'line'
  // A connection string starts with it.
  const isFirst = isTight && (before === undefined || before === '"' || before === "'")
  return isFirst && /^[^;\n]{1,80};[ \t]?[A-Za-z]/.test(text.slice(end, end + 90)) ? 'member' : 'bare'
}

/** The separator after a name whose value is an element or an argument. */
function separatorOfTag(text: string, { text: name, from, to }: Name): Separator | null {
  const next = text[to]
  if (next === '(' && /(?:^|\.)(?:set|with|add)[A-Z_]|(?:^|\.)password$/.test(name)) {
    const argument = matchAt(AS_ARGUMENT, text, to)
    return argument === null ? null : { end: to + argument.length, form: 'quoted' }
  }
  if (next === '(' && /(?:api_?key|token|secret)$/i.test(name)) {
    const argument = matchAt(AS_ARGUMENT, text, to)
    return argument === null ? null : { end: to + argument.length, form: 'argument' }
  }
  if (next === '(' && /credentials?$/i.test(name)) {
    const argument = matchAt(AFTER_USER, text, to)
    return argument === null ? null : { end: to + argument.length, form: 'quoted' }
  }
  const isName = next === '>' && (text[from - 1] === '<' || /<[\w-]{1,20}:$/.test(textBefore(text, from, 24)))
  const isAttribute =
    (next === '"' || next === "'") && /<[\w:-]{1,40}[ \t][^<>]{0,60}$/.test(textBefore(text, from, 80))
  if (!isName && !isAttribute) return null
  const element = matchAt(IN_ELEMENT, text, to)
  return element === null ? null : { end: to + element.length, form: 'element' }
}

/** The separator after a name; null for a name without a value. */
function separatorOf(text: string, name: Name): Separator | null {
  const { from, to } = name
  const number = /key$/i.test(name.text) ? (matchAt(NUMBER, text, to)?.length ?? 0) : 0
  const assigned = matchAt(ASSIGNED, text, to + number)
  if (assigned !== null) {
    // The parts of an ARN, and of a key of a cache, are separated by colons.
    if (assigned === ':' && text[from - 1] === ':') return null
    const end = to + number + assigned.length
    return { end, form: formOfAssigned(text, name, assigned, end) }
  }
  const compared = matchAt(COMPARED, text, to)
  if (compared !== null) return { end: to + compared.length, form: 'quoted' }
  const value = matchAt(AS_VALUE, text, to)
  if (value !== null)
    return { end: to + value.length, form: UPPER.test(name.text) || value.includes('=') ? 'line' : 'bare' }
  const tag = separatorOfTag(text, name)
  if (tag !== null) return tag
  const prose = matchAt(AS_NEXT, text, to) ?? matchAt(IN_PROSE, text, to)
  if (prose !== null) return { end: to + prose.length, form: 'prose' }
  const blanks = matchAt(BLANKS, text, to)
  if (blanks === null) return null
  const end = to + blanks.length
  if (UPPER.test(name.text) && AFTER_COMMAND.test(textBefore(text, from, 40))) return { end, form: 'line' }
  if (PASSWORD.test(name.text) && AFTER_LOGIN.test(textBefore(text, from, 80))) return { end, form: 'line' }
  if (!/^--?[A-Za-z]/.test(name.text)) return separatorOfBlanks(text, name, end)
  return { end, form: isSentence(text, end) ? 'prose' : 'line' }
}

/** A quoted value after a name, or one that is longer than any word. */
function separatorOfBlanks(text: string, { text: name }: Name, end: number): Separator | null {
  if (/["'`]/.test(text[end] ?? '')) return { end, form: UPPER.test(name) ? 'line' : 'prose' }
  const value = matchAt(LONG_VALUE, text, end)
  return value !== null && digitsOf(value) > 1 && /[A-Za-z]/.test(value) ? { end, form: 'prose' } : null
}
const LONG_VALUE = /[\w+/-]{20,256}={0,2}(?![\w=])/y

/** Commands that set a variable: `ENV NAME value`. */
const AFTER_COMMAND = /(?:^|\n)[ \t]*(?:ENV|ARG|setx|setenv|set(?:[ \t]+-\w+)+)[ \t]+$/
/** The login of a netrc file, which precedes its password. */
const AFTER_LOGIN = /\b(?:login|user)[ \t]{1,9}\S{1,60}\s{1,9}$/

/** Whether an option is mentioned in a sentence: a word follows it, then another one. */
const isSentence = (text: string, at: number): boolean => /^[a-z]+[,.]?[ \t]+[a-z]/.test(text.slice(at, at + 60))

const SESSION = /sess|sid|auth|token|login|csrf|jwt|secret/i

/** Secrets after a name, and the position where the search continues. */
interface Read {
  readonly found: readonly SecretRange[]
  readonly to: number
}

/** The cookie values in a header; only the first one in `Set-Cookie`. */
function readCookies(text: string, at: number, isFirstOnly: boolean): Read {
  const pair = /["']?([^=;\s"'`]{1,64})=([^;\s"'`\p{Cc}]*)(?:;[ \t]{0,5})?/uy
  const found: SecretRange[] = []
  let from = at
  while (from < at + LONGEST_COOKIES && !(isFirstOnly && from > at)) {
    pair.lastIndex = from
    const match = pair.exec(text)
    if (match === null) break
    const [whole, name = '', value = ''] = match
    const begin = from + whole.indexOf('=', name.length) + 1
    const checked = value.slice(0, LONGEST_CHECKED)
    if (value.length >= LEAST && !isPlaceholder(checked, checked) && (looksRandom(checked) || SESSION.test(name)))
      found.push({ kind: 'cookie', from: begin, to: begin + value.length })
    from += whole.length
  }
  return { found, to: from }
}

/** The lines of a YAML block scalar, each a secret. */
function readBlock(text: string, at: number, indent: number): Read {
  const line = /([ \t]*)([^\n]*)(?:\n|$)/y
  const found: SecretRange[] = []
  let from = at
  while (from < Math.min(text.length, at + LONGEST_BLOCK)) {
    line.lastIndex = from
    const match = line.exec(text)
    if (match === null) break
    const [whole, blanks = '', content = ''] = match
    const value = content.trim()
    if (value !== '' && blanks.length <= indent) break
    if (value.length >= LEAST_OF_PASSWORD && !isPlaceholder(value, value) && !isMessage(value))
      found.push({ kind: 'secret', from: from + blanks.length, to: from + blanks.length + content.trimEnd().length })
    from += whole.length
  }
  return { found, to: from }
}

/** The position of a value, without its quotes. */
function valueAt(
  text: string,
  at: number,
  form: Separator['form'],
  strength: NameStrength | null,
): { form: Form; from: number; to: number } | null {
  if (form === 'argument') return valueAt(text, at, 'quoted', strength)
  if (form === 'element') return { form: 'line', from: at, to: endOf(IN_TAGS, text, at) }
  const quote = matchAt(QUOTE, text, at) ?? ''
  const from = at + quote.length
  if (quote === '') {
    if (form === 'member') return { form: 'line', from, to: endOf(IN_CONNECTION, text, from) }
    if (form === 'parameter') return { form: 'line', from, to: endOf(IN_PARAMETER, text, from) }
    return { form, from, to: endOf(form === 'line' ? ON_LINE : BARE, text, from) }
  }
  const [word, line] = QUOTED[quote.slice(-1)] as readonly [RegExp, RegExp]
  const to = endOf(word, text, from)
  if (!/\s/.test(text[to] ?? '"'))
    return { form: form === 'parameter' || form === 'member' ? 'line' : form === 'bare' ? 'quoted' : form, from, to }
  const end = endOf(line, text, to)
  return strength === 'strong' && text.startsWith(quote.slice(-1), end) ? { form: 'words', from, to: end } : null
}

const AUTHORIZATION = /["']?(?:(?:[A-Za-z][\w-]{1,20})[ \t]{1,5})?(?:(?:token|api_?key|key)=["']?)?/iy
const IN_HEADER = /[^\s"'`,\p{Cc}]*/uy

/** The credentials of an `Authorization` header, after the name of its scheme. */
function readCredentials(text: string, at: number): Read {
  const from = at + (matchAt(AUTHORIZATION, text, at)?.length ?? 0)
  const to = endOf(IN_HEADER, text, from)
  const value = text.slice(from, Math.min(to, from + LONGEST_CHECKED))
  const isNone =
    value.length < LEAST ||
    /^[A-Za-z]+=/.test(value) ||
    isPlaceholder(value, text.slice(from, from + LONGEST_CHECKED)) ||
    (digitsOf(value) === 0 && value.length < 16) ||
    !looksRandom(value) ||
    MEMBER.test(value)
  return { found: isNone ? [] : [{ kind: 'authorization', from, to }], to }
}

/** `key` after a word such as `API`. */
const KIND_OF_KEY = /(?:api|access|secret|private|license|encryption|signing|auth|unseal|recovery)[ \t]$/i

function kindOf(name: string): string {
  if (/_authtoken$|^_auth$/i.test(name)) return 'npm'
  return /accountkey$|sharedaccesskey$/i.test(name) ? 'azure' : 'secret'
}

function nameAround(text: string, at: number, length: number): Name {
  const to = at + length
  let from = at
  while (from > 0 && to - from < LONGEST_NAME && /[\w.-]/.test(text[from - 1] as string)) from--
  // The code of a color is not part of the name.
  if (text[from - 1] === '[') from += /^[\d;]{0,9}m/.exec(text.slice(from, at))?.[0].length ?? 0
  return { text: text.slice(from, to), from, to }
}

function strengthAt(text: string, name: Name, word: string): NameStrength | null | undefined {
  const isParameter = /[?&;]$/.test(text.slice(Math.max(0, name.from - 1), name.from))
  if (isParameter && /^(?:sig|signature|key|auth|access_key)$/i.test(name.text)) return 'plain'
  if (isParameter && /^appid$/i.test(name.text)) return null
  if (/^unseal$/i.test(name.text)) return 'weak'
  if (/^key$/i.test(name.text))
    return KIND_OF_KEY.test(text.slice(Math.max(0, name.from - 12), name.from)) ? 'strong' : undefined
  const strength = strengthOf(name.text)
  // Names that only contain a word for a secret count where the value cannot be anything else.
  if (strength === null && !/^(?:secret|passw|token)/i.test(word)) return undefined
  return strength
}

/** The named secrets of a text, in order. Each character is read a few times. */
export function* assignedSecrets(text: string): Generator<SecretRange> {
  NAME.lastIndex = 0
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const [word] = match
    const name = nameAround(text, match.index, word.length)
    const { found, to } = word.length > LONGEST_NAME ? { found: [], to: name.to } : readValue(text, name, word)
    yield* found
    NAME.lastIndex = Math.max(name.to, to)
  }
}

function readValue(text: string, name: Name, word: string): Read {
  const none = { found: [], to: name.to }
  const isCookie = /^-*(?:set-)?cookie2?$/i.test(name.text)
  const isAuthorization = /authorization$/i.test(name.text)
  const named = isCookie || isAuthorization ? 'plain' : strengthAt(text, name, word)
  if (named === undefined) return none
  const separator = separatorOf(text, name)
  if (separator === null) return none
  // The argument of a call can be the name of a secret.
  const strength = separator.form === 'argument' ? 'weak' : named
  const { end } = separator
  if (isCookie) return readCookies(text, end, /^set/i.test(name.text))
  if (isAuthorization) return readCredentials(text, end)
  const block = strength !== null && separator.form === 'bare' ? matchAt(BLOCK, text, end) : null
  if (block !== null) return readBlock(text, end + block.length, indentOf(text, name.from))
  const value = valueAt(text, end, separator.form, strength)
  if (value === null) return { found: [], to: end }
  const { form, from, to } = value
  const isShort = to - from < (PASSWORD.test(name.text) && form !== 'prose' ? LEAST_OF_PASSWORD : LEAST)
  if (isShort || (strength === null && /^_?key/i.test(word))) return { found: [], to }
  const checked = text.slice(from, Math.min(to, from + LONGEST_CHECKED))
  const rest = separator.form === 'element' ? checked : text.slice(from, from + LONGEST_CHECKED)
  const found = isSecret(checked, { strength, form, rest }) ? [{ kind: kindOf(name.text), from, to }] : []
  return { found, to }
}

/** The indentation of the line of a name, at most the length of a name. */
function indentOf(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - LONGEST_NAME), at)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  return line.length - line.trimStart().length
}
