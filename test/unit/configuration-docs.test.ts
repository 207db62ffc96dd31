import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseConfig, VARIABLES } from '../../src/config'
import type { Variable } from '../../src/variables.mjs'
import { ROOT } from '../support/build'
import { askedOf } from '../support/configuration'

/**
 * docs/configuration.md: defaults and what each variable takes from src/config.ts, as it reads them; what they mean from here.
 * `npm test -- test/unit/configuration-docs.test.ts -u` makes the page anew.
 */
type Meaning = Readonly<Partial<Record<Variable, string>>>

const SECTIONS: Readonly<Record<string, Meaning>> = {
  'Who comes in': {
    AUTH_MODE:
      '`required`: every request brings a key. `open` (on this machine by `wrangler.toml`): requests from and to this machine need none, all others are refused',
    ALLOWED_HOSTS:
      'the names of a deployment, with a port where it matters: `memory.example.com`; requests for another name, and pages of another origin, are refused',
    ALLOWED_ORIGINS:
      'web pages that may call `/mcp` with a bearer token, in required mode: `https://app.example.com`, also `http://localhost:6274` or `chrome-extension://…`; cookies never count for them',
    ADMIN_TOKEN: 'makes organizations and keys; belongs to none of them',
    RATE_LIMIT_PER_MINUTE: 'requests of a key in a minute; 0: no limit. Open mode has none',
    MAX_CONCURRENT_REQUESTS: 'requests of a key at once; 0: no limit',
    MAX_ENTRIES_PER_ORG: 'entries of an organization; 0: no limit',
    MAX_BYTES_PER_ORG:
      'bytes of text, metadata, images (each once), code, kept versions, receipts and audit log of an organization; 0: no limit. Where it is full the oldest kept versions go first, and a refusal says what holds the rest',
  },
  'How long things are kept': {
    HISTORY_DAYS: 'days that old states of entries are kept; 0: none, and deletes are final',
    IDEMPOTENCY_HOURS: 'hours that a call made again with its `idempotency_key` is answered as at first',
    CHANGES_DAYS: 'days that the feed of changes is kept; no less long than receipts',
    CAPTURE_DAYS: 'days that what hooks of clients capture is kept unless somebody keeps it; 0: nothing is captured',
    AUDIT_DAYS: 'days that the audit log is kept; the newest row of an organization stays',
    BACKUP_KEEP: 'days that daily backups in the bucket `BACKUP_BUCKET` are kept',
  },
  Databases: {
    STORAGE_BACKEND: '`d1` is another name of `sqlite`',
    POSTGRESQL_SCHEMA: 'where the tables are, with `postgresql`',
    METADATA_INDEXED_FIELDS: 'makes filters on these fields of metadata fast, never changes a result',
    VECTOR_BACKEND:
      'with PostgreSQL `pgvector` by itself. `object`: a Durable Object for each organization, which compares the newest vectors that fit into half of `VECTOR_MEMORY_MB`; `pgvector`: with such objects, which are asked first where `VECTORS` is bound and all vectors fit',
    VECTOR_MEMORY_MB:
      'memory of an isolate that vectors may take; an organization may have half of it (78,000 vectors of 384 numbers by default). 4000 in `wrangler.toml` for this machine; Cloudflare ends an isolate at 128 MB in all',
  },
  Searching: {
    ENABLE_FTS: 'a tool that is off is not listed',
    FTS_LANGUAGE:
      'all are stemmed, alike on both databases, but Basque, Catalan and Yiddish; queries may be in any. After a change the schedule rewrites the index',
    ENABLE_SEMANTIC_SEARCH: 'without it writes make no vectors',
    ENABLE_HYBRID_SEARCH: 'words and meaning together',
    HYBRID_FUSION: '`scores`: word score and nearness; `rrf`: ranks alone',
    HYBRID_RRF_K: 'the constant of `rrf`',
    HYBRID_RRF_OVERFETCH: 'so many hundreds of the best are taken from each side',
    SEARCH_TRUNCATION_LENGTH: 'code points of text in search results',
    RERANKING_PROVIDER: 'puts the ranking (at most 100) into another order; `none`: off',
    RERANKING_MODEL: '',
    ENABLE_RERANKING: '`false` switches it off whatever the provider is',
  },
  Models: {
    EMBEDDING_PROVIDER:
      '`builtin`: a sentence model in the process that serves, by itself with `npm start`, `npx` and the container ([models](models.md)); `openai`: any compatible URL',
    EMBEDDING_MODEL:
      'else `hashed-features-v1` (`local`), `all-MiniLM-L6-v2` (`builtin`, which also takes `multilingual-e5-small` or a folder), `@cf/baai/bge-m3` (`workers-ai`), `qwen3-embedding:0.6b` (`ollama`), `text-embedding-3-small` (`openai`)',
    EMBEDDING_DIM:
      'what the model returns; 512 with `local`, that of the model with `builtin`, 1024 with `workers-ai` and `ollama`, 1536 with `openai`',
    EMBEDDING_FAILURE:
      '`fail`: a write fails with the model; `defer` (in `wrangler.toml`): it is stored, and its vectors are made later',
    EMBEDDING_TIMEOUT_S:
      'seconds that one request to the embedding model may take; a search waits 2.5 times as long, a write with `defer` once',
    EMBEDDING_LEVELS:
      'what cosines mean in recall, packs and hybrid search: the mean one of texts with nothing in common, the median one of a question and its answer, and the sum of similarity and half of the words found below which an answer is doubtful. Known for `local`, all-MiniLM-L6-v2 and multilingual-e5-small; of any other model measured once, and kept',
    MODEL_URL: 'where `builtin` downloads its model: a mirror with the paths of the Hugging Face Hub',
    ENABLE_CHUNKING: 'long texts are embedded in overlapping pieces',
    CHUNK_SIZE:
      'characters of a piece; `local` cuts at 1000 at most, all-MiniLM-L6-v2 what is longer than this into pieces of 1000',
    CHUNK_OVERLAP: 'smaller than `CHUNK_SIZE`',
    CHUNK_AGGREGATION: 'a text is as near as its nearest piece; there is no other choice',
    SUMMARY_PROVIDER: 'summaries of long texts at every write; `none`: off',
    SUMMARY_MODEL: '',
    SUMMARY_MAX_TOKENS: 'of a summary',
    SUMMARY_MIN_CONTENT_LENGTH: 'shorter texts have none',
    ENABLE_SUMMARY_GENERATION: '`false` switches it off whatever the provider is',
    CONTRADICTION_JUDGE:
      '`true`: the model of `SUMMARY_PROVIDER` decides in the background whether a later memory on the same subject replaces or contradicts an earlier one',
    CAPTURE_PROPOSALS:
      '`true`: the model of `SUMMARY_PROVIDER` proposes at most six memories at the end of a captured session; a person reviews them',
    MODEL_CALLS_PER_DAY:
      'calls of these two in a day (UTC), of all organizations together; the rest waits for the next day',
    OLLAMA_HOST: '',
    OPENAI_API_BASE: '',
    OPENAI_API_KEY: '',
  },
  'What callers see': {
    DISABLED_TOOLS: 'names of tools',
    TOOL_NAMES: 'points in names, as the contracts have them, or none, as most clients ask for',
    MCP_SERVER_INSTRUCTIONS: 'shown to agents; built in where it is not set, none where it is empty',
    MAX_IMAGE_SIZE_MB: 'an image',
    MAX_TOTAL_SIZE_MB: 'all images of an entry',
    REDACT:
      'what looks like a secret is taken out of events and code always; of other writes with `always` (a kept state that holds it is not restored then), while `warn` only says so',
    PACK_TRUST:
      '`approved`: packs and hooks contain only memories that a person wrote or approved in the dashboard; `all` leaves out of hooks only texts that address an agent',
    LOG_LEVEL: '`DEBUG` adds each batch of SQL with its rows; no level tells text',
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
    'Every variable that the server reads: defaults and what each takes as `src/config.ts` asks for them, made by',
    '`npm test -- test/unit/configuration-docs.test.ts -u`. Where each is set: [running it](running.md#settings-of-a-start).',
    ...Object.entries(SECTIONS).flatMap(([title, meanings]) => [
      ...['', `## ${title}`, '', '| variable | default | takes | means |', '|---|---|---|---|'],
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
