import type { Problem } from '../domain/errors'

/** What a text is embedded for: some models want queries marked. */
export type EmbeddingPurpose = 'document' | 'query'

/** Turns texts into vectors of one model. */
export interface Embedder {
  /** As EMBEDDING_PROVIDER names it. */
  readonly provider: string
  readonly model: string
  /** Raised when the model of this name makes other vectors than before; vectors of two revisions are never compared. */
  readonly revision?: string
  /** Length of every vector. */
  readonly dimensions: number
  /** Code points from which one vector drowns the sentences of a text: longer ones are cut finer than CHUNK_SIZE says. Absent: none. */
  readonly finest?: number
  /** Code points of a text that the model reads as a rule: what is longer than CHUNK_SIZE is cut into pieces of this size. Absent: all. */
  readonly reads?: number
  /**
   * One vector a text, in order, normalised to length 1 (a text without features gives zeros).
   * Splits into as many requests as the provider's batch size and its speed need; EMBEDDING_TIMEOUT_S a try, 3 tries with jittered
   * back-off, 2.5 times that in all.
   *
   * @throws Problem unavailable, saying what to start or set when that is known; also when the dimension is not as configured
   */
  embed(texts: readonly string[], purpose: EmbeddingPurpose): Promise<Float32Array[]>
  /** UTF-16 units that one request holds now, as the model managed those before; absent where all texts are made at once. */
  readonly capacity?: () => number
  /** As `embed`, of what can be made in EMBEDDING_TIMEOUT_S in all; absent where no text takes noticeable time. */
  embedInTime?(texts: readonly string[]): Promise<PartlyEmbedded>
  /**
   * As `embed`, however long it takes while requests are answered: for work that nobody waits for.
   *
   * @param onProgress called after each request
   */
  embedPatiently?(texts: readonly string[], onProgress: () => Promise<void>): Promise<Float32Array[]>
}

/** What a model managed to make in a given time. */
export interface PartlyEmbedded {
  /** One a text, in order; null where there is none. */
  readonly vectors: readonly (Float32Array | null)[]
  /** Why some are missing; null when none is. */
  readonly problem: Problem | null
}
