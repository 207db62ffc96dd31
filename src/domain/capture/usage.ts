import type { Millis } from '../time'
import { type MemoryUse, USE, USED } from './memory-use'

/** The use of memories by sessions, summed up for people. */

/** The use of memories by one session. */
export interface SessionUse {
  /** `<client>:<id>` */
  readonly session: string
  readonly at: Millis
  readonly memories: readonly MemoryUse[]
}

/** How many sessions were shown a memory, used it and contradicted it, and which client used it last. */
export interface UseOfMemory {
  readonly shown: number
  readonly used: number
  readonly contradicted: number
  readonly last: { readonly client: string; readonly at: Millis } | null
}

/** A memory as a list names it. */
export interface NamedMemory {
  readonly id: number
  readonly title: string | null
  readonly text: string
  readonly kind: string
  readonly version: number
  readonly project: string | null
  readonly createdAt: Millis
}

const NEVER: UseOfMemory = { shown: 0, used: 0, contradicted: 0, last: null }

const clientOf = (session: string): string => session.slice(0, Math.max(0, session.indexOf(':')))

function withUse(known: UseOfMemory, bits: number, { session, at }: SessionUse): UseOfMemory {
  const isUsed = (bits & USED) !== 0
  const isLast = isUsed && (known.last === null || known.last.at < at)
  return {
    shown: known.shown + (bits & USE.shown ? 1 : 0),
    used: known.used + (isUsed ? 1 : 0),
    contradicted: known.contradicted + (bits & USE.contradicted ? 1 : 0),
    last: isLast ? { client: clientOf(session), at } : known.last,
  }
}

/** The use of each memory in these sessions. */
export function usesOf(sessions: readonly SessionUse[]): ReadonlyMap<number, UseOfMemory> {
  const uses = new Map<number, UseOfMemory>()
  for (const session of sessions)
    for (const [id, bits] of session.memories) uses.set(id, withUse(uses.get(id) ?? NEVER, bits, session))
  return uses
}

export const useOf = (id: number, sessions: readonly SessionUse[]): UseOfMemory => usesOf(sessions).get(id) ?? NEVER
