import type { Problem } from '../domain/errors'
import type { Millis } from '../domain/time'

/** Purpose of an embedding: some models use different prefixes for queries and documents. */
export type EmbeddingPurpose = 'document' | 'query'

/** Turns texts into vectors of one model. */
export interface Embedder {
  /** The name in EMBEDDING_PROVIDER. */
  readonly provider: string
  readonly model: string
  /** Increased when the model of this name makes different vectors; vectors of two revisions are never compared. */
  readonly revision?: string
  /** Length of every vector. */
  readonly dimensions: number
  /** Limit in code points where one vector no longer represents a longer text: it is cut finer than CHUNK_SIZE. Absent: none. */
  readonly finest?: number
  /** Code points that the model usually reads: text longer than that is cut into pieces of this size. Absent: all. */
  readonly reads?: number
  /**
   * Returns one vector per text, in order, normalized to length 1 (zeros for a text without features).
   * Splits the texts into requests by the provider's batch size and speed; EMBEDDING_TIMEOUT_S per try, 3 tries with jittered
   * back-off, 2.5 times that in total.
   *
   * @throws Problem unavailable, with a remedy where it is known; also when the dimension differs from the configuration
   *
   * @example
   * const [vector] = await embedder.embed(['why did the deploy fail?'], 'query')
   */
  embed(texts: readonly string[], purpose: EmbeddingPurpose): Promise<Float32Array[]>
  /** UTF-16 units of one request, adapted to the model's speed; absent if all texts are made at once. */
  readonly capacity?: () => number
  /** Like `embed`, limited to EMBEDDING_TIMEOUT_S in total; absent if embedding takes no noticeable time. */
  embedInTime?(texts: readonly string[]): Promise<PartlyEmbedded>
  /**
   * Like `embed` without a time limit: for background work.
   *
   * @param onProgress called after each request
   */
  embedPatiently?(texts: readonly string[], onProgress: () => Promise<void>): Promise<Float32Array[]>
}

/** The vectors made within a time limit. */
export interface PartlyEmbedded {
  /** One per text, in order; null for a missing one. */
  readonly vectors: readonly (Float32Array | null)[]
  /** Why some are missing; null when none is. */
  readonly problem: Problem | null
}

/** A cross-encoder: scores each passage against the query by reading both together. */
export interface Reranker {
  readonly provider: string
  readonly model: string
  /**
   * Returns one score per passage, in order, from 0 to 1, higher is better. At most 100 passages of at most 2,000 code points.
   *
   * @throws Problem unavailable when the provider fails
   */
  rerank(query: string, passages: readonly string[]): Promise<number[]>
}

/** Input of a chat model. Texts of memories in it are untrusted. */
export interface ModelPrompt {
  readonly system: string
  readonly user: string
}

/** A chat model. One try: the caller may repeat a failed call. */
export interface LanguageModel {
  readonly provider: string
  readonly model: string
  /** The provider as people call it: `Ollama`. */
  readonly title: string
  /**
   * Answers a prompt.
   *
   * @returns the text of the answer as the provider sent it, untrusted; another value if it sent no text
   * @throws Problem unavailable when the provider fails or does not respond in time
   */
  answer(prompt: ModelPrompt): Promise<unknown>
}

/** State of a dependency, and this isolate's observations of it. */
export interface DatabaseHealth {
  readonly backend: 'sqlite' | 'postgresql'
  /** @throws when the database does not respond */
  ping(): Promise<void>
  counts(): {
    readonly total: number
    readonly failed: number
    readonly lastFailed: boolean
    readonly latencyMs: Millis
  }
  /** Size of the complete database, as last reported; absent or null if unknown. */
  readonly bytes?: () => number | null
  /** Maximum bytes of the complete database; absent without a fixed limit. */
  readonly limit?: number
}

/** Checks that a configured model provider responds and has the model. */
export interface ModelHealth {
  readonly backend: string
  /** False: the server works without it. */
  readonly required: boolean
  /** Cheap, limited to seconds. @throws Problem unavailable with what to start, pull or set */
  ping(): Promise<void>
}

export interface ObjectStoreHealth {
  readonly backend: string
  /** False: the server works without it. */
  readonly required?: boolean
  ping(): Promise<void>
}
