/** A part of a text that is a secret. */
export interface SecretRange {
  readonly kind: string
  readonly from: number
  readonly to: number
}

/**
 * What stands at places of a text that are asked for in order. A text full of beginnings asks about the same characters again and
 * again; they are read once, so all questions together take time in step with the length of the text.
 */

/** Where runs of characters of one class end. */
export class Runs {
  private from = 0
  private to = -1

  /** @param ofClass sticky, one class repeated, also not at all */
  constructor(
    private readonly text: string,
    private readonly ofClass: RegExp,
  ) {}

  /** The end of the run that holds `at`, or `at` where none does. Each place asked for lies behind those before it, or is one of them. */
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

/** Where the next character of one class stands. */
export class NextInClass {
  private from = 0
  private found = -1

  /** @param ofClass global, one class */
  constructor(
    private readonly text: string,
    private readonly ofClass: RegExp,
  ) {}

  /** Whether one stands in a part of the text, whose beginning lies behind those asked for before. */
  isIn(from: number, to: number): boolean {
    if (from < this.from || from > this.found) {
      this.ofClass.lastIndex = from
      this.from = from
      this.found = this.ofClass.test(this.text) ? this.ofClass.lastIndex - 1 : this.text.length
    }
    return this.found < to
  }
}

/** The pairs of letters that English words and identifiers are mostly made of. */
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
 * Whether letters look like words or an identifier, not like random characters. Digits and signs only separate words.
 *
 * @param value its first 64 characters are judged
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

/** What stands where a secret would, and is none (fabric contract §7): as a whole, since a secret may hold any of it. */
const MASKED = /^(?:.{0,4}(?:\*{3,}|\.{3,}|…+).{0,4}|(?:[a-z]{1,8}[-_]){0,3}x[-_x]*)$|^\[redacted:/i
/** `your-256-bit-secret`, `please-change-me`. */
const ASKED_FOR =
  /^(?:your(?:[-_.][-_.a-z0-9]+|[a-z]*)|(?:example|sample|dummy|placeholder|replace|insert|enter|please|change.?me)[a-z-_.]*!?)$/i
/** A variable, a colour, a word behind `#` or a slash, a file behind a slash. */
const NAMED = /^(?:\$[a-z_]\w*|%\w+%|#[0-9a-f]{3,8}|[#/][a-z_-]+|\/[\w-]+\.[a-z]{1,5})$/i
/** What begins as a word that says there is none does, or as a variable with what belongs to it. */
const BEGINS =
  /^(?:&lt;|["']\$|(?:undefined|optional|required|nullable)(?![\w-])|\$[a-z_]\w*(?:->|[/[$.:])|%(?:[({]|s\b))/i
/** Words of types, of settings and of examples, each as the complete value. */
const WORDS = new Set(
  (
    'string str number int integer bool boolean bytes buffer any unknown object null none nil void never true false yes no on off ' +
    'inherit required optional hidden masked redacted missing invalid disabled enabled default generated foo bar foobar test ' +
    'testing todo tbd contraseña passwort kennwort n/a value securestring varchar text uuid'
  ).split(' '),
)
/** A secret that is named instead of given, and is hardly worth hiding where it is meant. */
const NAMED_SECRET =
  /^(?:my|the|db|user|new|old|some|super|test)?[-_ ]?(?:password|passwd|passphrase|secret|token|key|pass|pwd|credentials?|api[-_]?key)$/i
const VERSION = /^[0-]+$|^[~^>=<v]*\d{1,5}(?:\.\d{1,5}){1,3}(?:[-+][\w.]{1,40})?$/
/** A digest, a path, an address. */
const PLACE = /^(?:arn:|sha\d{1,3}[-:]|[a-z]:\\|\.{1,2}\/|~\/|\/[\w.@-]+\/(?!\S*\+)|[a-z][a-z0-9+.-]{1,20}:\/\/)/i
const INTERPOLATED = /\$[{(]|\{\{/
/** What begins as a template does, or a call, ends as one does, if only behind quotes or blanks; else it is a part of a secret. */
const TEMPLATE = /^(?:[\w-]*<[^<>\n]*>|\{[^{}\n]*\}|#\{|\([^()\n]*\)|[A-Za-z_$][\w$.:]*\((?:[^\n]*\)|["'`\s]|$))/

/**
 * Whether a value stands for a secret, or is something else than one.
 *
 * @param value as much of it as is looked at
 * @param rest the value and what follows it
 */
export const isPlaceholder = (value: string, rest: string): boolean =>
  WORDS.has(value.toLowerCase()) ||
  [MASKED, ASKED_FOR, NAMED_SECRET, VERSION, NAMED, BEGINS, PLACE, INTERPOLATED].some((form) => form.test(value)) ||
  (/[<{(]/.test(rest.slice(0, value.length + 1)) && TEMPLATE.test(rest))
