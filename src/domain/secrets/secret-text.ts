/** A secret in a text. */
export interface SecretRange {
  readonly kind: string
  readonly from: number
  readonly to: number
}

/**
 * Scanners for positions that are queried in order. Each character is read once, so that all queries together take
 * linear time.
 */

/** Finds the ends of runs of one character class. */
export class Runs {
  private from = 0
  private to = -1

  /** @param ofClass sticky expression for one class, repeated zero or more times */
  constructor(
    private readonly text: string,
    private readonly ofClass: RegExp,
  ) {}

  /** The end of the run that contains `at`, or `at` without one. Positions must not decrease from call to call. */
  endFrom(at: number): number {
    if (at < this.from || at > this.to) {
      this.ofClass.lastIndex = at
      this.ofClass.test(this.text)
      this.from = at
      this.to = this.ofClass.lastIndex
    }
    return this.to
  }
}

/** Finds the next character of a class. */
export class NextInClass {
  private from = 0
  private found = -1

  /** @param ofClass global expression for one class */
  constructor(
    private readonly text: string,
    private readonly ofClass: RegExp,
  ) {}

  /** Whether a range contains one. Starts of ranges must not decrease from call to call. */
  isIn(from: number, to: number): boolean {
    if (from < this.from || from > this.found) {
      this.ofClass.lastIndex = from
      this.from = from
      this.found = this.ofClass.test(this.text) ? this.ofClass.lastIndex - 1 : this.text.length
    }
    return this.found < to
  }
}

/** The most common letter pairs of English words and identifiers. */
const COMMON_PAIRS =
  'abacadagaialamanaparasatauaybabebiblbobrbucacechcickclcocrctcudadedidodsdueaecedeeefegelemeneperesetevexfafefifogeghgigrguhahehihohti' +
  'aibicidieifigiliminioipirisitivkekikslaldlelilllolslulymamemimompnancndnengninonsntocodolomonoooporosotouovowpapepiplpoppprptqurarcrdr' +
  'erirmrorrrsrtrurysascseshsisospssstsutatctethtitotrtstttutyucueulumunupurusutvaveviwawewhwixp'
const COMMON = new Set(COMMON_PAIRS.match(/../g))

const LONGEST = 64
const LEAST_COMMON = 0.7
/** Words of identifiers are shorter than those of texts; random letters of both cases change case after two. */
const LEAST_LETTERS_A_WORD = 3.5

/**
 * Whether letters look like words or an identifier, not like random characters. Digits and punctuation only separate
 * words.
 * @param value its first 64 characters are checked
 */
export function isWordlike(value: string): boolean {
  const words = value.slice(0, LONGEST).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)
  if (words === null) return false
  let [letters, pairs, common] = [0, 0, 0]
  for (const word of words) {
    letters += word.length
    pairs += word.length - 1
    const low = word.toLowerCase()
    for (let i = 1; i < low.length; i++) if (COMMON.has(low.slice(i - 1, i + 1))) common++
  }
  return pairs > 0 && letters / words.length >= LEAST_LETTERS_A_WORD && common / pairs >= LEAST_COMMON
}

/** Masked secrets (fabric contract §7). Only complete values match, because a secret can contain any of these. */
const MASKED = /^(?:.{0,4}(?:\*{3,}|\.{3,}|…+).{0,4}|(?:[a-z]{1,8}[-_]){0,3}x[-_x]*)$|^\[redacted:/i
/** Requests to insert a secret: `your-256-bit-secret`, `please-change-me`. */
const ASKED_FOR =
  /^(?:your(?:[-_.][-_.a-z0-9]+|[a-z]*)|(?:example|sample|dummy|placeholder|replace|insert|enter|please|change.?me)[a-z-_.]*!?)$/i
/** A variable, a color, a word after `#` or a slash, a file after a slash. */
const NAMED = /^(?:\$[a-z_]\w*|%\w+%|#[0-9a-f]{3,8}|[#/][a-z_-]+|\/[\w-]+\.[a-z]{1,5})$/i
/** Starts of placeholders: words for "none", and variables with a suffix. */
const BEGINS =
  /^(?:&lt;|["']\$|(?:undefined|optional|required|nullable)(?![\w-])|\$[a-z_]\w*(?:->|[/[$.:])|%(?:[({]|s\b))/i
/** Words for types, settings and examples, each as the complete value. */
const WORDS = new Set(
  (
    'string str number int integer bool boolean bytes buffer any unknown object null none nil void never true false yes no on off ' +
    'inherit required optional hidden masked redacted missing invalid disabled enabled default generated foo bar foobar test ' +
    'testing todo tbd contraseña passwort kennwort n/a value securestring varchar text uuid'
  ).split(' '),
)
/** Words that name a secret in place of a value, such as `my-password`. */
const NAMED_SECRET =
  /^(?:my|the|db|user|new|old|some|super|test)?[-_ ]?(?:password|passwd|passphrase|secret|token|key|pass|pwd|credentials?|api[-_]?key)$/i
const VERSION = /^[0-]+$|^[~^>=<v]*\d{1,5}(?:\.\d{1,5}){1,3}(?:[-+][\w.]{1,40})?$/
/** A digest, a path, an address. */
const PLACE = /^(?:arn:|sha\d{1,3}[-:]|[a-z]:\\|\.{1,2}\/|~\/|\/[\w.@-]+\/(?!\S*\+)|[a-z][a-z0-9+.-]{1,20}:\/\/)/i
const INTERPOLATED = /\$[{(]|\{\{/
/** Starts of templates and calls. They must also end like one, else they are part of a secret. */
const TEMPLATE = /^(?:[\w-]*<[^<>\n]*>|\{[^{}\n]*\}|#\{|\([^()\n]*\)|[A-Za-z_$][\w$.:]*\((?:[^\n]*\)|["'`\s]|$))/

/**
 * Whether a value is a placeholder or otherwise not a secret.
 * @param value the part of the value that is checked
 * @param rest the value and the text after it
 */
export const isPlaceholder = (value: string, rest: string): boolean =>
  WORDS.has(value.toLowerCase()) ||
  [MASKED, ASKED_FOR, NAMED_SECRET, VERSION, NAMED, BEGINS, PLACE, INTERPOLATED].some((form) => form.test(value)) ||
  (/[<{(]/.test(rest.slice(0, value.length + 1)) && TEMPLATE.test(rest))
