/** Passwords that command lines and files for logins contain without naming them (fabric contract §7). */

import { isPlaceholder } from './placeholders'
import type { SecretRange } from './secret-range'
import { isWordlike } from './wordlike'

/** Programs whose short option takes a password. */
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

/** Where the given part of a match is: the one of three groups that took part, which ends the match but for a quote. */
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

/** A program that is started with a token to log in: `wandb login 1f…`. */
const LOGIN_WITH_TOKEN = new RegExp(
  String.raw`(?<=(?:^|[\n;&|${'`'}$#>])[ \t]{0,20}(?:[a-z][\w-]{1,20}[ \t]{1,5}){1,3}` +
    String.raw`(?:login|auth|(?:add-)?authtoken|unseal|token)[ \t]{1,5}["']?)` +
    String.raw`[\w.+/=:-]{20,256}(?=["']?[ \t]{0,5}(?:$|[\r\n;&|${'`'}]))`,
  'g',
)

/** The key that a client of a service is made with: `new Client("…")`. */
const ARGUMENT_OF_CLIENT =
  /(?<=(?:\bnew (?!Set|Map|Intl|Date|RegExp)[A-Z][\w.]{0,40}|\b\w{0,40}Client\w{0,9})\(\s{0,9}["'])[\w.:-]{20,128}(?=["'])/g
/** A line of a file of passwords: host, port, database and user precede the password. */
const IN_PASSFILE = /(?<=(?:^|[\s"'`])[\w.*-]{1,80}:(?:\d{4,5}|\*):[\w*-]{1,64}:[\w-]{1,64}:)[^\s:"'`]{8,128}/g
const isMixed = (value: string): boolean => /[a-z]/.test(value) && /[A-Z]/.test(value) && !isWordlike(value)
const isRandom = (value: string): boolean =>
  isMixed(value) || (/^\D*\d\D*\d/.test(value) && /[A-Za-z]/.test(value) && !isWordlike(value))

/** The kind of an unnamed secret, where it is, and whether a value there is one. */
const UNNAMED = [
  ['token', LOGIN_WITH_TOKEN, isRandom],
  ['token', ARGUMENT_OF_CLIENT, isMixed],
  ['password', IN_PASSFILE, isRandom],
] as const

/** Passes over a text, each of which finds secrets in order. */
export const UNNAMED_SECRETS = UNNAMED.map(
  ([kind, place, isOne]) =>
    function* (text: string): Generator<SecretRange> {
      for (const { 0: value, index: from } of text.matchAll(place))
        if (isOne(value) && !isPlaceholder(value, value)) yield { kind, from, to: from + value.length }
    },
)

/** The passwords of the commands of a text, in order. */
export function* passwordsOfCommands(text: string): Generator<SecretRange> {
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
