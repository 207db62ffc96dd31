// State that lives as long as an isolate and is shared by its requests.

import type { ModelService } from '../adapters/builtin/embedder'
import type { FeedObject } from '../adapters/feed-object/object'
import type { RateLimitBinding } from '../adapters/rate-limit-object/index'
import type { GateObject } from '../adapters/rate-limit-object/object'
import type { VectorObject } from '../adapters/vector-object/object'
import type { VectorizeBinding } from '../adapters/vectorize/index'
import type { AiRunner } from '../adapters/workers-ai/models'
import type { Levels } from '../domain/recall/similarity'
import { type Analyzer, createAnalyzer } from '../domain/search/analysis'
import type { Millis } from '../domain/time'
import type { Log } from '../http/log'
import type { Embedder } from '../ports/models'
import type { VectorIndex } from '../ports/vector-index'
import { createEmbeddingTurn, type EmbeddingTurn } from '../services/maintenance/outbox-work'
import type { PendingState } from '../services/maintenance/pending-index'
import type { CatchUpState } from '../services/maintenance/sync-vectors'
import type { NamesCache } from '../services/people/project-names'

/** The bindings of a deployment. */
export interface Bindings {
  /** Absent with STORAGE_BACKEND=postgresql. */
  readonly DB?: D1Database
  /** Only with STORAGE_BACKEND=postgresql. */
  readonly HYPERDRIVE?: Pick<Hyperdrive, 'connectionString'>
  /** Absent in an account without R2; only images need it. */
  readonly IMAGES?: R2Bucket
  /** The bucket of daily backups; absent without backups. */
  readonly BACKUP_BUCKET?: R2Bucket
  /** Optional where VECTOR_BACKEND is pgvector or vectorize. */
  readonly VECTORS?: DurableObjectNamespace<VectorObject>
  /** Counts the requests of each key. */
  readonly GATES: DurableObjectNamespace<GateObject>
  /** Notifies waiting calls of changes; optional. */
  readonly FEEDS?: DurableObjectNamespace<FeedObject>
  /** Limits requests per minute in place of GATES, with the numbers of wrangler.toml. */
  readonly RATE_LIMITER?: RateLimitBinding
  /** Only with VECTOR_BACKEND=vectorize. */
  readonly VECTORIZE?: VectorizeBinding
  /** Reports damaged files of a local D1; only with `npm start`. */
  readonly LOCAL_STORAGE?: Pick<Fetcher, 'fetch'>
  /**
   * Set by `npm start`: name of the header with the client's address, random at each start. If it is set, headers of
   * Cloudflare are ignored because clients can send them.
   */
  readonly CLIENT_ADDRESS_HEADER?: string
  /** Set by `npm start`, random at each start: a request with it runs the schedule, which nothing else runs locally. */
  readonly SCHEDULE_TOKEN?: string
  /** Runs the model of `EMBEDDING_PROVIDER=builtin`; only with `npm start`. */
  readonly BUILTIN_MODEL?: ModelService
  /** Only with a `workers-ai` provider. */
  readonly AI?: AiRunner
}

/** Analyzers cache words, so each lives as long as the isolate. */
const analyzers = new Map<string, Analyzer>()

export function analyzerFor(language: string): Analyzer {
  const analyzer = analyzers.get(language) ?? createAnalyzer(language)
  analyzers.set(language, analyzer)
  return analyzer
}

const databaseOf = ({ DB, HYPERDRIVE }: Bindings): object => HYPERDRIVE ?? DB ?? {}

/** State of the catch-up in this isolate, by database and model. */
const catchingUp = new WeakMap<object, Map<string, CatchUpState>>()

/** @param model model whose vectors are created; null for none */
export function catchUpState(bindings: Bindings, model: string | null): CatchUpState {
  const database = databaseOf(bindings)
  const states = catchingUp.get(database) ?? new Map<string, CatchUpState>()
  catchingUp.set(database, states)
  const state = states.get(model ?? '') ?? { missed: null, running: false }
  states.set(model ?? '', state)
  return state
}

/** When this isolate first used each database. */
const pending = new WeakMap<object, PendingState>()

export function pendingState(bindings: Bindings, now: Millis): PendingState {
  const database = databaseOf(bindings)
  const state = pending.get(database) ?? { since: now, embedsAgainAt: 0 }
  pending.set(database, state)
  return state
}

/** Coordinates the creation of queued vectors, by database. */
const embedding = new WeakMap<object, EmbeddingTurn>()

export function embeddingTurn(bindings: Bindings, now: () => Millis): EmbeddingTurn {
  const database = databaseOf(bindings)
  const turn = embedding.get(database) ?? createEmbeddingTurn(now)
  embedding.set(database, turn)
  return turn
}

/** Resolved project names, by database. */
const projectNames = new WeakMap<object, NamesCache>()

export function namesCacheOf(bindings: Bindings): NamesCache {
  const database = databaseOf(bindings)
  const cache = projectNames.get(database) ?? new Map()
  projectNames.set(database, cache)
  return cache
}

/** Reference cosines of models, by database. */
const levels = new WeakMap<object, Map<string, Levels>>()

export function levelsOf(bindings: Bindings): Map<string, Levels> {
  const database = databaseOf(bindings)
  const known = levels.get(database) ?? new Map<string, Levels>()
  levels.set(database, known)
  return known
}

/** Logs the duration of a stage. */
const timing =
  (stage: 'embed' | 'index', log: Log) =>
  <Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
  async (...args: Args): Promise<Result> => {
    const begun = Date.now()
    try {
      return await work(...args)
    } finally {
      log('DEBUG', 'stage', { stage, milliseconds: Date.now() - begun })
    }
  }

/** An embedder that logs its duration. */
export function timedEmbedder(embedder: Embedder, log: Log): Embedder {
  const timed = timing('embed', log)
  const { embed, embedInTime, embedPatiently } = embedder
  return {
    ...embedder,
    embed: timed(embed.bind(embedder)),
    ...(embedInTime && { embedInTime: timed(embedInTime.bind(embedder)) }),
    ...(embedPatiently && { embedPatiently: timed(embedPatiently.bind(embedder)) }),
  }
}

/** A vector index that logs its duration, including its database queries. */
export function timedIndex(index: VectorIndex, log: Log): VectorIndex {
  const timed = timing('index', log)
  const { search, nearby, apply, settle, state } = index
  return {
    ...index,
    search: timed(search.bind(index)),
    nearby: nearby === null ? null : timed(nearby.bind(index)),
    apply: timed(apply.bind(index)),
    settle: timed(settle.bind(index)),
    state: timed(state.bind(index)),
  }
}
