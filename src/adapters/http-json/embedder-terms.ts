import type { Millis } from '../../domain/time'
import type { BatchEmbedder } from './embedding'
import type { ModelSpeed } from './pacing'
import { PATIENT, type Patience, patienceOf, SYSTEM_TIMING, type Timing } from './retry'

/** What every embedder behind a request is told. */
export interface EmbedderSettings {
  readonly dimensions: number
  /** EMBEDDING_TIMEOUT_S, in milliseconds; 10 s where it is absent. */
  readonly timeoutMs?: Millis
  /** Of this model, kept from call to call. */
  readonly speed?: ModelSpeed
}

/** How an embedder waits, and what it knows of its model. */
type EmbedderTerms = Pick<BatchEmbedder, 'patience' | 'speed' | 'now'>

export function termsOf(
  { timeoutMs, speed = { capacity: null } }: EmbedderSettings,
  options: Partial<Patience> & Partial<Pick<Timing, 'now'>>,
): EmbedderTerms {
  const { tries, tryMs, totalMs } = timeoutMs === undefined ? PATIENT : patienceOf(timeoutMs)
  const patience = { tries, tryMs, totalMs, ...options, retriesTimeouts: false }
  return { patience, speed, now: options.now ?? SYSTEM_TIMING.now }
}
