import { codePointLength, firstCodePoints } from '../../domain/text'
import { ProviderProblem } from './retry'

/** Which texts go into one request, and what is done about one that a model finds too long. */

/** What one request may hold. A single longer text still makes a request of its own. */
export interface BatchLimits {
  readonly texts: number
  /** UTF-16 code units, as a cheap stand-in for tokens. */
  readonly characters: number
  /** Characters of the first request, while nothing is known of the model's speed; without it, as many as of any. */
  readonly first?: number
  /** Requests under way at once. A Worker may hold six connections in all. */
  readonly parallel: number
}

/** Shorter texts than this are refused for another reason than their length. */
const SHORTEST_CUT = 256

/** How many of these texts, from one on, are sent together: at least one. */
export function batchFrom(texts: readonly string[], most: Pick<BatchLimits, 'texts' | 'characters'>): number {
  let remaining = most.characters - (texts[0]?.length ?? 0)
  let count = 1
  while (count < Math.min(texts.length, most.texts) && (texts[count]?.length ?? 0) <= remaining)
    remaining -= texts[count++]?.length ?? 0
  return count
}

/**
 * Some servers refuse a text beyond the model's context although they were told to truncate it (Ollama since 0.13.5) or
 * have no such switch (OpenAI). The texts of such a batch are cut to half of the longest, and again, until they fit.
 */
export async function fitting(
  texts: readonly string[],
  request: (texts: readonly string[]) => Promise<readonly unknown[]>,
): Promise<readonly unknown[]> {
  let length = Math.max(...texts.map(codePointLength))
  for (let sent = texts; ; sent = texts.map((text) => firstCodePoints(text, length))) {
    try {
      return await request(sent)
    } catch (error) {
      length = Math.floor(length / 2)
      if (!(error instanceof ProviderProblem) || error.reason !== 'too_long' || length < SHORTEST_CUT) throw error
    }
  }
}
