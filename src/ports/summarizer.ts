import type { Source } from '../domain/entry/entry'

/** Makes a dense summary of a text. One try of at most 10 s: a summary never holds up a write for longer. */
export interface Summarizer {
  readonly provider: string
  readonly model: string
  /**
   * In the language of the text; instructions depend on who speaks. Reasoning blocks are stripped.
   *
   * @throws Problem unavailable when the provider fails or answers nothing
   */
  summarize(text: string, source: Source): Promise<string>
}
