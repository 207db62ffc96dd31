import type { ModelService } from '../adapters/builtin/host'
import type { FeedObject } from '../adapters/feed-object/object'
import type { RateLimitBinding } from '../adapters/gate-object'
import type { GateObject } from '../adapters/gate-object/object'
import type { VectorObject } from '../adapters/vector-object/object'
import type { VectorizeBinding } from '../adapters/vectorize'
import type { AiRunner } from '../adapters/workers-ai/service'

/** What a deployment binds to the Worker. */
export interface Bindings {
  /** Absent with STORAGE_BACKEND=postgresql. */
  readonly DB?: D1Database
  /** Only with STORAGE_BACKEND=postgresql. */
  readonly HYPERDRIVE?: Pick<Hyperdrive, 'connectionString'>
  /** Absent in an account without R2; nothing but images needs it. */
  readonly IMAGES?: R2Bucket
  /** Where the daily backups go; absent where there are none. */
  readonly BACKUP_BUCKET?: R2Bucket
  /** Absent where VECTOR_BACKEND is pgvector or vectorize and nobody bound it. */
  readonly VECTORS?: DurableObjectNamespace<VectorObject>
  /** Counts the requests of each key. */
  readonly GATES: DurableObjectNamespace<GateObject>
  /** Carries commits to those who wait for them; absent in a deployment whose wrangler.toml does not bind it yet. */
  readonly FEEDS?: DurableObjectNamespace<FeedObject>
  /** Counts requests a minute in the place of GATES, with the numbers of wrangler.toml. */
  readonly RATE_LIMITER?: RateLimitBinding
  /** Only with VECTOR_BACKEND=vectorize. */
  readonly VECTORIZE?: VectorizeBinding
  /** Tells what is wrong with the files of a local D1; only where `npm start` runs the Worker. */
  readonly LOCAL_STORAGE?: Pick<Fetcher, 'fetch'>
  /**
   * Set by `npm start`: the header in which its entry names a client's address, under a name drawn at each start. Where it is set,
   * headers of Cloudflare are those of a client.
   */
  readonly CLIENT_ADDRESS_HEADER?: string
  /** Set by `npm start`, drawn at each start: a request with it runs the schedule, which nothing else runs on this machine. */
  readonly SCHEDULE_TOKEN?: string
  /** Runs the model of `EMBEDDING_PROVIDER=builtin`; only where `npm start` runs the Worker. */
  readonly BUILTIN_MODEL?: ModelService
  /** Only where a provider is `workers-ai`. */
  readonly AI?: AiRunner
}
