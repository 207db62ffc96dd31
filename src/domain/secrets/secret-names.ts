/** How sure a name is of its value: every value of `password` is a secret, one of `auth` only where it looks random. */
export type NameStrength = 'strong' | 'plain' | 'weak'

const KEYS =
  '(?:api|access|secret|private|auth|encryption|signing|master|account|subscription|license|admin|session|service|app|application|server|' +
  'webhook)'
/** Names whose values are secrets (fabric contract §7). */
const ENDS_WITH_ONE =
  /(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|_key|accountkey|sharedaccesskey)\d*$/i
const KEY_OF_SERVICE = new RegExp(`${KEYS}[-_.]?key\\d*$`, 'i')
const PASS = /(?:^|[^A-Za-z])pass\d*$|[a-z]Pass\d*$/i
/** Names of passwords with the word for their user or their service. */
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
/** A name up to its last word that names a secret. */
const LAST_WORD = new RegExp(
  `^.*(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|${KEYS}[-_.]?key)`,
  'i',
)
/** Where one word of a name ends and the next begins. */
const BETWEEN_WORDS = /[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/

/** A name with such a word after the one for a secret describes it: `tokenCount`, `PASSWORD_MIN_LENGTH`, `token.ts`. */
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

/** Whether the value of a name is a secret, also where the name goes on: `DB_PASSWORD_PROD`, `tokenValue`, not `tokenizer`. */
export function strengthOf(name: string): NameStrength | null {
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
