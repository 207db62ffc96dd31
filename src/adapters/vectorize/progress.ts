import type { Millis } from '../../domain/time'
import type { Settings } from '../../ports/settings'

/** How far a Vectorize namespace has come; kept in the database, since Vectorize does not say. */
export interface Progress {
  /** Vectors up to this id have been sent. */
  readonly sentUpTo: number
  /** Vectors up to this id have been seen. */
  readonly confirmedUpTo: number
  readonly removedUpTo: number
  /** Stretches that were sent and not seen yet. */
  readonly waiting: readonly { readonly ids: readonly number[]; readonly upTo: number; readonly sentAt: Millis }[]
}

export const START: Progress = { sentUpTo: 0, confirmedUpTo: 0, removedUpTo: 0, waiting: [] }

const nameOf = (space: string): string => `vectorize ${space}`

export async function readProgress(settings: Settings, space: string): Promise<Progress | null> {
  const text = await settings.read(nameOf(space))
  return text === null ? null : (JSON.parse(text) as Progress)
}

export const writeProgress = (settings: Settings, space: string, progress: Progress): Promise<void> =>
  settings.write(nameOf(space), JSON.stringify(progress))
