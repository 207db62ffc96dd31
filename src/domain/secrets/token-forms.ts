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

/** Characters of a token that are checked. */
export const LONGEST_TOKEN = 512
/** No token is longer. */
export const LONGEST_BODY = 8_000

/** Rows of a kind of secret, the fewest and most characters of the body, and its prefixes. */
const ROWS: Readonly<Record<keyof typeof BODIES, string>> = {
  capitals: `aws 16-16 AKIA ASIA ABIA ACCA
age 50 AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1
octopus 25-32 API-
upcloud 26-26 ucat_
pinterest 30 pina_
nats 56-56 SU SA`,
  hex: `firecrawl 32-32 fc-
e2b 32 e2b_
elevenlabs 40 sk_
mailgun 32-32 key-
twilio 32-32 SK
digitalocean 60 dop_v1_ doo_v1_ dor_v1_
pulumi 40 pul-
exoscale 24-24 EXO
rubygems 40 rubygems_
shippo 32 shippo_live_ shippo_test_
lob 35 live_ test_
inngest 32 signkey-prod- signkey-test-
depot 60 depot_org_ depot_project_
checkly 32-32 cu_
pipedream 32-32 pd_
kaggle 32-32 KGAT_
cursor 60 crsr_
token 28-128 key_
infura 32-32 infura.io/v3/
hcaptcha 32-32 ES_`,
  letters: `adafruit 28-28 aio_
github 20 ghp_ gho_ ghu_ ghr_
gitlab 32 _gitlab_session=
npm 30 npm_
openai 40 sess-
huggingface 30 hf_ api_org_
groq 40 gsk_
xai 40 xai-
perplexity 32 pplx-
replicate 30 r8_
cerebras 32 csk-
fireworks 20 fw_
anyscale 20 esecret_
runpod 30 rpa_
apify 30 apify_api_
modal 22-22 ak- as-
shopify 30 shpat_ shpca_ shppa_ shpss_ shptka_ shprka_
vault 24-24 s.
neon 40 napi_
clickhouse 38-38 4b1d
materialize 40 mzp_
linear 32 lin_api_ lin_oauth_ lin_wh_
notion 40 ntn_
notion 40 secret_
trello 60 ATTA
readme 60 rdme_
datadog 30 ddp_ ddapp_ pub_dd
honeycomb 30 hcaik_ hcbik_ hcxik_ hcalk_ hcxlk_ hcamk_ hcxmk_
sonar 36 squ_ sqp_ sqa_
buildkite 36 bkua_ bkat_ bkct_ bkpt_
netlify 30 nfp_ nfc_ nfo_ nfu_ nfb_
render 24 rnd_
deno 30 ddo_ ddw_
valtown 20 vtwn_
prefect 30 pnu_ pnb_
alibaba 16-26 LTAI
tencent 32-36 AKID
jfrog 60 AKCp
jfrog 55 cmVmd
nuget 43-43 oy2
crates 32-32 cio
clojars 50 CLOJARS_
facebook 80 EAA
easypost 54 EZAK EZTK
razorpay 14 rzp_live_ rzp_test_
twitch 30-30 oauth:
settlemint 16 sm_pat_ sm_aat_ sm_sat_
polar 24 polar_oat_ polar_pat_
chromatic 12 chpt_
cal 20 cal_live_ cal_test_
unkey 16 unkey_
trigger 16 tr_prod_ tr_dev_ tr_stg_ tr_preview_ tr_pat_
onesignal 80 os_v2_app_ os_v2_org_
ntfy 29-29 tk_
descope 50-54 K2
arcjet 26 ajkey_
cartesia 20 sk_car_
alchemy 30 alcht_
courier 28-28 pk_prod_
honeybadger 30 hbp_`,
  words: `github 20 github_pat_
langchain 20 lsv2_pt_ lsv2_sk_ ls__
pinecone 30 pcsk_ pckey_
wandb 40 wandb_v1_
resend 24 re_
posthog 30 phc_ phx_ phs_ pha_ phr_
grafana 32 glsa_
sourcegraph 36 sgp_ slk_ sgd_
circleci 30 CCIPAT_ CCIPRJ_
vercel 24 vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_
cloudflare 36 cfut_ cfat_ cfk_
clickup 36-46 pk_
paddle 40 pdl_live_apikey_ pdl_sdbx_apikey_
cockroach 40 CCDB1_
telnyx 50 KEY0`,
  dashed: `stripe 10 sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_sbox_ whsec_test_
aws 32 amzn.mws. amzn1.oa2-cs.v1.
pypi 40 pypi-
nvidia 40 nvapi-
tavily 20 tvly-
jina 40 jina_
together 30 tgp_v1_
voyage 40 pa-
brave 27-28 BSA
slack 10 xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xoxo- xoxp- xoxr- xoxs- xapp- xwfp-
google 35 AIza
google 24 GOCSPX-
google 40 1//0
brevo 40 xkeysib- xsmtpsib-
vault 20 hvs. hvb. hvr.
docker 20 dckr_pat_ dckr_oat_
databricks 32-34 dapi dkea dose
supabase 20 sbp_ sb_secret_
mongodb 30 mdb_sa_sk_
figma 30 figd_ figu_ figo_ figdr_ figur_
postman 26 PMAK- PMAT-
contentful 30 CFPAT-
hubspot 36 pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-
newrelic 15 NRAK- NRII- NRJS- NRRA- NRSP- NRIQ- NRBR- NRAA-
axiom 30 xaat- xapt- xait-
launchdarkly 36-36 sdk- api-
segment 36 sgp_v1_
tailscale 20 tskey-
heroku 36 HRKU-
fly 40 fo1_
cloudflare 100 v1.0-
openshift 43-43 sha256~
1password 33-34 A3-
adobe 32 p8e-
yandex 35-38 AQVN
yandex 40 y0_
square 20 sq0atp- sq0csp- sq0idp-
square 54-64 EAAA
instagram 60 IGQVJ IGAA IGQWR
plaid 36 access-sandbox- access-development- access-production-
flutterwave 12 FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-
pubnub 36 sec-c-
defined 70 dnkey-
scalingo 40 tk-us- tk-eu-
commonplace 49-49 cp_
stytch 30 secret-live- secret-test-
svix 30 testsk_
fauna 36-40 fnA
luma 60 luma-
helicone 28 sk-helicone-
alchemy 32-32 alchemy.com/v2/
loggly 36-36 loggly.com/inputs/
browserbase 20 bb_live_ bb_test_
secret-key 40 sk_prod_ sk_`,
  dotted: `zoho 60-70 1000.
github 20 ghs_
gitlab 16 glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glagent- glffct- glimt- gloas- glwt- GR1348941
anthropic 20 sk-ant-
openai 20 sk-
google 20 ya29.
sendgrid 40 SG.
dbt 30 dbtc_ dbtu_ dbts_
doppler 40 dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.
tinybird 40 p.eyJ
typeform 40 tfp_
dynatrace 40 dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08. dt0s16.
infisical 60 st.
harness 60 pat. sat.
dropbox 60 sl.
mapbox 60 sk.eyJ tk.eyJ
n8n 40 n8n_api_
onfido 30 api_live. api_sandbox. api_live_us. api_live_eu. api_live_ca.
nebius 100 v1.C
zep 60 z_1dWlkIjoi`,
  slashed: `slack 20 hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/
discord 40 discord.com/api/webhooks/ discordapp.com/api/webhooks/
zapier 12 hooks.zapier.com/hooks/catch/
backblaze 28-28 K00
bitbucket 40 BBDC-
tigris 40 tsec_`,
  base64: `aws 60 ABSK bedrock-api-key-
stripe 24 whsec_
aiven 15 AVNS_ aivenv1
confluent 60-60 cflt
atlassian 24 ATATT3 ATCTT3 ATBB ATSTT3
intercom 50 dG9rO
frameio 40 fio-u-
sentry 40 sntrys_ sntryu_ sntrya_
grafana 32 glc_
grafana 40 eyJrIjoi
fly 60 fm1a_ fm1r_ fm2_
1password 100 ops_eyJ
adyen 80 AQE
private-key 60 LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFTkNS
duffel 30 duffel_live_ duffel_test_
gocardless 40-40 live_ sandbox_
portainer 40 ptr_
cloudflare 100 eyJhIjoi`,
  all: `microsoft 60 webhook.office.com/webhookb2/ outlook.office.com/webhook/
planetscale 32 pscale_tkn_ pscale_oauth_ pscale_pw_
airtable 79-79 pat
salesforce 60 00D
yandex 80 t1.
braintree 30 access_token$production$ access_token$sandbox$
twitter 30 AAAAAAAAAAAAAAAAAAAAA
authress 60 sc_ ext_ scauth_ authress_
rancher 50 kubeconfig-
facebook 40 GG|
astra 60 AstraCS:
evervault 40 ev:key:`,
}

/** Prefixes that words joined by dashes have too. */
const NEEDS_PART = new Set('openai anthropic pypi voyage tavily rancher resend langchain jina'.split(' '))
/** Bodies whose parts a dot separates. */
const NEEDS_DOT = new Set(['sendgrid', 'harness', 'airtable', 'authress'])

/** The forms of tokens, by prefix. */
export const FORMS = new Map<string, readonly TokenForm[]>()
for (const [body, rows] of Object.entries(ROWS) as [keyof typeof BODIES, string][])
  for (const row of rows.split('\n')) {
    const [kind = '', bounds = '', ...prefixes] = row.split(' ')
    const [least, most = LONGEST_BODY] = bounds.split('-').map(Number)
    const holds = NEEDS_PART.has(kind) ? 'part' : NEEDS_DOT.has(kind) ? 'dot' : null
    for (const prefix of prefixes)
      FORMS.set(prefix, [...(FORMS.get(prefix) ?? []), { kind, body, least: least as number, most, holds }])
  }

const SHORTEST_PREFIX = 2
const escaped = (text: string): string => text.replace(/[.\\/$|]/g, '\\$&')

/** The places where a secret can start, and marks inside of secrets; of several prefixes, the longest comes first. */
export const BEGINNING = new RegExp(
  [
    ...[...FORMS.keys()].sort((a, b) => b.length - a.length).map(escaped),
    'eyJ',
    '\\dQ~',
    // Marks within a token: Telegram, Discord, Terraform, Mailchimp, New Relic, MaxMind, keys of Azure.
    ':[A-Z]',
    '\\.(?=[\\w-]{6}\\.)',
    '\\.atlasv1\\.',
    '\\|(?=[A-Za-z0-9]{48})',
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

/** The forms with a prefix, or with a part of it, longest first. */
export function formsOf(prefix: string): readonly { readonly form: TokenForm; readonly prefixLength: number }[] {
  const forms: { form: TokenForm; prefixLength: number }[] = []
  for (let length = prefix.length; length >= SHORTEST_PREFIX; length--)
    for (const form of FORMS.get(prefix.slice(0, length)) ?? []) forms.push({ form, prefixLength: length })
  return forms
}

/** The end of an escape sequence: of a control character, a color, or a character in a URL. */
const ESCAPE = /(?:\\[a-z]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}|\[[0-9;]{0,9}m)$/i
const LONGEST_ESCAPE = 12

/** Whether a token can start here: no letter or digit precedes it, except for the end of an escape sequence. */
export function mayBegin(text: string, at: number): boolean {
  const before = text[at - 1]
  if (before === undefined || !/[A-Za-z0-9]/.test(before)) return true
  return ESCAPE.test(text.slice(Math.max(0, at - LONGEST_ESCAPE), at))
}
