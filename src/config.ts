import { type Environment, type IndexedFieldConfig, type ModelChoice, Reader } from './config-reader'
import { VECTOR_MEMORY_MB } from './domain/capacity'
import { MEGABYTE } from './domain/entry/image'
import { Problem } from './domain/errors'
import type { HistoryTerms } from './domain/history/version'
import type { ModelState } from './domain/meaning/hosted-model'
import { QUOTA_NAMES, type Quotas } from './domain/quota'
import type { Levels } from './domain/recall/similarity'
import { FUSION_METHODS, type FusionMethod } from './domain/search/fusion'
import type { Millis } from './domain/time'

/** The configuration, parsed and validated once from environment variables (threads contract §11). */
export type { IndexedFieldConfig, ModelChoice } from './config-reader'

export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Config {
  readonly authMode: 'open' | 'required'
  /** Null disables administration of organizations. */
  readonly adminToken: string | null
  /** Ways to sign in without pasting a key; each null where it is not configured, and in open mode. */
  readonly signIn: SignInSettings
  /** Receives notices for the operator; null for none. */
  readonly webhook: { readonly url: string; readonly secret: string | null } | null
  /** Limits per key; null for no limit. Open mode has none. */
  readonly limits: { readonly perMinute: number | null; readonly concurrent: number | null }
  /** Limits per organization. */
  readonly quotas: Quotas
  /** Days for which changes are retained. */
  readonly changesDays: number
  /** Days for which the audit log is retained. */
  readonly auditDays: number
  /** Days after which captured sessions expire unless they are approved; 0 disables capture. */
  readonly captureDays: number
  /** Days for which daily backups are retained. */
  readonly backupKeep: number
  readonly history: HistoryTerms
  readonly storageBackend: 'sqlite' | 'postgresql'
  /** The schema of the tables in PostgreSQL. */
  readonly postgresqlSchema: string
  readonly logLevel: LogLevel
  /** Null: the built-in text; empty: none. */
  readonly instructions: string | null
  readonly disabledTools: ReadonlySet<string>
  readonly toolNames: 'portable' | 'dotted'
  readonly imageLimits: { readonly each: number; readonly total: number }
  readonly truncationLength: number
  readonly indexedFields: readonly IndexedFieldConfig[]
  readonly fts: { readonly enabled: boolean; readonly language: string }
  readonly semantic: { readonly enabled: boolean }
  readonly hybrid: {
    readonly enabled: boolean
    readonly fusion: FusionMethod
    readonly k: number
    readonly overfetch: number
  }
  readonly vectorBackend: VectorBackend
  /** Megabytes of an isolate for vectors. */
  readonly vectorMemoryMb: number
  /** Whether suspected secrets are redacted, or only reported, in writes other than events and code. */
  readonly redact: 'warn' | 'always'
  /** Whether packs and hooks use all memories, or only those whose current version is approved by a person. */
  readonly packTrust: 'all' | 'approved'
  readonly embedding: {
    readonly provider: EmbeddingProvider
    readonly model: string
    readonly dimensions: number
    /** Behavior of a write whose vectors cannot be created: fail, or create them later. */
    readonly onFailure: 'fail' | 'defer'
    /** Maximum duration of one request to the model, in milliseconds. */
    readonly timeoutMs: Millis
    /** Null: the known or measured levels of the model. */
    readonly levels: Levels | null
    /** State of the `builtin` model, from the process that runs it. While it is not ready, `provider` is `local`. */
    readonly hosted: ModelState | null
  }
  /** Null: every text is one chunk. */
  readonly chunking: { readonly size: number; readonly overlap: number } | null
  /** Null: disabled, or without a provider. */
  readonly summary:
    | (ModelChoice<SummaryProvider> & { readonly maxTokens: number; readonly minContentLength: number })
    | null
  /** The model of SUMMARY_PROVIDER for background work that reads memories; null when none is enabled. */
  readonly languageModel: (ModelChoice<SummaryProvider> & { readonly maxTokens: number }) | null
  /** Whether the model compares memories with earlier ones on the same subject. */
  readonly contradictionJudge: boolean
  /** Whether the model proposes memories at the end of captured sessions. */
  readonly captureProposals: boolean
  /** Maximum calls per day (UTC) for that work, for all organizations together. */
  readonly modelCallsPerDay: number
  readonly reranking: ModelChoice<RerankingProvider> | null
  readonly ollamaHost: string
  readonly openai: { readonly base: string; readonly key: string | null }
}

export interface SignInSettings {
  /** Cloudflare Access: the URL of the team, and the audience tag of the application. */
  readonly access: { readonly team: string; readonly audience: string } | null
  /** An OpenID Connect provider, and its name for the button. */
  readonly openId: {
    readonly issuer: string
    readonly clientId: string
    readonly clientSecret: string | null
    readonly name: string
  } | null
}

type VectorBackend = 'object' | 'vectorize' | 'pgvector'

/** Providers by purpose; a provider need not support all of them. */
export const EMBEDDING_PROVIDERS = ['local', 'builtin', 'workers-ai', 'ollama', 'openai'] as const
export const SUMMARY_PROVIDERS = ['workers-ai', 'ollama', 'openai'] as const
export const RERANKING_PROVIDERS = ['workers-ai', 'ollama', 'openai'] as const
export type EmbeddingProvider = (typeof EMBEDDING_PROVIDERS)[number]
export type SummaryProvider = (typeof SUMMARY_PROVIDERS)[number]
export type RerankingProvider = (typeof RERANKING_PROVIDERS)[number]

export type { Environment } from './config-reader'
export { VARIABLES } from './variables.mjs'

const DEFAULT_INDEXED = 'status, agent_name, task_name, project, report_type, references:object, technologies:array'

/** Languages of full-text search, named like the configurations of PostgreSQL. */
export const FTS_LANGUAGES = [
  'simple',
  ...['arabic', 'armenian', 'basque', 'catalan', 'danish', 'dutch', 'english', 'finnish', 'french', 'german'],
  ...['greek', 'hindi', 'hungarian', 'indonesian', 'irish', 'italian', 'lithuanian', 'nepali', 'norwegian'],
  ...['portuguese', 'romanian', 'russian', 'serbian', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish'],
] as const

/** Name and vector size of the embedder without a model. */
export const LOCAL_MODEL = ['hashed-features-v1', 512] as const

const EMBEDDING_DEFAULTS: Readonly<Record<EmbeddingProvider, readonly [model: string, dimensions: number]>> = {
  local: LOCAL_MODEL,
  builtin: ['all-MiniLM-L6-v2', 384],
  'workers-ai': ['@cf/baai/bge-m3', 1024],
  ollama: ['qwen3-embedding:0.6b', 1024],
  openai: ['text-embedding-3-small', 1536],
}

/** Default models; empty where the model must be set. */
const SUMMARY_MODELS: Readonly<Record<SummaryProvider, string>> = {
  'workers-ai': '@cf/zai-org/glm-4.7-flash',
  ollama: 'qwen3:0.6b',
  openai: '',
}
const RERANKING_MODELS: Readonly<Record<RerankingProvider, string>> = {
  'workers-ai': '@cf/baai/bge-reranker-base',
  ollama: '',
  openai: '',
}

const OPENAI = 'https://api.openai.com/v1'

const VECTOR_BACKENDS = ['object', 'vectorize', 'pgvector'] as const
const MAX_DIMENSIONS: Readonly<Record<VectorBackend, number>> = { object: 1536, vectorize: 1536, pgvector: 4000 }

function readWebhook(reader: Reader): Config['webhook'] {
  const url = reader.text('WEBHOOK_URL') || null
  const secret = reader.text('WEBHOOK_SECRET') || null
  if (url === null) return null
  const local = /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?(\/|$)/
  if (URL.canParse(url) && (url.startsWith('https://') || local.test(url))) return { url, secret }
  // The address may hold a secret.
  reader.problems.push('WEBHOOK_URL is not an https URL')
  return null
}

function readSignIn(reader: Reader): SignInSettings {
  const team = reader.provider('ACCESS_TEAM_DOMAIN')?.replace(/\/+$/, '') ?? null
  const audience = reader.text('ACCESS_AUD') || null
  const issuer = reader.provider('OIDC_ISSUER')
  const clientId = reader.text('OIDC_CLIENT_ID') || null
  const clientSecret = reader.text('OIDC_CLIENT_SECRET') || null
  const name = reader.text('OIDC_NAME') || 'your organization'
  if ((team === null) !== (audience === null))
    reader.problems.push('Set ACCESS_TEAM_DOMAIN and ACCESS_AUD together, or neither of them')
  if ((issuer === null) !== (clientId === null))
    reader.problems.push('Set OIDC_ISSUER and OIDC_CLIENT_ID together, or neither of them')
  // Open mode has no sign-in.
  if (reader.text('AUTH_MODE')?.toLowerCase() === 'open') return { access: null, openId: null }
  return {
    access: team === null || audience === null ? null : { team, audience },
    openId: issuer === null || clientId === null ? null : { issuer, clientId, clientSecret, name },
  }
}

/**
 * Parses the environment variables.
 * @param reader reads the environment; the generator of docs/configuration.md passes one that records all names
 * @throws Problem unavailable with all problems, so that they can be fixed together
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one list of the variables, each in one line
export function parseConfig(env: Environment, reader = new Reader(env)): Config {
  const storage = reader.choice('STORAGE_BACKEND', 'sqlite', ['sqlite', 'd1', 'postgresql'])
  const onPostgres = storage === 'postgresql'
  const vectorBackend = reader.choice('VECTOR_BACKEND', onPostgres ? 'pgvector' : 'object', VECTOR_BACKENDS)
  if (vectorBackend === 'pgvector' && !onPostgres)
    reader.problems.push('VECTOR_BACKEND=pgvector requires STORAGE_BACKEND=postgresql')
  // The Durable Objects with the vectors read it again.
  const vectorMemoryMb = reader.integer('VECTOR_MEMORY_MB', VECTOR_MEMORY_MB, 40, 1_000_000)
  const provider = reader.choice('EMBEDDING_PROVIDER', 'local', EMBEDDING_PROVIDERS)
  // The process that runs the built-in model reads it again.
  reader.url('MODEL_URL', 'https://huggingface.co')
  const [defaultModel, defaultDimensions] = EMBEDDING_DEFAULTS[provider]
  const size = reader.integer('CHUNK_SIZE', 1500, 100, 10_000)
  const overlap = reader.integer('CHUNK_OVERLAP', 150, 0, 500)
  if (overlap >= size)
    reader.problems.push(`CHUNK_OVERLAP is ${overlap}, but must be smaller than CHUNK_SIZE (${size})`)
  reader.choice('CHUNK_AGGREGATION', 'max', ['max'])
  reader.hosts('ALLOWED_HOSTS')
  reader.origins('ALLOWED_ORIGINS')
  const summarizes = reader.boolean('ENABLE_SUMMARY_GENERATION', true)
  const contradictionJudge = reader.boolean('CONTRADICTION_JUDGE', false)
  const captureProposals = reader.boolean('CAPTURE_PROPOSALS', false)
  const readsBehind = contradictionJudge || captureProposals
  const chatModel = reader.model('SUMMARY', summarizes || readsBehind, SUMMARY_PROVIDERS, SUMMARY_MODELS)
  const summary = summarizes ? chatModel : null
  if (readsBehind && chatModel === null)
    reader.problems.push(
      `${contradictionJudge ? 'CONTRADICTION_JUDGE' : 'CAPTURE_PROPOSALS'} requires a model. Set SUMMARY_PROVIDER`,
    )
  const reranks = reader.boolean('ENABLE_RERANKING', true)
  const summarySize = {
    maxTokens: reader.integer('SUMMARY_MAX_TOKENS', 2000, 50, 16_384),
    minContentLength: reader.integer('SUMMARY_MIN_CONTENT_LENGTH', 500, 0, 10_000),
  }
  const config: Config = {
    authMode: reader.choice('AUTH_MODE', 'required', ['open', 'required']),
    adminToken: reader.secret('ADMIN_TOKEN', 24),
    signIn: readSignIn(reader),
    webhook: readWebhook(reader),
    limits: {
      perMinute: reader.integer('RATE_LIMIT_PER_MINUTE', 600, 0, 1_000_000) || null,
      concurrent: reader.integer('MAX_CONCURRENT_REQUESTS', 64, 0, 10_000) || null,
    },
    quotas: {
      entries: reader.integer(QUOTA_NAMES.entries, 0, 0, Number.MAX_SAFE_INTEGER) || null,
      bytes: reader.integer(QUOTA_NAMES.bytes, 0, 0, Number.MAX_SAFE_INTEGER) || null,
    },
    changesDays: reader.integer('CHANGES_DAYS', 30, 1, 3650),
    auditDays: reader.integer('AUDIT_DAYS', 365, 1, 3650),
    captureDays: reader.integer('CAPTURE_DAYS', 30, 0, 3650),
    backupKeep: reader.integer('BACKUP_KEEP', 14, 1, 3650),
    history: {
      days: reader.integer('HISTORY_DAYS', 30, 0, 3650),
      receiptHours: reader.integer('IDEMPOTENCY_HOURS', 24, 1, 720),
    },
    storageBackend: onPostgres ? 'postgresql' : 'sqlite',
    postgresqlSchema: reader.schema('POSTGRESQL_SCHEMA', 'public'),
    logLevel: reader.choice('LOG_LEVEL', 'INFO', LOG_LEVELS),
    instructions: reader.text('MCP_SERVER_INSTRUCTIONS') ?? null,
    disabledTools: new Set(reader.list('DISABLED_TOOLS', '').map((name) => name.toLowerCase())),
    toolNames: reader.choice('TOOL_NAMES', 'portable', ['portable', 'dotted']),
    imageLimits: {
      each: reader.integer('MAX_IMAGE_SIZE_MB', 10, 1, 10) * MEGABYTE,
      total: reader.integer('MAX_TOTAL_SIZE_MB', 100, 1, 100) * MEGABYTE,
    },
    truncationLength: reader.integer('SEARCH_TRUNCATION_LENGTH', 300, 50, 1000),
    indexedFields: reader.fields('METADATA_INDEXED_FIELDS', DEFAULT_INDEXED),
    fts: {
      enabled: reader.boolean('ENABLE_FTS', true),
      language: reader.choice('FTS_LANGUAGE', 'english', FTS_LANGUAGES),
    },
    semantic: { enabled: reader.boolean('ENABLE_SEMANTIC_SEARCH', true) },
    hybrid: {
      enabled: reader.boolean('ENABLE_HYBRID_SEARCH', true),
      fusion: reader.choice('HYBRID_FUSION', 'scores', FUSION_METHODS),
      k: reader.integer('HYBRID_RRF_K', 60, 1, 1000),
      overfetch: reader.integer('HYBRID_RRF_OVERFETCH', 2, 1, 10),
    },
    vectorBackend,
    vectorMemoryMb,
    redact: reader.choice('REDACT', 'warn', ['warn', 'always']),
    packTrust: reader.choice('PACK_TRUST', 'all', ['all', 'approved']),
    embedding: {
      provider,
      model: reader.text('EMBEDDING_MODEL') || defaultModel,
      dimensions: reader.integer('EMBEDDING_DIM', defaultDimensions, 1, MAX_DIMENSIONS[vectorBackend]),
      onFailure: reader.choice('EMBEDDING_FAILURE', 'fail', ['fail', 'defer']),
      timeoutMs: reader.integer('EMBEDDING_TIMEOUT_S', 10, 1, 600) * 1000,
      levels: reader.levels('EMBEDDING_LEVELS'),
      hosted: null,
    },
    chunking: reader.boolean('ENABLE_CHUNKING', true) ? { size, overlap } : null,
    summary: summary === null ? null : { ...summary, ...summarySize },
    languageModel: readsBehind && chatModel !== null ? { ...chatModel, maxTokens: summarySize.maxTokens } : null,
    contradictionJudge,
    captureProposals,
    modelCallsPerDay: reader.integer('MODEL_CALLS_PER_DAY', 200, 1, 1_000_000),
    reranking: reader.model('RERANKING', reranks, RERANKING_PROVIDERS, RERANKING_MODELS),
    ollamaHost: reader.url('OLLAMA_HOST', 'http://localhost:11434'),
    openai: {
      base: reader.url('OPENAI_API_BASE', OPENAI),
      key: reader.text('OPENAI_API_KEY') || null,
    },
  }
  const { base, key } = config.openai
  const isAsked = [config.semantic.enabled ? config.embedding : null, chatModel, config.reranking].some(
    (choice) => choice?.provider === 'openai',
  )
  if (isAsked && key === null && base === OPENAI)
    reader.problems.push(
      `OPENAI_API_KEY is not set, but ${OPENAI} requires it. Set it, or set OPENAI_API_BASE to a server that does not need a key`,
    )
  if (reader.problems.length > 0)
    throw new Problem('unavailable', `The server is not configured correctly: ${reader.problems.join('; ')}`)
  return Object.freeze(config)
}
