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
