/**
 * Tokens that can be recognized by their prefix (fabric contract §7). The formats are facts that the providers, gitleaks and secretlint
 * publish.
 */
export interface TokenForm {
  readonly kind: string
  readonly body: keyof typeof BODIES
  /** The fewest characters of the body. */
  readonly least: number
  readonly most: number
  /** A long part with a digit or mixed case, or a dot, that the body must contain. */
  readonly holds: 'part' | 'dot' | null
}

/** Sticky expressions; each call returns a new one, because callers keep its position. */
export const BODIES = {
  capitals: () => /[A-Z0-9]*/y,
  hex: () => /[A-Fa-f0-9]*/y,
  letters: () => /[A-Za-z0-9]*/y,
  words: () => /\w*/y,
  dashed: () => /[\w-]*/y,
  dotted: () => /[\w.-]*/y,
  slashed: () => /[\w/+-]*/y,
  base64: () => /[\w+/=-]*/y,
  all: () => /[\w+/=.~:$|%!@-]*/y,
} as const

/** No token is longer, but those of three parts. */
export const LONGEST_TOKEN = 512

/** A kind of secret, its prefixes, and the fewest and most characters of the body. */
type Row = readonly [kind: string, prefixes: string, least: number, most?: number]

const ROWS: Readonly<Record<keyof typeof BODIES, readonly Row[]>> = {
  capitals: [
    ['aws', 'AKIA ASIA ABIA ACCA', 16, 16],
    ['age', 'AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1', 50],
    ['octopus', 'API-', 25, 32],
  ],
  hex: [
    ['firecrawl', 'fc-', 32, 32],
    ['e2b', 'e2b_', 32],
    ['elevenlabs', 'sk_', 40],
    ['mailgun', 'key-', 32, 32],
    ['twilio', 'SK', 32, 32],
    ['digitalocean', 'dop_v1_ doo_v1_ dor_v1_', 60],
    ['pulumi', 'pul-', 40],
    ['exoscale', 'EXO', 24, 24],
    ['rubygems', 'rubygems_', 40],
    ['shippo', 'shippo_live_ shippo_test_', 32],
    ['lob', 'live_ test_', 35],
  ],
  letters: [
    ['adafruit', 'aio_', 28, 28],
    ['github', 'ghp_ gho_ ghu_ ghr_', 20],
    ['gitlab', '_gitlab_session=', 32],
    ['npm', 'npm_', 30],
    ['openai', 'sess-', 40],
    ['huggingface', 'hf_ api_org_', 30],
    ['groq', 'gsk_', 40],
    ['xai', 'xai-', 40],
    ['perplexity', 'pplx-', 32],
    ['replicate', 'r8_', 30],
    ['cerebras', 'csk-', 32],
    ['fireworks', 'fw_', 20],
    ['anyscale', 'esecret_', 20],
    ['runpod', 'rpa_', 30],
    ['apify', 'apify_api_', 30],
    ['modal', 'ak- as-', 22, 22],
    ['shopify', 'shpat_ shpca_ shppa_ shpss_ shptka_ shprka_', 30],
    ['vault', 's.', 24, 24],
    ['neon', 'napi_', 40],
    ['clickhouse', '4b1d', 38, 38],
    ['materialize', 'mzp_', 40],
    ['linear', 'lin_api_ lin_oauth_ lin_wh_', 32],
    ['notion', 'ntn_', 40],
    ['notion', 'secret_', 40],
    ['trello', 'ATTA', 60],
    ['readme', 'rdme_', 60],
    ['datadog', 'ddp_ ddapp_ pub_dd', 30],
    ['honeycomb', 'hcaik_ hcbik_ hcxik_ hcalk_ hcxlk_ hcamk_ hcxmk_', 30],
    ['sonar', 'squ_ sqp_ sqa_', 36],
    ['buildkite', 'bkua_ bkat_ bkct_ bkpt_', 36],
    ['netlify', 'nfp_ nfc_ nfo_ nfu_ nfb_', 30],
    ['render', 'rnd_', 24],
    ['deno', 'ddo_ ddw_', 30],
    ['valtown', 'vtwn_', 20],
    ['prefect', 'pnu_ pnb_', 30],
    ['alibaba', 'LTAI', 16, 26],
    ['tencent', 'AKID', 32, 36],
    ['jfrog', 'AKCp', 60],
    ['jfrog', 'cmVmd', 55],
    ['nuget', 'oy2', 43, 43],
    ['crates', 'cio', 32, 32],
    ['clojars', 'CLOJARS_', 50],
    ['facebook', 'EAA', 80],
    ['easypost', 'EZAK EZTK', 54],
    ['razorpay', 'rzp_live_ rzp_test_', 14],
    ['twitch', 'oauth:', 30, 30],
    ['settlemint', 'sm_pat_ sm_aat_ sm_sat_', 16],
    ['polar', 'polar_oat_ polar_pat_', 24],
    ['chromatic', 'chpt_', 12],
    ['cal', 'cal_live_ cal_test_', 20],
  ],
  words: [
    ['github', 'github_pat_', 20],
    ['langchain', 'lsv2_pt_ lsv2_sk_ ls__', 20],
    ['pinecone', 'pcsk_ pckey_', 30],
    ['wandb', 'wandb_v1_', 40],
    ['stripe', 'sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_sbox_ whsec_test_', 10],
    ['resend', 're_', 24],
    ['posthog', 'phc_ phx_ phs_ pha_ phr_', 30],
    ['grafana', 'glsa_', 32],
    ['sourcegraph', 'sgp_ slk_ sgd_', 36],
    ['circleci', 'CCIPAT_ CCIPRJ_', 30],
    ['vercel', 'vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_', 24],
    ['cloudflare', 'cfut_ cfat_ cfk_', 36],
    ['clickup', 'pk_', 36, 46],
  ],
  dashed: [
    ['aws', 'amzn.mws. amzn1.oa2-cs.v1.', 32],
    ['pypi', 'pypi-', 40],
    ['nvidia', 'nvapi-', 40],
    ['tavily', 'tvly-', 20],
    ['jina', 'jina_', 40],
    ['together', 'tgp_v1_', 30],
    ['voyage', 'pa-', 40],
    ['brave', 'BSA', 27, 28],
    ['slack', 'xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xoxo- xoxp- xoxr- xoxs- xapp- xwfp-', 10],
    ['google', 'AIza', 35],
    ['google', 'GOCSPX-', 24],
    ['google', '1//0', 40],
    ['brevo', 'xkeysib- xsmtpsib-', 40],
    ['vault', 'hvs. hvb. hvr.', 20],
    ['docker', 'dckr_pat_ dckr_oat_', 20],
    ['databricks', 'dapi dkea dose', 32, 34],
    ['supabase', 'sbp_ sb_secret_', 20],
    ['mongodb', 'mdb_sa_sk_', 30],
    ['figma', 'figd_ figu_ figo_ figdr_ figur_', 30],
    ['postman', 'PMAK- PMAT-', 26],
    ['contentful', 'CFPAT-', 30],
    ['hubspot', 'pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-', 36],
    ['newrelic', 'NRAK- NRII- NRJS- NRRA- NRSP- NRIQ- NRBR- NRAA-', 15],
    ['axiom', 'xaat- xapt- xait-', 30],
    ['launchdarkly', 'sdk- api-', 36, 36],
    ['segment', 'sgp_v1_', 36],
    ['tailscale', 'tskey-', 20],
    ['heroku', 'HRKU-', 36],
    ['fly', 'fo1_', 40],
    ['cloudflare', 'v1.0-', 100],
    ['openshift', 'sha256~', 43, 43],
    ['1password', 'A3-', 33, 34],
    ['adobe', 'p8e-', 32],
    ['yandex', 'AQVN', 35, 38],
    ['yandex', 'y0_', 40],
    ['square', 'sq0atp- sq0csp- sq0idp-', 20],
    ['square', 'EAAA', 54, 64],
    ['instagram', 'IGQVJ IGAA IGQWR', 60],
    ['plaid', 'access-sandbox- access-development- access-production-', 36],
    ['flutterwave', 'FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-', 12],
    ['pubnub', 'sec-c-', 36],
    ['defined', 'dnkey-', 70],
    ['scalingo', 'tk-us- tk-eu-', 40],
    ['commonplace', 'cp_', 49, 49],
  ],
  dotted: [
    ['zoho', '1000.', 60, 70],
    ['github', 'ghs_', 20],
    [
      'gitlab',
      'glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glagent- glffct- glimt- gloas- glwt- GR1348941',
      16,
    ],
    ['anthropic', 'sk-ant-', 20],
    ['openai', 'sk-', 20],
    ['google', 'ya29.', 20],
    ['sendgrid', 'SG.', 40],
    ['dbt', 'dbtc_ dbtu_ dbts_', 30],
    ['doppler', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.', 40],
    ['tinybird', 'p.eyJ', 40],
    ['typeform', 'tfp_', 40],
    ['dynatrace', 'dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08. dt0s16.', 40],
    ['infisical', 'st.', 60],
    ['harness', 'pat. sat.', 60],
    ['dropbox', 'sl.', 60],
    ['mapbox', 'sk.eyJ tk.eyJ', 60],
    ['n8n', 'n8n_api_', 40],
    ['onfido', 'api_live. api_sandbox. api_live_us. api_live_eu. api_live_ca.', 30],
  ],
  slashed: [
    ['slack', 'hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/', 20],
    ['discord', 'discord.com/api/webhooks/ discordapp.com/api/webhooks/', 40],
    ['zapier', 'hooks.zapier.com/hooks/catch/', 12],
    ['backblaze', 'K00', 28, 28],
  ],
  base64: [
    ['aws', 'ABSK bedrock-api-key-', 60],
    ['stripe', 'whsec_', 24],
    ['aiven', 'AVNS_ aivenv1', 15],
    ['confluent', 'cflt', 60, 60],
    ['atlassian', 'ATATT3 ATCTT3 ATBB ATSTT3', 24],
    ['intercom', 'dG9rO', 50],
    ['frameio', 'fio-u-', 40],
    ['sentry', 'sntrys_ sntryu_ sntrya_', 40],
    ['grafana', 'glc_', 32],
    ['grafana', 'eyJrIjoi', 40],
    ['fly', 'fm1a_ fm1r_ fm2_', 60],
    ['1password', 'ops_eyJ', 100],
    ['duffel', 'duffel_live_ duffel_test_', 30],
    ['gocardless', 'live_ sandbox_', 40, 40],
    ['portainer', 'ptr_', 40],
  ],
  all: [
    ['microsoft', 'webhook.office.com/webhookb2/ outlook.office.com/webhook/', 60],
    ['planetscale', 'pscale_tkn_ pscale_oauth_ pscale_pw_', 32],
    ['airtable', 'pat', 79, 79],
    ['salesforce', '00D', 60],
    ['yandex', 't1.', 80],
    ['braintree', 'access_token$production$ access_token$sandbox$', 30],
    ['twitter', 'AAAAAAAAAAAAAAAAAAAAA', 30],
    ['authress', 'sc_ ext_ scauth_ authress_', 60],
    ['rancher', 'kubeconfig-', 50],
    ['facebook', 'GG|', 40],
  ],
}

/** Prefixes that words joined by dashes have too. */
const NEEDS_PART = new Set([
  'openai',
  'anthropic',
  'pypi',
  'voyage',
  'tavily',
  'rancher',
  'resend',
  'langchain',
  'jina',
])
/** Bodies whose parts a dot separates. */
const NEEDS_DOT = new Set(['sendgrid', 'harness', 'airtable', 'authress'])

const BY_PREFIX = new Map<string, readonly TokenForm[]>()
for (const [body, rows] of Object.entries(ROWS) as [keyof typeof BODIES, readonly Row[]][])
  for (const [kind, prefixes, least, most = LONGEST_TOKEN] of rows) {
    const holds = NEEDS_PART.has(kind) ? 'part' : NEEDS_DOT.has(kind) ? 'dot' : null
    for (const prefix of prefixes.split(' '))
      BY_PREFIX.set(prefix, [...(BY_PREFIX.get(prefix) ?? []), { kind, body, least, most, holds }])
  }

const SHORTEST_PREFIX = 2
const escaped = (text: string): string => text.replace(/[.\\/$|]/g, '\\$&')

/** The places where a secret may begin, or that mark one; of several prefixes the longest comes first. */
export const BEGINNING = new RegExp(
  [
    ...[...BY_PREFIX.keys()].sort((a, b) => b.length - a.length).map(escaped),
    'eyJ',
    '\\dQ~',
    // Marks within a token: Telegram, Discord, Terraform, Mailchimp, New Relic, MaxMind, keys of Azure.
    ':[A-Z]',
    '\\.(?=[\\w-]{6}\\.)',
    '\\.atlasv1\\.',
    '-us\\d',
    'NRAL',
    '_mmk',
    'JQQJ99|AZDO|\\+ASt|AzSe|AzCa|ACDb|AzFu|AIoT',
    '(?:[Bb]earer|BEARER|[Bb]asic|BASIC)(?:\\s|%20)+',
    ':\\\\?/\\\\?/',
    '-----BEGIN ',
  ].join('|'),
  'g',
)

/** The forms that begin with a prefix, or with a part of it: the longest prefix first. */
export function formsOf(prefix: string): readonly { readonly form: TokenForm; readonly prefixLength: number }[] {
  const forms: { form: TokenForm; prefixLength: number }[] = []
  for (let length = prefix.length; length >= SHORTEST_PREFIX; length--)
    for (const form of BY_PREFIX.get(prefix.slice(0, length)) ?? []) forms.push({ form, prefixLength: length })
  return forms
}

/** The end of an escape: of a control character, of a color, of a character in a URL. */
const ESCAPE = /(?:\\[a-z]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}|\[[0-9;]{0,9}m)$/i
const LONGEST_ESCAPE = 12

/** Whether a token may begin here: no letter or digit is before it but the end of an escape. */
export function mayBegin(text: string, at: number): boolean {
  const before = text[at - 1]
  if (before === undefined || !/[A-Za-z0-9]/.test(before)) return true
  return ESCAPE.test(text.slice(Math.max(0, at - LONGEST_ESCAPE), at))
}
