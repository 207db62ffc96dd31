import type { DecodedBase64 } from './base64'

/** Stands for a string that was decoded while it arrived. Its members are its own, so that nobody walks through them. */
export class SentBytes {
  readonly #decoded: DecodedBase64

  constructor(decoded: DecodedBase64) {
    this.#decoded = decoded
  }

  get decoded(): DecodedBase64 {
    return this.#decoded
  }
}
