/** What a chat model is asked. Texts of memories in it are untrusted. */
export interface ModelPrompt {
  readonly system: string
  readonly user: string
}

/** A chat model. One try: a call that fails is repeated by who asked, if at all. */
export interface LanguageModel {
  readonly provider: string
  readonly model: string
  /** The provider as people call it: `Ollama`. */
  readonly title: string
  /**
   * @returns the text of the answer as the provider sent it, untrusted; something else where it sent none
   * @throws Problem unavailable when the provider fails or does not answer in time
   */
  answer(prompt: ModelPrompt): Promise<unknown>
}
