/** What a text is embedded for: some models want queries marked. */
export type EmbeddingPurpose = 'document' | 'query'

/** Turns texts into vectors of one model. */
export interface Embedder {
  /** `local`, `workers-ai`, `ollama` or `openai`. */
  readonly provider: string
  readonly model: string
  /** Raised when the model of this name makes other vectors than before; vectors of two revisions are never compared. */
  readonly revision?: string
  /** Length of every vector. */
  readonly dimensions: number
  /**
   * One vector a text, in order, normalised to length 1 (a text without features gives zeros).
   * Splits into as many requests as the provider's batch size needs; 10 s a try, 3 tries with jittered back-off, 25 s in all.
   *
   * @throws Problem unavailable, saying what to start or set when that is known; also when the dimension is not as configured
   */
  embed(texts: readonly string[], purpose: EmbeddingPurpose): Promise<Float32Array[]>
}
