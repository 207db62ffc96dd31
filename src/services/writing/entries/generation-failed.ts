import { Problem } from '../../../domain/errors'

/** The vectors of a text could not be made, and it is not to be written without them. */
export class GenerationFailed extends Problem {
  /** What failed, and why. */
  readonly reason: string

  constructor({ message, cause }: Problem) {
    const reason = `embedding: ${message}`
    super('unavailable', `Generation failed: ${reason}`, {}, cause)
    this.reason = reason
  }
}
