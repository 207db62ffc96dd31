import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseConfig, VARIABLES } from '../../src/config'
import type { Variable } from '../../src/variables.mjs'
import { ROOT } from '../support/build'
import { askedOf } from '../support/configuration'

/**
 * Generates docs/configuration.md: defaults and values from src/config.ts, meanings from this file. `npm test --
 * test/unit/configuration-docs.test.ts -u` updates the page.
 */
type Meaning = Readonly<Partial<Record<Variable, string>>>

const SECTIONS: Readonly<Record<string, Meaning>> = {
  Access: {
    AUTH_MODE:
      '`required`: every request needs a key. `open` (set by `wrangler.toml` for this machine): requests from this machine need no key, and all others are refused',
    ALLOWED_HOSTS:
      'host names of a deployment, with a port if needed: `memory.example.com`. Requests for other names, and from web pages of other origins, are refused',
    ALLOWED_ORIGINS:
      'web pages that can call `/mcp` with a bearer token in required mode: `https://app.example.com`, also `http://localhost:6274` or `chrome-extension://…`. Their cookies are ignored',
    ADMIN_TOKEN: 'creates organizations and keys; it belongs to no organization and reads no memories',
    ACCESS_TEAM_DOMAIN:
      'the team of Cloudflare Access in front of the server, such as `https://acme.cloudflareaccess.com`: its people [sign in without a key](deploy.md#sign-in-without-a-key)',
    ACCESS_AUD: 'audience tag of the Access application of this server',
    OIDC_ISSUER:
      'an OpenID Connect provider, such as `https://accounts.google.com`, by which people [sign in without a key](deploy.md#sign-in-without-a-key)',
    OIDC_CLIENT_ID:
      'client ID of this server at that provider. The redirect URI is `https://<server>/login/oidc/callback`',
    OIDC_CLIENT_SECRET:
      'client secret at that provider (a secret of the Worker); empty for a public client, since PKCE is always used',
    OIDC_NAME: 'name of the provider on the button; default `your organization`',
    WEBHOOK_URL:
      'address that gets a POST when a review waits, background work has failed, or a quota is 80 % full ([operate](operating.md#webhook))',
    WEBHOOK_SECRET: 'signs these requests: `X-Commonplace-Signature: sha256=` and the HMAC-SHA-256 of the body',
    RATE_LIMIT_PER_MINUTE:
      'requests of a key in a minute; 0: no limit. Open mode has no limit. [A key can have a lower one](teams.md#limit-a-key)',
    MAX_CONCURRENT_REQUESTS: 'requests of a key at the same time; 0: no limit',
    MAX_ENTRIES_PER_ORG: 'entries of an organization; 0: no limit',
    MAX_BYTES_PER_ORG:
      'bytes of text, metadata, images (each counted once), code, versions, receipts and audit log of an organization; 0: no limit. At the limit the oldest versions are deleted first. A refused write shows what uses the space',
  },
  Retention: {
    HISTORY_DAYS: 'days that versions are retained; 0: none, and deletes are permanent',
    IDEMPOTENCY_HOURS: 'hours in which a repeated call with the same `idempotency_key` gets the first answer',
    CHANGES_DAYS: 'days that the change feed is retained; at least as long as `IDEMPOTENCY_HOURS`',
    CAPTURE_DAYS: 'days until a captured session expires, unless a person approves it; 0: nothing is captured',
    AUDIT_DAYS: 'days that the audit log is retained; the newest row of each organization stays',
    BACKUP_KEEP: 'days that daily backups in the bucket `BACKUP_BUCKET` are retained',
  },
  Databases: {
    STORAGE_BACKEND: '`d1` is another name for `sqlite`',
    POSTGRESQL_SCHEMA: 'the schema of the tables, with `postgresql`',
    METADATA_INDEXED_FIELDS: 'indexes these metadata fields, so that filters on them are fast; results do not change',
    VECTOR_BACKEND:
      'where vectors are compared; `pgvector` is the default with PostgreSQL. `object`: one Durable Object for each organization compares the newest vectors that fit into half of `VECTOR_MEMORY_MB`. `pgvector`: in the database; if `VECTORS` is bound and all vectors of an organization fit, its Durable Object answers first',
    VECTOR_MEMORY_MB:
      'memory of an isolate for vectors. An organization can use half of it (78,000 vectors of 384 numbers by default). 4000 in `wrangler.toml` for this machine; Cloudflare ends an isolate at 128 MB in total',
  },
  Searching: {
    ENABLE_FTS: 'search by words; `false`: its tools are not listed',
    FTS_LANGUAGE:
      'language for stemming, equal on both databases; Basque, Catalan and Yiddish are not stemmed. After a change the schedule rebuilds the index',
    ENABLE_SEMANTIC_SEARCH: '`false`: no search by meaning, and writes create no embeddings',
    ENABLE_HYBRID_SEARCH: 'search by words and meaning together',
    HYBRID_FUSION: '`scores`: combines the word score and the similarity; `rrf`: combines ranks only',
    HYBRID_RRF_K: 'the constant of `rrf`',
    HYBRID_RRF_OVERFETCH: 'hundreds of candidates from each of the two searches',
    SEARCH_TRUNCATION_LENGTH: 'length of texts in search results, in code points',
    RERANKING_PROVIDER: 'a model that sorts the first 100 results again; `none`: off',
    RERANKING_MODEL: 'model of the reranking provider',
    ENABLE_RERANKING: '`false`: off, with any provider',
  },
  Models: {
    EMBEDDING_PROVIDER:
      '`builtin`: a sentence model in the server process, the default of `npm start`, `npx` and the container ([models](models.md)); `openai`: any compatible API',
    EMBEDDING_MODEL:
      'by default `hashed-features-v1` (`local`), `all-MiniLM-L6-v2` (`builtin`; also `multilingual-e5-small` or a folder), `@cf/baai/bge-m3` (`workers-ai`), `qwen3-embedding:0.6b` (`ollama`), `text-embedding-3-small` (`openai`)',
    EMBEDDING_DIM:
      'numbers in an embedding, as the model returns them; 512 with `local`, set by the model with `builtin`, 1024 with `workers-ai` and `ollama`, 1536 with `openai`',
    EMBEDDING_FAILURE:
      '`fail`: a write fails if the model fails; `defer` (set in `wrangler.toml`): the entry is stored, and its embeddings are computed later',
    EMBEDDING_TIMEOUT_S:
      'seconds for one request to the embedding model. A search waits 2.5 times as long; a write with `defer` waits this long',
    EMBEDDING_LEVELS:
      'the scale of similarities for recall, packs and hybrid search: the mean cosine of unrelated texts, the median cosine of a question and its answer, and the level (similarity plus half of the part of words that match) below which an answer is doubtful. Known for `local`, all-MiniLM-L6-v2 and multilingual-e5-small; measured once for other models',
    MODEL_URL: 'host from which `builtin` downloads its model, or a mirror with the same paths',
    ENABLE_CHUNKING: 'splits long texts into overlapping chunks before embedding',
    CHUNK_SIZE:
      'characters of a chunk; at most 1000 with `local`. all-MiniLM-L6-v2 splits texts that are longer than this into chunks of 1000',
    CHUNK_OVERLAP: 'characters that two chunks share; smaller than `CHUNK_SIZE`',
    CHUNK_AGGREGATION: 'a text is as similar as its most similar chunk; the only value',
    SUMMARY_PROVIDER: 'a model that summarizes long texts at every write; `none`: off',
    SUMMARY_MODEL: 'model of the summary provider',
    SUMMARY_MAX_TOKENS: 'tokens of a summary',
    SUMMARY_MIN_CONTENT_LENGTH: 'characters below which a text gets no summary',
    ENABLE_SUMMARY_GENERATION: '`false`: off, with any provider',
    CONTRADICTION_JUDGE:
      '`true`: the model of `SUMMARY_PROVIDER` decides in the background whether a later memory on the same subject replaces or contradicts an earlier one',
    CAPTURE_PROPOSALS:
      '`true`: the model of `SUMMARY_PROVIDER` proposes at most six memories at the end of a captured session; a person reviews them',
    MODEL_CALLS_PER_DAY:
      'calls of these two features in a day (UTC), of all organizations together; the rest waits for the next day',
    OLLAMA_HOST: 'address of Ollama',
    OPENAI_API_BASE: 'address of the OpenAI API, or of a compatible server',
    OPENAI_API_KEY: 'key for this API',
  },
  'Tools and output': {
    DISABLED_TOOLS: 'tools that are not offered',
    TOOL_NAMES: '`dotted`: names such as `context.store`; `portable`: names without dots, which most clients require',
    MCP_SERVER_INSTRUCTIONS: 'instructions for agents; not set: the built-in text, empty: none',
    MAX_IMAGE_SIZE_MB: 'size of an image',
    MAX_TOTAL_SIZE_MB: 'size of all images of an entry',
    REDACT:
      '`always`: removes what looks like a secret from every write, and does not restore a version that contains one; `warn`: only warns. Secrets are always removed from events and code',
    PACK_TRUST:
      '`approved`: packs and hooks contain only memories that a person wrote or approved in the dashboard; `all`: all memories, but hooks leave out texts that address an agent',
    LOG_LEVEL: '`DEBUG` adds each SQL batch with its rows; no level logs text of memories',
  },
}

const LONGEST_LIST = 160

function page(): string {
  const { asked } = askedOf()
  const cell = (text: string) => text.replaceAll('|', '\\|')
  const row = ([name, meaning]: readonly [string, string]) => {
    const { fallback, takes } = asked.get(name as Variable) ?? { fallback: '', takes: '' }
    const values =
      takes.length > LONGEST_LIST
        ? `${takes.slice(0, takes.indexOf('`, `', 90) + 1)} … (${takes.split(', ').length})`
        : takes
    return `| \`${name}\` | ${fallback === '' ? 'none' : `\`${cell(fallback)}\``} | ${cell(values)} | ${cell(meaning)} |`
  }
  return [
    '# Configuration',
    '',
    '<!-- Generated: npm test -- test/unit/configuration-docs.test.ts -u -->',
    'For people who run a server: every variable that the Worker reads, with its default and its allowed values. Where to set them:',
    '[settings of a start](running.md#settings-of-a-start). A server on this machine also reads `DATABASE_URL`, `DATABASE_POOL_URL`, `POSTGRESQL_PASSWORD` and',
    '`COMMONPLACE_DATA` ([from npm](anywhere.md#from-npm)), and `COMMONPLACE_RUNTIME` ([models](models.md#the-built-in-model)).',
    ...Object.entries(SECTIONS).flatMap(([title, meanings]) => [
      ...['', `## ${title}`, '', '| variable | default | values | meaning |', '|---|---|---|---|'],
      ...Object.entries(meanings).map(row),
    ]),
    '',
  ].join('\n')
}

it('tells every variable that is read in docs/configuration.md, once, with the default and the values that the code has', async () => {
  const told = Object.values(SECTIONS).flatMap((meanings) => Object.keys(meanings))
  expect([...told].sort()).toEqual([...VARIABLES].sort())
  const { asked } = askedOf()
  expect([...asked.keys()].sort()).toEqual([...VARIABLES].sort())
  await expect(page()).toMatchFileSnapshot(`${ROOT}docs/configuration.md`)
})

it('tells teams the limits of a key that the code has', () => {
  const { perMinute, concurrent } = parseConfig({}).limits
  const teams = readFileSync(`${ROOT}docs/teams.md`, 'utf8')
  expect(teams).toContain(`A key can make ${perMinute} requests a minute and ${concurrent} at the same time`)
})
