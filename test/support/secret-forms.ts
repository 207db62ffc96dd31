/** Forms of secrets, filled with random values, so that scanners do not mistake this file for a leak. */

/** A sequence of random numbers below 1 that is the same in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const DIGITS = '0123456789'
export const ALPHABETS = {
  alphanumeric: UPPER + LOWER + DIGITS,
  letters: UPPER + LOWER,
  lower: LOWER,
  capitals: UPPER + DIGITS,
  hex: '0123456789abcdef',
  dashed: `${UPPER}${LOWER}${DIGITS}-_`,
} as const
export type Alphabet = keyof typeof ALPHABETS

export const randomText = (random: () => number, alphabet: Alphabet, length: number): string =>
  Array.from({ length }, () => ALPHABETS[alphabet][Math.floor(random() * ALPHABETS[alphabet].length)]).join('')

/** Token forms: `{a20}` is twenty random characters; see `ALPHABET_OF` for the letters. */
export const TOKEN_FORMS: readonly string[] = [
  ...[
    'AKIA{C16}',
    'ghp_{a36}',
    'gho_{a36}',
    'ghs_{a36}',
    'github_pat_{a22}_{a59}',
    'glpat-{d20}',
    'glrt-{d20}',
    'npm_{a36}',
  ],
  ...[
    'sk-{a48}',
    'sk-proj-{d74}T3BlbkFJ{d74}',
    'sk-{a12}.{a24}',
    'sk-ant-api03-{d93}AA',
    'hf_{l34}',
    'gsk_{a52}',
    'xai-{a80}',
  ],
  ...[
    'pplx-{a48}',
    'r8_{a37}',
    'nvapi-{d64}',
    'pcsk_{a6}_{a63}',
    'tvly-{a32}',
    'lsv2_pt_{h32}_{h10}',
    'apify_api_{a36}',
  ],
  ...['xoxb-{n12}-{n13}-{a24}', 'xapp-1-A{C10}-{n13}-{h64}', 'hooks.slack.com/services/T{C10}/B{C10}/{a24}'],
  ...[
    'discord.com/api/webhooks/{n18}/{d68}',
    'MT{a22}.{d6}.{d38}',
    '{n10}:AA{d33}',
    'AIza{d35}',
    'GOCSPX-{d28}',
    'ya29.{d60}',
  ],
  ...[
    'sk_live_{a24}',
    'sk_test_{a24}',
    'rk_live_{a24}',
    'whsec_{a32}',
    'SG.{d22}.{d43}',
    'xkeysib-{h64}-{a16}',
    're_{a8}_{a24}',
  ],
  ...[
    'shpat_{h32}',
    'hvs.{d90}',
    'dop_v1_{h64}',
    'dckr_pat_{d27}',
    'dapi{h32}',
    'dp.pt.{a43}',
    'sbp_{h40}',
    'napi_{a64}',
  ],
  ...[
    'pscale_tkn_{d43}',
    'AVNS_{d19}',
    'phc_{a43}',
    'phx_{a43}',
    'lin_api_{a40}',
    'ntn_{n11}{a35}',
    'figd_{d40}',
    'ATATT3{d186}',
  ],
  ...[
    'ATBB{a32}',
    'PMAK-{h24}-{h34}',
    'tfp_{d59}',
    'pat{a14}.{h64}',
    'pat-na1-{u}',
    'sntryu_{h64}',
    'glsa_{a32}_{h8}',
    'glc_{a60}',
  ],
  ...[
    'NRAK-{C27}',
    '{h36}NRAL',
    'dt0c01.{C24}.{C64}',
    'sqp_{h40}',
    'sgp_{h16}_{h40}',
    'CCIPAT_{a22}_{h40}',
    'pul-{h40}',
  ],
  ...[
    'tskey-auth-{a16}-{a32}',
    'HRKU-{u}',
    'fo1_{d43}',
    'nfp_{a36}',
    'rnd_{a32}',
    'pnu_{a36}',
    'AGE-SECRET-KEY-1{C58}',
    'LTAI{a20}',
  ],
  ...[
    'AKCp{a69}',
    'oy2{a43}',
    'rubygems_{h48}',
    'API-{C26}',
    'sq0atp-{d22}',
    'EAA{a120}',
    'shippo_live_{h40}',
    'EZAK{a54}',
  ],
  ...[
    'rzp_live_{a14}',
    'FLWSECK-{h32}-X',
    'duffel_live_{d43}',
    'sl.{d135}',
    '{a14}.atlasv1.{d67}',
    '{h32}-us12',
    'SK{h32}',
  ],
  ...['pypi-AgEIcHlwaS5vcmc{d80}', 'eyJ{a30}.eyJ{a60}.{d43}', 'cp_{d49}', '{a3}8Q~{a34}', 'mycorp_{a40}'],
]

const ALPHABET_OF: Readonly<Record<string, Alphabet>> = {
  a: 'alphanumeric',
  l: 'letters',
  C: 'capitals',
  h: 'hex',
  d: 'dashed',
}

/** A token of a form. */
export function fillToken(form: string, random: () => number): string {
  return form.replace(/\{(?:u|([alChdn])(\d+))\}/g, (_, letter: string | undefined, length: string) => {
    if (letter === undefined) return [8, 4, 4, 4, 12].map((count) => randomText(random, 'hex', count)).join('-')
    if (letter === 'n') return Array.from({ length: Number(length) }, () => 1 + Math.floor(random() * 9)).join('')
    // A token must not end in a dash, which every rule would cut, so it ends in a letter.
    return `${randomText(random, ALPHABET_OF[letter] as Alphabet, Number(length) - 1)}${letter === 'd' ? 'x' : randomText(random, ALPHABET_OF[letter] as Alphabet, 1)}`
  })
}

const ESC = '\u001b'

/** Texts with a named value; `§` is its position. */
export const NAMED_FORMS: readonly string[] = [
  ...[
    'password: §',
    'password: §\nport: 1',
    'Password: `§`',
    '"password": "§"',
    "password = '§'",
    'passphrase: §',
    'pwd: §',
  ],
  ...[
    'DB_PASS=§',
    'PGPASSWORD=§\nPGUSER=ada',
    'export ADMIN_PASSWORD="§"',
    'API_TOKEN=§',
    'SECRET_KEY_BASE=§',
    'apiKey: "§",',
  ],
  ...[
    'apiKey: §',
    'api_key = "§"',
    'x-api-key: §',
    "-H 'X-Api-Key: §'",
    'API key: §',
    'my password is §',
    'clientSecret: "§"',
  ],
  ...[
    '--password §',
    'mysqlsh --password=§ --host db',
    'deploy --token § --force',
    'cli --api-key §',
    'run --secret=§',
  ],
  ...[
    'curl -u ada:§ https://example.com',
    "curl --user 'ada:§' https://example.com",
    'sshpass -p § ssh ada@example.com',
  ],
  ...['mysql -u root -p§ shop', 'docker login -u ada -p § registry.example.com', 'redis-cli -a § ping'],
  ...[
    'machine example.com login ada password §',
    'machine example.com\n  login ada\n  password §\n',
    'ENV API_TOKEN §',
    'ARG DB_PASSWORD=§',
  ],
  ...[
    '<password>§</password>',
    '<add key="Password" value="§" />',
    '<string name="api_key">§</string>',
    'Cookie: sessionid=§',
  ],
  ...[
    'Cookie: theme=dark; sessionid=§; lang=en',
    'Set-Cookie: sid=§; Path=/; HttpOnly',
    'Server=db;Uid=sa;Pwd=§;',
    'Server=db;Password=§',
  ],
  ...[
    'Authorization: token §1',
    'Authorization: Bot §1',
    'Authorization: §1',
    'Authorization: ApiKey §1',
    'PRIVATE-TOKEN: §',
  ],
  ...[
    'https://example.com/a?access_token=§',
    'https://example.com/a?b=1&api_key=§&c=2',
    'https://ada:§@example.com/',
    'https://s/?sig=§',
  ],
  ...[
    'password: |\n  §\nport: 1',
    'spec:\n  token: >-\n    §\n  port: 1',
    '- name: DB_PASSWORD\n  value: §',
    '{"name":"API_TOKEN","value":"§"}',
  ],
  ...[
    `${ESC}[32mADMIN_PASSWORD${ESC}[0m=${ESC}[33m§${ESC}[0m`,
    `ADMIN_PASSWORD=§${ESC}[0m`,
    `${ESC}[36mtoken${ESC}[39m: §${ESC}[0m`,
  ],
  ...[
    '\\u001b[32mADMIN_PASSWORD=§\\u001b[0m',
    'client.setPassword("§")',
    '| password | § |',
    '//r.example.com/:_authToken=§',
    '**Password:** §',
  ],
]

/** Passphrases with blanks, in their forms. */
export const PASSPHRASES: readonly string[] = [
  'passphrase: "correct horse battery staple"',
  'PASSWORD="correct horse battery staple"',
  "--password 'correct horse battery staple'",
  '"passphrase": "violet anchor 42 teapot"',
]
