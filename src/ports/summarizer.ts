import type { Source } from '../domain/entry/entry'

/** Summarizes a text. One try of at most 10 s, so that a summary never delays a write for longer. */
export interface Summarizer {
  readonly provider: string
  readonly model: string
  /**
   * Returns a summary in the language of the text; the instructions depend on the source. Reasoning blocks are removed.
   *
   * @throws Problem unavailable when the provider fails or returns nothing
   */
  summarize(text: string, source: Source): Promise<string>
}
