import { env as bindings, DurableObject } from 'cloudflare:workers'
import { VECTOR_MEMORY_MB } from '../../domain/capacity'
import { fromBase64 } from '../../domain/meaning/vector'
import type { VectorChanges, VectorIndexState } from '../../ports/vector-index'
import { bytesOf, capacityOf } from './capacity'
import { IsolateMemory } from './memory'
import {
  type Answered,
  type FoundNearby,
  type FoundNearest,
  type Nearby,
  type Region,
  standsIn,
  standsNear,
} from './questions'
import { type PlacedVector, VectorScan } from './scan'
import { type StorageChange, VectorStorage } from './storage'

/** Vectors read in one go: some 20 ms of work. */
const LOADED_AT_ONCE = 2_000

/** Lets others have their turn, which a timer that is due at once does not. */
const rest = (milliseconds = 1) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
/** How long who waits for room sleeps. */
const NAP = 20

interface Env {
  readonly VECTORS: DurableObjectNamespace<VectorObject>
  /** Megabytes of an isolate that vectors may take. */
  readonly VECTOR_MEMORY_MB?: string
}

const { VECTOR_MEMORY_MB: given } = bindings as Partial<Env>

/** Shared by all objects of the class that this isolate runs. */
export const isolateMemory = new IsolateMemory(Number(given || VECTOR_MEMORY_MB) * 1_000_000)

const placed = ({ data, ...vector }: VectorChanges['added'][number]): PlacedVector => ({
  ...vector,
  values: fromBase64(data).values,
})

/**
 * Vectors of one organization and model: stored in the object's own SQLite, loaded into memory by the first search after it
 * wakes. Of more than fit, it has the newest. Of entries it knows their places and no more; a vector that it loses is sent again
 * from the database.
 */
export class VectorObject extends DurableObject<Env> {
  private scan: VectorScan | null = null
  private loading: Promise<void> | null = null
  /** What is read of it so far; null when that is of no use any more. */
  private partial: VectorScan | null = null
  private readonly stored: VectorStorage
  /** Among all that share the isolate. */
  private readonly key: string

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.key = state.id.toString()
    this.stored = new VectorStorage(state.storage)
  }

  state(): VectorIndexState {
    const { added, removed } = this.stored.progress()
    return { addedUpTo: added, removedUpTo: removed }
  }

  /**
   * @param name of the space
   * @param bytes of memory that its vectors may take
   */
  async apply(dimensions: number, changes: VectorChanges, name: string, bytes: number): Promise<void> {
    await this.clearEarlierParts(name)
    const { since } = changes
    const { added, removed } = this.stored.progress()
    if (since.addedUpTo > added || since.removedUpTo > removed)
      throw new Error('These changes follow a state that the index does not have')
    const capacity = capacityOf(dimensions, bytes)
    this.write({
      // A vector that was sent before is stored, left out, or gone.
      added: changes.added.filter(({ id }) => id > added).map(placed),
      removed: changes.removed,
      progress: { added: Math.max(added, changes.addedUpTo), removed: Math.max(removed, changes.removedUpTo) },
      capacity,
    })
    // There is room again for older vectors, which are sent from the database.
    const { held, leftOut } = this.stored.progress()
    if (leftOut > 0 && held < capacity / 2) this.clear()
  }

  /** Objects in which an earlier release had further vectors are emptied; the database has all of them. */
  private async clearEarlierParts(name: string): Promise<void> {
    const earlier = this.stored.earlierParts()
    await Promise.all(earlier.map((n) => this.env.VECTORS.getByName(`${name}\n${n}`).clear()))
    if (earlier.length > 0) this.stored.forgetEarlierParts()
  }

  /** Begins again, with nothing. */
  clear(): void {
    isolateMemory.giveUp(this.key)
    this.stored.clear()
  }

  /** Storage and memory change together: a failure in between drops the memory, which is then loaded again. */
  private write(change: StorageChange): void {
    try {
      const leftOut = this.stored.write(change)
      const scan = this.scan ?? this.partial
      if (scan === null) return
      for (const vector of change.added) scan.set(vector)
      for (const id of [...change.removed, ...leftOut]) scan.delete(id)
      if (scan === this.scan) isolateMemory.hold(this.key, scan.bytes)
    } catch (error) {
      isolateMemory.giveUp(this.key)
      throw error
    }
  }

  /** The nearest vectors of what it has, best first. */
  search(
    dimensions: number,
    query: Int8Array,
    limit: number,
    region: Region | null = null,
  ): Promise<Answered<FoundNearest>> {
    return this.looking(dimensions, (scan) => {
      const { of, ...found } = scan.nearest(query, limit, region === null ? undefined : standsIn(region))
      return { ...found, cut: of > found.ids.length }
    })
  }

  /** The nearest entries of some places, and what is named. */
  nearby(dimensions: number, query: Int8Array, asked: Nearby): Promise<Answered<FoundNearby>> {
    return this.looking(dimensions, (scan) => ({
      named: scan.named(query, asked.beside),
      nearest: scan.nearestEntries(query, standsNear(asked), asked.most, asked.least),
    }))
  }

  /** What was loaded for one may be gone again when another has had its turn. */
  private async looking<Found>(dimensions: number, look: (scan: VectorScan) => Found): Promise<Answered<Found>> {
    for (;;) {
      if (this.scan !== null) {
        isolateMemory.touch(this.key)
        const { added, leftOut } = this.stored.progress()
        return { ...look(this.scan), upTo: added, leftOut }
      }
      await this.load(dimensions)
    }
  }

  /** Shared by searches that come while it goes on. */
  private load(dimensions: number): Promise<void> {
    this.loading ??= this.read(dimensions).finally(() => {
      this.loading = null
    })
    return this.loading
  }

  /** Reads the vectors in portions, with rests in between; what is applied meanwhile is applied to what was read. */
  private async read(dimensions: number): Promise<void> {
    const free = () => {
      this.scan?.release()
      this.partial?.release()
      this.scan = null
      this.partial = null
    }
    const reserve = () =>
      isolateMemory.reserve(this.key, this.stored.progress().held * bytesOf(dimensions), free, Date.now())
    while (!reserve()) await rest(NAP)
    const scan = new VectorScan(dimensions)
    this.partial = scan
    let after = Number.MIN_SAFE_INTEGER
    while (this.partial === scan) {
      const vectors = this.stored.read(after, LOADED_AT_ONCE)
      for (const vector of vectors) scan.set(vector)
      after = vectors.at(-1)?.id ?? after
      if (vectors.length < LOADED_AT_ONCE) {
        this.scan = scan
        this.partial = null
        isolateMemory.hold(this.key, scan.bytes)
      } else {
        await rest()
        isolateMemory.renew(this.key, Date.now())
      }
    }
  }
}
