/** Values that are secrets because of the names which they are given (fabric contract §7). */
interface Found {
  readonly kind: string
  readonly from: number
  readonly to: number
}

/** From a word that names a secret to the end of the name. */
const NAME = /(?:secret|password|passwd|token|_key|accountkey|sharedaccesskey)[\w.-]*/gi
/** What stands between a name and its value: quotes, escaped or not, a type, and what assigns. */
const ASSIGNED =
  /(?:\\{0,3}["'`])?\]?[ \t]{0,20}(?:=>|:=|[=:](?![=:]))[ \t]{0,20}(?:[A-Za-z]{1,20}[ \t]{1,5}=[ \t]{0,5})?/y
const QUOTE = /\\{0,3}["'`]/y
const IN_QUOTES = /[^\s"'`\\]*/y
const ON_LINE = /[^\s"'`]*/y
const BARE = /[^\s"'`,;&()[\]{}<>\\=:|]*={0,2}/y

const MIN_SECRET_LENGTH = 8
/** Of a value, what is looked at. */
const LOOKED_AT = 256
const LONGEST_NAME = 64

const DIRECT = /(?:secret|password|passwd|token|_key|accountkey|sharedaccesskey)\d*$/i
const HARMLESS_KEY =
  /(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|index|unique|storage|query)_key$/i
const WORD_OF_SECRET = /secret|password|token|key|required|invalid|missing/i
const PLACEHOLDER = /^[$<%{*(#]|\$[{(]|\{\{|<|\.\.\.|…|\*{3}|x{5}|\[redacted:|change.?me|^your[-_]/i
const NO_VALUE =
  /^(?:your|example|sample|dummy|placeholder|replace|insert|enter|undefined|null|none|false|true|optional|required|boolean)\b/i
/** A digest, a path, an address. */
const OTHER = /^(?:sha\d{1,3}[-:]|\.{0,2}\/|~\/|[A-Za-z]:\\|[a-z][a-z0-9+.-]{1,20}:\/\/)/i
/** A variable, or a member of one. */
const MEMBER = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/
const UPPER = /^[A-Z][A-Z0-9_]*$/

interface Place {
  readonly name: string
  readonly isDirect: boolean
  readonly how: 'quoted' | 'line' | 'bare'
}

/** Whether the value of a name is a secret. */
function isSecret(value: string, { name, isDirect, how }: Place): boolean {
  if (
    value.length < MIN_SECRET_LENGTH ||
    PLACEHOLDER.test(value) ||
    NO_VALUE.test(value) ||
    OTHER.test(value) ||
    value.includes('(')
  )
    return false
  const digits = value.replace(/\D/g, '').length
  if (!isDirect) return digits >= 2 && value.length >= 20 && /[A-Za-z]/.test(value)
  if (how === 'line') return true
  if (MEMBER.test(value)) return false
  if (how === 'bare') return digits >= 2 || /[-!@#%^*+/~]/.test(value)
  if (digits > 0 || /[^\w\-./]/.test(value)) return true
  return /[a-z][A-Z].*[a-z][A-Z]/.test(value) || (/secret|password/i.test(name) && !WORD_OF_SECRET.test(value))
}

/** Where the value of a line such as `NAME=value` may begin. */
const isOfLine = (name: string, assigned: string): boolean => assigned === '=' && UPPER.test(name)

/** The values of one text, in order; each character is read a few times. */
export function* assignedSecrets(text: string): Generator<Found> {
  NAME.lastIndex = 0
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const end = match.index + match[0].length
    ASSIGNED.lastIndex = end
    const assigned = ASSIGNED.exec(text)?.[0]
    if (assigned === undefined || match[0].length > LONGEST_NAME) continue
    let start = match.index
    while (start > 0 && end - start < LONGEST_NAME && /[\w.-]/.test(text[start - 1] as string)) start--
    const name = text.slice(start, end)
    const at = end + assigned.length
    QUOTE.lastIndex = at
    const quote = QUOTE.exec(text)?.[0] ?? ''
    const how = quote !== '' ? 'quoted' : isOfLine(name, assigned) ? 'line' : 'bare'
    const from = at + quote.length
    const value = how === 'quoted' ? IN_QUOTES : how === 'line' ? ON_LINE : BARE
    value.lastIndex = from
    value.test(text)
    const to = Math.max(from, value.lastIndex)
    NAME.lastIndex = Math.max(to, end)
    const isDirect = DIRECT.test(name) && !HARMLESS_KEY.test(name)
    const isSentence = how === 'quoted' && /\s/.test(text[to] ?? '"')
    if (isSentence || (!isDirect && /_key/i.test(match[0].slice(0, 4)))) continue
    const isOf = { name, isDirect, how } as const
    if (!isSecret(text.slice(from, Math.min(to, from + LOOKED_AT)), isOf)) continue
    const kind = /_authtoken$/i.test(name) ? 'npm' : /accountkey$|sharedaccesskey$/i.test(name) ? 'azure' : 'secret'
    yield { kind, from, to }
  }
}
