import { unavailable } from '../../domain/errors'
import { dequantize, fromBase64 } from '../../domain/meaning/vector'
import { sha256Hex } from '../../domain/text'
import type { Millis } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { Settings } from '../../ports/settings'
import type { VectorIndex, VectorSpace } from '../../ports/vector-index'

/** Synchronization state of a Vectorize namespace; stored in the database, since Vectorize does not report it. */
export interface Progress {
  /** Vectors up to this id have been sent. */
  readonly sentUpTo: number
  /** Vectors up to this id have been seen. */
  readonly confirmedUpTo: number
  readonly removedUpTo: number
  /** Ranges that were sent and are not visible yet. */
  readonly waiting: readonly { readonly ids: readonly number[]; readonly upTo: number; readonly sentAt: Millis }[]
}

export const START: Progress = { sentUpTo: 0, confirmedUpTo: 0, removedUpTo: 0, waiting: [] }

const nameOf = (space: string): string => `vectorize ${space}`

async function readProgress(settings: Settings, space: string): Promise<Progress | null> {
  const text = await settings.read(nameOf(space))
  return text === null ? null : (JSON.parse(text) as Progress)
}

const writeProgress = (settings: Settings, space: string, progress: Progress): Promise<void> =>
  settings.write(nameOf(space), JSON.stringify(progress))

/** The methods of a Vectorize binding that are used. */
export interface VectorizeBinding {
  query(
    vector: number[],
    options: { topK: number; namespace: string; returnValues: false; returnMetadata: 'none' },
  ): Promise<{ matches: readonly { id: string; score: number }[] }>
  upsert(vectors: { id: string; namespace: string; values: number[] }[]): Promise<unknown>
  deleteByIds(ids: string[]): Promise<unknown>
  getByIds(ids: string[]): Promise<readonly { id: string }[]>
}

/** Limits of Vectorize: hits without values and metadata, vectors of an upsert, IDs of a lookup. */
const TOP_K = 100
const UPSERT = 1000
const LOOK_UP = 20
/**
 * Vectors that are not visible after this time were lost, and are sent again. Cloudflare states a median below 30 seconds and a 99th
 * percentile below 2 minutes (developers.cloudflare.com/vectorize), so an import is rarely sent twice.
 */
const LOST_MS = 600_000
/** Ranges of IDs that one call confirms, each with up to 25 look-ups: a request of a Worker may make 1,000 calls to other services. */
const RANGES = 8
/** IDs that wait for confirmation together, about 400 KB of one row; further vectors are sent after these. */
const WAITING_IDS = 50_000

const inSteps = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))

async function answered<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    throw unavailable('Vectorize did not respond; try again, or set VECTOR_BACKEND=object', error)
  }
}

/**
 * Creates an index in Vectorize, which stores IDs only, in a namespace for each organization and model. Vectors become visible up to
 * minutes later, maybe in another order, so a range of IDs counts as confirmed only when each of them was seen. A search may use an old
 * confirmation, never one that is too new; therefore the copy in memory.
 */
export function createVectorizeIndex(binding: VectorizeBinding, settings: Settings, clock: Clock): VectorIndex {
  const confirmed = new Map<string, number>()
  const keyOf = ({ org, model }: VectorSpace) => `${org}\n${model}`
  // At most 64 bytes, whatever the name of the organization.
  const namespaceOf = async (space: VectorSpace) => (await sha256Hex(keyOf(space))).slice(0, 40)

  async function progressOf(space: VectorSpace): Promise<Progress> {
    const progress = (await readProgress(settings, keyOf(space))) ?? START
    confirmed.set(keyOf(space), progress.confirmedUpTo)
    return progress
  }

  async function isVisible(ids: readonly number[]): Promise<boolean> {
    for (const step of inSteps(ids, LOOK_UP)) {
      const seen = await answered(binding.getByIds(step.map(String)))
      if (seen.length < step.length) return false
    }
    return true
  }

  return {
    backend: 'vectorize',
    depth: TOP_K,
    approximate: true,
    placed: false,
    capacity: () => Number.POSITIVE_INFINITY,
    leftOut: () => 0,
    nearby: null,

    async search(space, query, limit) {
      // Read before the query: its result certainly includes what was confirmed by then.
      const confirmedUpTo = confirmed.get(keyOf(space)) ?? (await progressOf(space)).confirmedUpTo
      const topK = Math.min(limit, TOP_K)
      const { matches } = await answered(
        binding.query([...dequantize(query)], {
          topK,
          namespace: await namespaceOf(space),
          returnValues: false,
          returnMetadata: 'none',
        }),
      )
      return {
        hits: matches.map(({ id, score }) => ({ id: Number(id), cosine: score })),
        confirmedUpTo,
        cut: matches.length >= topK,
      }
    },

    async apply(space, { added, addedUpTo, removed, removedUpTo }) {
      const namespace = await namespaceOf(space)
      const vectors = added.map(({ id, data }) => ({
        id: String(id),
        namespace,
        values: [...dequantize(fromBase64(data))],
      }))
      for (const step of inSteps(vectors, UPSERT)) await answered(binding.upsert(step))
      for (const step of inSteps(removed.map(String), UPSERT)) await answered(binding.deleteByIds(step))
      const progress = await progressOf(space)
      await writeProgress(settings, keyOf(space), {
        ...progress,
        sentUpTo: Math.max(progress.sentUpTo, addedUpTo),
        removedUpTo: Math.max(progress.removedUpTo, removedUpTo),
        waiting:
          added.length === 0
            ? progress.waiting
            : [...progress.waiting, { ids: added.map(({ id }) => id), upTo: addedUpTo, sentAt: clock.now() }],
      })
    },

    async settle(space) {
      const progress = await progressOf(space)
      let { confirmedUpTo, sentUpTo } = progress
      let waiting = [...progress.waiting].sort((a, b) => a.upTo - b.upTo)
      // In order of IDs: a later range that becomes visible first confirms none of an earlier one.
      for (let range = 0; range < RANGES; range++) {
        if (waiting[0] === undefined || !(await isVisible(waiting[0].ids))) break
        confirmedUpTo = Math.max(confirmedUpTo, waiting[0].upTo)
        waiting = waiting.slice(1)
      }
      if (waiting[0] !== undefined && clock.now() - waiting[0].sentAt > LOST_MS) {
        sentUpTo = confirmedUpTo
        waiting = []
      }
      await writeProgress(settings, keyOf(space), { ...progress, confirmedUpTo, sentUpTo, waiting })
      confirmed.set(keyOf(space), confirmedUpTo)
      return waiting.length === 0 && sentUpTo === confirmedUpTo
    },

    async state(space) {
      const { sentUpTo, removedUpTo, waiting } = await progressOf(space)
      const ids = waiting.reduce((sum, range) => sum + range.ids.length, 0)
      return { addedUpTo: sentUpTo, removedUpTo, isFull: ids >= WAITING_IDS }
    },
  }
}
