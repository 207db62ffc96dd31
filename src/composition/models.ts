import { createBuiltinEmbedder, type ModelService, modelState } from '../adapters/builtin/embedder'
import { type ModelSpeed, ONE_TRY, type Patience } from '../adapters/http-json/retry'
import { createLocalEmbedder } from '../adapters/local/embedder'
import {
  createOllamaEmbedder,
  createOllamaLanguageModel,
  createOllamaReranker,
  ollamaPing,
} from '../adapters/ollama/models'
import {
  createOpenAiEmbedder,
  createOpenAiLanguageModel,
  createOpenAiReranker,
  openAiPing,
} from '../adapters/openai/models'
import {
  type AiRunner,
  createWorkersAiEmbedder,
  createWorkersAiLanguageModel,
  createWorkersAiReranker,
} from '../adapters/workers-ai/models'
import {
  type Config,
  type EmbeddingProvider,
  LOCAL_MODEL,
  type ModelChoice,
  type RerankingProvider,
  type SummaryProvider,
} from '../config'
import { Problem } from '../domain/errors'
import { insteadInPublic, type ModelState } from '../domain/meaning/hosted-model'
import { perObject } from '../domain/per-object'
import type { Analyzer } from '../domain/search/analysis'
import type { Millis } from '../domain/time'
import type { Log } from '../http/log'
import type { Embedder, LanguageModel, ModelHealth, Reranker } from '../ports/models'
import type { Summarizer } from '../ports/summarizer'
import { createSummarizer } from '../services/writing/entries/generate'
import { type Bindings, timedEmbedder } from './isolate'

/** Interval of requests for the state of the model, until it is ready. */
const ASKED_AGAIN_MS = 1000

export const withoutHost = (): Problem =>
  new Problem(
    'unavailable',
    'EMBEDDING_PROVIDER is builtin, but no process runs a model next to this Worker: only npm start, npx and the container do; ' +
      'set EMBEDDING_PROVIDER to another provider (docs/models.md)',
  )

/** Whether the configured model is the small English one. */
export const isEnglishOnly = ({ embedding: { provider, model } }: Config): boolean =>
  provider === 'builtin' && /(^|\/)all-minilm-l6-v2$/i.test(model)

/** The model's state as an isolate knows it. */
interface Known {
  state: ModelState | null
  askedAt: Millis
}

const known = perObject((_: ModelService): Known => ({ state: null, askedAt: 0 }))

/** Configurations by model state, so that caches per configuration last until the state changes. */
const configurations = perObject((_: Config) => new Map<string, Config>())

/** The state of the model, cached. @param isNews whether the model is known to have changed */
async function stateOf(service: ModelService, now: Millis, isNews: boolean): Promise<ModelState> {
  const own = known(service)
  const isFresh = own.state !== null && (own.state.state === 'ready' || now - own.askedAt < ASKED_AGAIN_MS)
  if (own.state === null || isNews || !isFresh) {
    own.state = await modelState(service)
    own.askedAt = now
  }
  return own.state
}

function configuredFor(config: Config, hosted: ModelState): Config['embedding'] {
  const { embedding } = config
  if (hosted.state !== 'ready')
    return { ...embedding, provider: 'local', model: LOCAL_MODEL[0], dimensions: LOCAL_MODEL[1], hosted }
  const { name, dimensions, levels = null } = hosted.model
  return { ...embedding, model: name, dimensions, levels: embedding.levels ?? levels, hosted }
}

/**
 * The current configuration: with `builtin`, the model that the process runs, or `local` until it is ready.
 * @throws Problem unavailable where no process runs one
 */
export async function withBuiltinModel(config: Config, bindings: Bindings, isNews = false): Promise<Config> {
  const service = bindings.BUILTIN_MODEL
  if (config.embedding.provider !== 'builtin' || !config.semantic.enabled) return config
  if (service === undefined) throw withoutHost()
  const state = await stateOf(service, Date.now(), isNews)
  const all = configurations(config)
  const key = JSON.stringify(state)
  const before = all.get(key)
  if (before !== undefined) return before
  all.clear()
  const made = Object.freeze({ ...config, embedding: configuredFor(config, state) })
  all.set(key, made)
  return made
}

/** Creates the configured model providers. */
export interface Models {
  /** Null when semantic search is disabled. */
  readonly embedder: Embedder | null
  readonly summarizer: Summarizer | null
  /** For background work that reads memories; null when none is enabled. */
  readonly languageModel: LanguageModel | null
  readonly reranker: Reranker | null
  /** By purpose: `embeddings`, `summaries`, `reranking`. */
  readonly health: Readonly<Record<string, ModelHealth>>
}

function requireAi(ai: AiRunner | undefined): AiRunner {
  if (ai === undefined)
    throw new Problem(
      'unavailable',
      'A provider is set to workers-ai, but the AI binding is missing. Add [ai] to wrangler.toml',
    )
  return ai
}

/** Local embedders cache the features of words, so each lives as long as the isolate. */
const localEmbedders = new WeakMap<Analyzer, Map<number, Embedder>>()

function localEmbedder(analyzer: Analyzer, dimensions: number): Embedder {
  const bySize = localEmbedders.get(analyzer) ?? new Map<number, Embedder>()
  localEmbedders.set(analyzer, bySize)
  const embedder = bySize.get(dimensions) ?? createLocalEmbedder(analyzer, dimensions)
  bySize.set(dimensions, embedder)
  return embedder
}

/** Measured speed of the configured model in this isolate. */
const modelSpeed = perObject((_: Config): ModelSpeed => ({ capacity: null }))

/** Dependencies of the providers. */
interface Given {
  readonly analyzer: Analyzer
  readonly ai: AiRunner | undefined
  readonly builtin: ModelService | undefined
}

function builtinEmbedder(config: Config, service: ModelService | undefined): Embedder {
  const { hosted, timeoutMs } = config.embedding
  if (service === undefined || hosted?.state !== 'ready') throw withoutHost()
  return createBuiltinEmbedder({ service, hosted: hosted.model, timeoutMs, speed: modelSpeed(config) })
}

function chooseEmbedder(config: Config, { analyzer, ai, builtin }: Given): Embedder {
  const { provider, model, dimensions, timeoutMs } = config.embedding
  const settings = { model, dimensions, timeoutMs, speed: modelSpeed(config) }
  const { ollamaHost: host, openai } = config
  switch (provider) {
    case 'local':
      return localEmbedder(analyzer, dimensions)
    case 'builtin':
      return builtinEmbedder(config, builtin)
    case 'workers-ai':
      return createWorkersAiEmbedder({ ai: requireAi(ai), ...settings })
    case 'ollama':
      return createOllamaEmbedder({ host, ...settings })
    case 'openai':
      return createOpenAiEmbedder({ base: openai.base, apiKey: openai.key, ...settings })
  }
}

/** Background work waits longer for an answer than a write, so that slow models can finish. */
const IN_THE_BACKGROUND: Patience = { tries: 1, tryMs: 60_000, totalMs: 60_000 }

function chooseLanguageModel(
  config: Config,
  ai: AiRunner | undefined,
  choice: NonNullable<Config['languageModel']>,
  patience: Patience,
): LanguageModel {
  const { provider, model, maxTokens } = choice
  const { ollamaHost: host, openai } = config
  switch (provider) {
    case 'workers-ai':
      return createWorkersAiLanguageModel({ ai: requireAi(ai), model, maxTokens }, patience)
    case 'ollama':
      return createOllamaLanguageModel({ host, model, maxTokens }, patience)
    case 'openai':
      return createOpenAiLanguageModel({ base: openai.base, apiKey: openai.key, model, maxTokens }, patience)
  }
}

function chooseReranker(config: Config, ai: AiRunner | undefined): Reranker | null {
  if (config.reranking === null) return null
  const { provider, model } = config.reranking
  const { ollamaHost: host, openai } = config
  switch (provider) {
    case 'workers-ai':
      return createWorkersAiReranker({ ai: requireAi(ai), model })
    case 'ollama':
      return createOllamaReranker({ host, model })
    case 'openai':
      return createOpenAiReranker({ base: openai.base, apiKey: openai.key, model })
  }
}

type Provider = EmbeddingProvider | SummaryProvider | RerankingProvider

/** A check of the provider's address; null for providers without one. */
function pingOf(config: Config, { provider, model }: ModelChoice<Provider>): ModelHealth['ping'] | null {
  const { ollamaHost: host, openai } = config
  switch (provider) {
    case 'local':
    case 'builtin':
    case 'workers-ai':
      return null
    case 'ollama':
      return ollamaPing({ host, model })
    case 'openai':
      return openAiPing({ base: openai.base, apiKey: openai.key, model })
  }
}

/** The state of the built-in model: its runtime, or why `local` replaces it. Calls work in both cases. */
function hostedHealth({ embedding: { hosted } }: Config): ModelHealth | null {
  if (hosted === null) return null
  const backend = hosted.state === 'ready' ? `builtin, ${hosted.runtime} runtime` : 'builtin'
  return {
    ...{ backend, required: false },
    ping: async () => {
      if (hosted.state !== 'ready') throw new Problem('unavailable', insteadInPublic(hosted))
    },
  }
}

/** Health checks of the configured models. */
const modelHealth = perObject((config: Config): Readonly<Record<string, ModelHealth>> => {
  const { embedding, semantic, summary, reranking } = config
  const parts: readonly (readonly [string, ModelChoice<Provider> | null, boolean])[] = [
    ['embeddings', semantic.enabled ? embedding : null, embedding.onFailure === 'fail'],
    ['summaries', summary, false],
    ['reranking', reranking, false],
  ]
  const hosted = semantic.enabled ? hostedHealth(config) : null
  return Object.fromEntries([
    ...(hosted === null ? [] : [['embeddings', hosted] as const]),
    ...parts.flatMap(([name, choice, required]) => {
      const ping = choice === null ? null : pingOf(config, choice)
      return choice === null || ping === null ? [] : [[name, { backend: choice.provider, required, ping }] as const]
    }),
  ])
})

/** Creates the configured providers. @throws Problem unavailable when a provider has no binding */
export const chooseModels = (config: Config, { log, ...given }: Given & { readonly log: Log }): Models => ({
  embedder: config.semantic.enabled ? timedEmbedder(chooseEmbedder(config, given), log) : null,
  summarizer:
    config.summary === null ? null : createSummarizer(chooseLanguageModel(config, given.ai, config.summary, ONE_TRY)),
  languageModel:
    config.languageModel === null
      ? null
      : chooseLanguageModel(config, given.ai, config.languageModel, IN_THE_BACKGROUND),
  reranker: chooseReranker(config, given.ai),
  health: modelHealth(config),
})

/** Fails until an eventually consistent index has confirmed all changes, so that the work remains queued. */
export async function confirmed(sync: Promise<boolean>): Promise<void> {
  if (!(await sync)) throw new Problem('unavailable', 'the vector index has not confirmed everything yet')
}
