import { env as bindings, DurableObject } from 'cloudflare:workers'
import { VECTOR_MEMORY_MB } from '../../domain/capacity'
import type { VectorChanges, VectorIndexState } from '../../ports/vector-index'
import { IsolateMemory } from './memory'
import { type Others, type PartChange, VectorParts } from './parts'
import {
  type Answered,
  type FoundNearby,
  type FoundNearest,
  type Nearby,
  partName,
  type Region,
  standsIn,
  standsNear,
} from './questions'
import { bytesOf, capacityOf, type PlacedVector, VectorScan } from './scan'
import { type StorageChange, type Stretch, VectorStorage } from './storage'

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

/**
 * Vectors of one org and model, or a part of them: kept in the object's own SQLite, loaded into memory by the first search after it
 * wakes. Of entries it knows where they stand and no more; what it loses is sent again from the database. The object that has the name
 * of the space is the first and speaks for all (`parts.ts`); the others are told by it.
 */
export class VectorObject extends DurableObject<Env> {
  private scan: VectorScan | null = null
  private loading: Promise<void> | null = null
  /** What has been read of it so far; null when that is of no use any more. */
  private partial: VectorScan | null = null
  private readonly stored: VectorStorage
  private readonly parts: VectorParts
  /** Among all that share the isolate. */
  private readonly key: string

  constructor(state: DurableObjectState, env: Env) {
    super(state, env)
    this.key = state.id.toString()
    this.stored = new VectorStorage(state.storage)
    this.parts = new VectorParts({
      stored: this.stored,
      write: (change) => this.write(change),
      clear: () => this.clear(),
    })
  }

  /** @param name of the space; so below */
  state(name: string): Promise<VectorIndexState> {
    return this.parts.state(this.others(name))
  }

  /** @param partBytes of memory that one object may take */
  apply(dimensions: number, changes: VectorChanges, name: string, partBytes: number): Promise<void> {
    return this.parts.apply(changes, capacityOf(dimensions, partBytes), this.others(name))
  }

  /** Begins anew, with nothing. */
  forget(name: string): Promise<void> {
    return this.parts.forget(this.others(name))
  }

  /** Begins anew where something is lost. */
  mend(name: string): Promise<void> {
    return this.parts.mend(this.others(name))
  }

  private others(name: string): Others {
    return (n) => this.env.VECTORS.getByName(partName(name, n))
  }

  /** As a part: what the first object says, in one transaction. */
  take({ begins, first, upTo, after, added, removed }: PartChange): number | null {
    if (begins) this.clear()
    const { first: ownFirst, upTo: known } = this.stretch()
    if (!begins && (ownFirst > first || known < after)) return null
    const left = this.stored.outside({ first, upTo: after })
    if (left.length > 0) this.write({ added: [], removed: left, progress: { first, added: after } })
    this.write({ added, removed, progress: { first, added: upTo } })
    return this.stored.progress().held
  }

  /** As a part: what it has from an id on. */
  portion(from: number, limit: number): Stretch & { readonly vectors: PlacedVector[] } {
    return { vectors: this.stored.read(from - 1, limit), ...this.stretch() }
  }

  /** What it knows. */
  stretch(): Stretch {
    const { first, added } = this.stored.progress()
    return { first, upTo: added }
  }

  /** Begins anew by itself; the first object does so with all (`forget`). */
  clear(): void {
    isolateMemory.giveUp(this.key)
    this.stored.clear()
  }

  /** Storage and memory change together: a failure in between drops the memory, which is then loaded anew. */
  private write(change: StorageChange): void {
    try {
      this.stored.write(change)
      const scan = this.scan ?? this.partial
      if (scan === null) return
      for (const vector of change.added) scan.set(vector)
      for (const id of change.removed) scan.delete(id)
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
        return { ...look(this.scan), ...this.stretch(), parts: [...this.stored.parts()] }
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
