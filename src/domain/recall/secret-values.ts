import { namesSecret } from './secret-names'
import { isPlaceholder } from './secret-placeholders'

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
const IN_QUOTES_OF_LINE = /[^\n"'`\\]*/y
const ON_LINE = /[^\s"'`]*/y
const BARE = /[^\s"'`,;&()[\]{}<>\\=:|]*={0,2}/y

const MIN_SECRET_LENGTH = 8
/** Of a value, and of the line behind its beginning, what is looked at. */
const LOOKED_AT = 256
const LONGEST_NAME = 64

const WORD_OF_SECRET = /secret|password|token|key|required|invalid|missing/i
/** Names whose quoted value is a secret even if it is letters alone; `token: "identifier"` is none. */
const OF_LETTERS = /secret|password|passwd|(?:api|access|auth|private|signing|encryption|master)_key$/i
/** A variable, or a member of one. */
const MEMBER = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/
/** What reads or changes a variable, where no quotes are. */
const OF_VARIABLE = '$*#%'
const UPPER = /^[A-Z][A-Z0-9_]*$/

interface Place {
  readonly name: string
  readonly isDirect: boolean
  readonly how: 'quoted' | 'words' | 'sentence' | 'line' | 'bare'
  /** The value, and what follows it. */
  readonly rest: string
}

/** Whether the value of a name is a secret. */
function isSecret(value: string, { name, isDirect, how, rest }: Place): boolean {
  if (isPlaceholder(value, rest)) return false
  const digits = [...value].filter((character) => character >= '0' && character <= '9').length
  if (!isDirect) return how !== 'words' && digits >= 2 && value.length >= 20 && /[A-Za-z]/.test(value)
  if (how === 'line') return true
  if (how === 'words') return digits > 0 && !WORD_OF_SECRET.test(value)
  if (value.includes('.') && MEMBER.test(value)) return false
  if (how === 'bare') return !OF_VARIABLE.includes(value.charAt(0)) && (digits >= 2 || /[-!@#%^*+/~]/.test(value))
  if (digits > 0 || /[^\w\-./]/.test(value)) return true
  return /[a-z][A-Z].*[a-z][A-Z]/.test(value) || (OF_LETTERS.test(name) && !WORD_OF_SECRET.test(value))
}

/** Where the value of a line such as `NAME=value` may begin. */
const isOfLine = (name: string, assigned: string): boolean => assigned === '=' && UPPER.test(name)

/** The end of a run that begins at a place. */
function endOf(run: RegExp, text: string, from: number): number {
  run.lastIndex = from
  run.test(text)
  return Math.max(from, run.lastIndex)
}

/** How a value stands, and from where to where; words with blanks are a sentence, but in a line such as `NAME="two words"`. */
function valueAt(text: string, at: number, ofLine: boolean): Pick<Place, 'how'> & { from: number; to: number } {
  QUOTE.lastIndex = at
  const quote = QUOTE.exec(text)?.[0] ?? ''
  const from = at + quote.length
  if (quote === '') {
    const how = ofLine ? 'line' : 'bare'
    return { how, from, to: endOf(ofLine ? ON_LINE : BARE, text, from) }
  }
  const to = endOf(IN_QUOTES, text, from)
  if (!/\s/.test(text[to] ?? '"')) return { how: 'quoted', from, to }
  const end = ofLine ? endOf(IN_QUOTES_OF_LINE, text, to) : to
  return ofLine && text.startsWith(quote, end) ? { how: 'words', from, to: end } : { how: 'sentence', from, to }
}

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
    const { how, from, to } = valueAt(text, end + assigned.length, isOfLine(name, assigned))
    NAME.lastIndex = Math.max(to, end)
    if (how === 'sentence' || to - from < MIN_SECRET_LENGTH) continue
    const isDirect = namesSecret(name)
    if (!isDirect && /_key/i.test(match[0].slice(0, 4))) continue
    const place = { name, isDirect, how, rest: text.slice(from, from + LOOKED_AT) }
    if (!isSecret(text.slice(from, Math.min(to, from + LOOKED_AT)), place)) continue
    const kind = /_authtoken$/i.test(name) ? 'npm' : /accountkey$|sharedaccesskey$/i.test(name) ? 'azure' : 'secret'
    yield { kind, from, to }
  }
}
