/** Names whose values are secrets (fabric contract §7). */
const ENDS_WITH_ONE = /(?:secret|password|passwd|token|_key|accountkey|sharedaccesskey)\d*$/i
const HARMLESS_KEY =
  /(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|index|unique|storage|query)_key$/i
/** What stands behind the last word of a name that names a secret. */
const LAST_WORD = /^.*(?:secret|password|passwd|token)/i
/** Where one word of a name ends and the next begins. */
const BETWEEN_WORDS = /[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/

/** What has such a word behind the one for a secret tells something about it: `tokenCount`, `PASSWORD_MIN_LENGTH`, `token.ts`. */
const ABOUT_ONE = new Set(
  (
    'age algorithm alg arn at audience box budget button category chars class column cost count counter counts created date days ' +
    'description dir duration enabled encoder encoding endpoint error errors event expire expires expiration expiry field fields file ' +
    'filename flag form format generator group handler header help hint host hours id ids in index input issuer kind label length len ' +
    'lifetime limit limits list manager max message method min minutes mode model ms name names number offset on path pattern ' +
    'placeholder policy position prefix price prompt provider rate ref reference regex remaining required reset response rotation ' +
    'rule rules schema scope scopes score seconds selector service size source start state status store stream strength suffix table ' +
    'text time timeout title ttl type types updated uri url usage used validator version visible window ' +
    'cs css go html java js json jsx log md php py rb rs sh sql toml ts tsx txt vue yaml yml'
  ).split(' '),
)

/** Whether a name says that its value is a secret, also where it goes on: `DB_PASSWORD_PROD`, `tokenValue`, not `tokenizer`. */
export function namesSecret(name: string): boolean {
  if (ENDS_WITH_ONE.test(name)) return !HARMLESS_KEY.test(name)
  const word = LAST_WORD.exec(name)?.[0]
  if (word === undefined) return false
  const tail = name.slice(word.length)
  const goesOn = /[A-Z]$/.test(word) ? /^[A-Za-z]/ : /^[a-z]/
  return !goesOn.test(tail) && !tail.split(BETWEEN_WORDS).some((part) => ABOUT_ONE.has(part.toLowerCase()))
}
