/** How tokens look that anybody can tell by their beginning (fabric contract §7), after well-kept sets such as that of gitleaks. */
export interface SecretForm {
  readonly kind: string
  readonly begins: readonly string[]
  /** What may follow the beginning. */
  readonly body: keyof typeof BODIES
  /** Fewer characters are no secret, and more are none, either. */
  readonly least: number
  readonly most?: number
  /** What the body holds beside: a digit, or a long part with one, which no words joined by dashes have. */
  readonly holds?: 'digit' | 'part' | 'dot'
}

/** Sticky, each time anew: their places are kept. */
export const BODIES = {
  capitals: () => /[A-Z0-9]*/y,
  hex: () => /[a-f0-9]*/y,
  letters: () => /[A-Za-z0-9]*/y,
  words: () => /\w*/y,
  dashed: () => /[\w-]*/y,
  dotted: () => /[\w.-]*/y,
  slashed: () => /[\w/-]*/y,
  base64: () => /[\w+/=-]*/y,
} as const

const FORMS: readonly SecretForm[] = [
  { kind: 'aws', begins: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], body: 'capitals', least: 16, most: 16 },
  {
    ...{ kind: 'github', begins: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], body: 'letters', least: 20 },
    holds: 'digit',
  },
  { kind: 'github', begins: ['github_pat_'], body: 'words', least: 20, holds: 'digit' },
  {
    ...{ kind: 'gitlab', body: 'dotted', least: 16, holds: 'digit' },
    begins: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glagent-'],
  },
  { kind: 'npm', begins: ['npm_'], body: 'letters', least: 30, holds: 'digit' },
  { kind: 'pypi', begins: ['pypi-'], body: 'dashed', least: 40, holds: 'part' },
  { kind: 'anthropic', begins: ['sk-ant-'], body: 'dashed', least: 20, holds: 'part' },
  { kind: 'openai', begins: ['sk-'], body: 'dashed', least: 20, holds: 'part' },
  { kind: 'huggingface', begins: ['hf_'], body: 'letters', least: 30 },
  {
    ...{ kind: 'slack', body: 'dashed', least: 10, holds: 'digit' },
    begins: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxe.xoxp-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'],
  },
  { kind: 'slack', begins: ['hooks.slack.com/services/'], body: 'slashed', least: 20, holds: 'digit' },
  { kind: 'google', begins: ['AIza'], body: 'dashed', least: 35 },
  { kind: 'google', begins: ['ya29.'], body: 'dashed', least: 20, holds: 'digit' },
  { kind: 'google', begins: ['GOCSPX-'], body: 'dashed', least: 24 },
  {
    ...{ kind: 'stripe', begins: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'], body: 'letters', least: 10 },
    holds: 'digit',
  },
  { kind: 'stripe', begins: ['whsec_'], body: 'base64', least: 24, holds: 'digit' },
  { kind: 'sendgrid', begins: ['SG.'], body: 'dotted', least: 40, holds: 'dot' },
  { kind: 'shopify', begins: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], body: 'letters', least: 30, holds: 'digit' },
  { kind: 'vault', begins: ['hvs.', 'hvb.'], body: 'dashed', least: 20, holds: 'digit' },
  { kind: 'digitalocean', begins: ['dop_v1_', 'doo_v1_', 'dor_v1_'], body: 'hex', least: 60 },
  { kind: 'commonplace', begins: ['cp_'], body: 'dashed', least: 49, most: 49 },
]

const byLength = FORMS.flatMap(({ begins }) => begins).toSorted((a, b) => b.length - a.length)
const escaped = (text: string): string => text.replace(/[.\\/]/g, '\\$&')

/** What a secret may begin with; the longest of several stands first. */
export const BEGINNING = new RegExp(
  [
    ...byLength.map(escaped),
    'eyJ',
    '\\dQ~',
    '(?:[Bb]earer|BEARER|[Bb]asic|BASIC)(?:\\s|%20)+',
    ':\\\\?/\\\\?/',
    '-----BEGIN ',
  ].join('|'),
  'g',
)

const BY_BEGINNING: ReadonlyMap<string, SecretForm> = new Map(
  FORMS.flatMap((form) => form.begins.map((begin) => [begin, form] as const)),
)

export const formOf = (beginning: string): SecretForm | undefined => BY_BEGINNING.get(beginning)

/** The end of an escape: of a control character, of a colour, of a character in a URL. */
const ESCAPE = /(?:\\[a-z]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}|\[[0-9;]{0,9}m)$/i
const LONGEST_ESCAPE = 12

/** Whether a token may begin here: no letter or digit stands before it but the end of an escape. */
export function mayBegin(text: string, at: number): boolean {
  const before = text[at - 1]
  if (before === undefined || !/[A-Za-z0-9]/.test(before)) return true
  return ESCAPE.test(text.slice(Math.max(0, at - LONGEST_ESCAPE), at))
}
