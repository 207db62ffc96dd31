import type { DecodedBase64 } from './base64'

/**
 * A string that was decoded from base64 as it arrived. The bytes are private, so that code that walks over arguments
 * skips them.
 */
export class SentBytes {
  readonly #decoded: DecodedBase64

  constructor(decoded: DecodedBase64) {
    this.#decoded = decoded
  }

  get decoded(): DecodedBase64 {
    return this.#decoded
  }
}
