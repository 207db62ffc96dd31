import { env as bindings, DurableObject } from 'cloudflare:workers'
import { VECTOR_MEMORY_MB } from '../../domain/capacity'
import type { Layer } from '../../domain/entry/entry'
import { fromBase64 } from '../../domain/meaning/vector'
import type { VectorChanges, VectorIndexState } from '../../ports/vector-index'
import { bytesOf, capacityOf } from './capacity'
import { IsolateMemory } from './memory'
import {
  type Answered,
  type FoundNearby,
  type FoundNearest,
  isInPlaces,
  isInRegion,
  type Nearby,
  type Region,
} from './messages'
import { type PlacedVector, VectorScan } from './scan'

/** State of the vectors in the object's own SQLite. */
interface Progress {
  /** Every vector up to this id was added. */
  readonly added: number
  readonly removed: number
  /** Number of its vectors. */
  readonly held: number
  /** Number of entries whose vectors are left out. */
  readonly leftOut: number
}

/** A change that one transaction writes. */
export interface StorageChange {
  readonly added: readonly PlacedVector[]
  readonly removed: readonly number[]
  readonly progress: Pick<Progress, 'added' | 'removed'>
  /** Maximum number of vectors; the oldest are left out. */
  readonly capacity: number
}

/** A stored vector; `layer` is null for an unlisted entry. */
type Stored = [id: number, entry: number, layer: number | null, project: string, reader: string, data: ArrayBuffer]

const placedVector = ([id, entryId, layer, project, reader, data]: Stored): PlacedVector => ({
  ...{ id, entryId, values: new Int8Array(data) },
  place: layer === null ? null : { layer: layer as Layer, project, reader },
})

/** A table with another schema, from another release, is dropped: the database sends its vectors again. */
const TABLE = `CREATE TABLE vectors (
  id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, layer INTEGER, project TEXT NOT NULL, reader TEXT NOT NULL, data BLOB NOT NULL
)`
/** Schema for an incomplete set: an earlier release would treat these vectors as complete. */
const TABLE_OF_NEWEST = `${TABLE.slice(0, -1)}, newest INTEGER)`

class VectorStorage {
  /** The stored state; null until it is read, and after a change. */
  private known: Progress | null = null
  private isCut: boolean

  constructor(private readonly storage: DurableObjectStorage) {
    this.sql.exec('CREATE TABLE IF NOT EXISTS progress (name TEXT PRIMARY KEY, value INTEGER NOT NULL)')
    const shape = this.shapeOf('vectors')
    this.isCut = shape === TABLE_OF_NEWEST
    if (shape !== TABLE && !this.isCut) this.clear()
  }

  private get sql(): SqlStorage {
    return this.storage.sql
  }

  private shapeOf(table: string): string | undefined {
    return this.sql.exec<{ sql: string }>('SELECT sql FROM sqlite_master WHERE name = ?', table).toArray()[0]?.sql
  }

  /** Deletes all vectors. */
  clear(): void {
    this.known = null
    this.isCut = false
    this.storage.transactionSync(() => {
      this.sql.exec('DROP TABLE IF EXISTS vectors')
      this.sql.exec('DROP TABLE IF EXISTS left_out')
      this.sql.exec('DELETE FROM progress')
      this.sql.exec(TABLE)
    })
  }

  progress(): Progress {
    if (this.known === null) {
      const rows = this.sql.exec<{ name: string; value: number }>('SELECT name, value FROM progress').toArray()
      const values = new Map(rows.map(({ name, value }) => [name, value]))
      const value = (name: string) => values.get(name) ?? 0
      const held = values.get('held') ?? this.sql.exec<{ n: number }>('SELECT count(*) AS n FROM vectors').one().n
      this.known = { added: value('added'), removed: value('removed'), held, leftOut: value('leftOut') }
    }
    return this.known
  }

  /** Returns vectors after an ID, in order. */
  read(after: number, limit: number): PlacedVector[] {
    const rows = this.sql
      .exec(
        'SELECT id, entry, layer, project, reader, data FROM vectors WHERE id > ? ORDER BY id LIMIT ?',
        after,
        limit,
      )
      .raw<Stored>()
    return Array.from(rows, placedVector)
  }

  /** Writes changes. @returns IDs of the vectors that are left out from now on */
  write({ added, removed, progress, capacity }: StorageChange): readonly number[] {
    const before = this.progress()
    this.known = null
    return this.storage.transactionSync(() => {
      let { held, leftOut } = before
      for (const { id, entryId, place, values } of added)
        held += this.counted(
          `INSERT INTO vectors (id, entry, layer, project, reader, data) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO NOTHING RETURNING 1 AS n`,
          ...[id, entryId, place?.layer ?? null, place?.project ?? '', place?.reader ?? ''],
          values.slice().buffer,
        )
      for (const id of removed) {
        const gone = this.counted('DELETE FROM vectors WHERE id = ? RETURNING 1 AS n', id)
        held -= gone
        if (gone === 0 && this.isCut)
          leftOut -= this.counted('DELETE FROM left_out WHERE id = ? RETURNING ends AS n', id)
      }
      const oldest = held > capacity ? this.oldest(held - capacity) : []
      for (const { id, ends } of oldest) {
        this.sql.exec('DELETE FROM vectors WHERE id = ?', id)
        this.sql.exec('INSERT OR REPLACE INTO left_out (id, ends) VALUES (?, ?)', id, ends)
        leftOut += ends
      }
      held -= oldest.length
      for (const [name, value] of Object.entries({ ...progress, held, leftOut }))
        this.sql.exec(
          `INSERT INTO progress (name, value) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
          ...[name, value],
        )
      return oldest.map(({ id }) => id)
    })
  }

  /** Returns the sum of `n` over the rows of a statement. */
  private counted(statement: string, ...values: SqlStorageValue[]): number {
    const rows = this.sql.exec<{ n: number }>(statement, ...values).toArray()
    return rows.reduce((sum, { n }) => sum + n, 0)
  }

  /** Returns the oldest vectors, each with 1 if it is the last of its entry; the vectors of an entry are adjacent. */
  private oldest(count: number): { readonly id: number; readonly ends: number }[] {
    if (!this.isCut) {
      this.sql.exec('ALTER TABLE vectors ADD COLUMN newest INTEGER')
      this.sql.exec('CREATE TABLE left_out (id INTEGER PRIMARY KEY, ends INTEGER NOT NULL)')
      this.isCut = true
    }
    const rows = this.sql
      .exec<{ id: number; entry: number }>('SELECT id, entry FROM vectors ORDER BY id LIMIT ?', count + 1)
      .toArray()
    return rows.slice(0, count).map(({ id, entry }, i) => ({ id, ends: rows[i + 1]?.entry === entry ? 0 : 1 }))
  }

  /** Numbers of the objects in which an earlier release stored further vectors of the space. */
  earlierParts(): number[] {
    if (this.shapeOf('parts') === undefined) return []
    return this.sql
      .exec<{ n: number }>('SELECT n FROM parts')
      .toArray()
      .map(({ n }) => n)
  }

  forgetEarlierParts(): void {
    this.sql.exec('DROP TABLE IF EXISTS parts')
  }
}

/** Vectors read without yielding. */
const LOADED_AT_ONCE = 2_000

/** Yields to other requests, which a timer without delay does not. */
const rest = (milliseconds = 1) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
/** Milliseconds between two attempts to reserve memory. */
const RETRY_MS = 20

interface Env {
  readonly VECTORS: DurableObjectNamespace<VectorObject>
  /** Megabytes of an isolate that vectors may use. */
  readonly VECTOR_MEMORY_MB?: string
}

const { VECTOR_MEMORY_MB: given } = bindings as Partial<Env>

/** Shared by all objects of the class in this isolate. */
export const isolateMemory = new IsolateMemory(Number(given || VECTOR_MEMORY_MB) * 1_000_000)

const placed = ({ data, ...vector }: VectorChanges['added'][number]): PlacedVector => ({
  ...vector,
  values: fromBase64(data).values,
})

/**
 * The vectors of one organization and model: stored in the object's own SQLite, loaded into memory by the first search after it wakes. If
 * not all fit, it has the newest. It stores only the places of entries; the database sends lost vectors again.
 */
export class VectorObject extends DurableObject<Env> {
  private scan: VectorScan | null = null
  private loading: Promise<void> | null = null
  /** Vectors that are being loaded; null when the load became obsolete. */
  private partial: VectorScan | null = null
  private readonly stored: VectorStorage
  /** Key of the object in the memory of the isolate. */
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
   * Applies changes.
   *
   * @param name of the space
   * @param bytes maximum memory of its vectors
   */
  async apply(dimensions: number, changes: VectorChanges, name: string, bytes: number): Promise<void> {
    await this.clearEarlierParts(name)
    const { since } = changes
    const { added, removed } = this.stored.progress()
    if (since.addedUpTo > added || since.removedUpTo > removed)
      throw new Error('These changes follow a state that the index does not have')
    const capacity = capacityOf(dimensions, bytes)
    this.write({
      // A vector that was sent before is stored, left out, or deleted.
      added: changes.added.filter(({ id }) => id > added).map(placed),
      removed: changes.removed,
      progress: { added: Math.max(added, changes.addedUpTo), removed: Math.max(removed, changes.removedUpTo) },
      capacity,
    })
    // There is memory again for older vectors, which the database sends.
    const { held, leftOut } = this.stored.progress()
    if (leftOut > 0 && held < capacity / 2) this.clear()
  }

  /** Empties the objects in which an earlier release stored further vectors; the database has all of them. */
  private async clearEarlierParts(name: string): Promise<void> {
    const earlier = this.stored.earlierParts()
    await Promise.all(earlier.map((n) => this.env.VECTORS.getByName(`${name}\n${n}`).clear()))
    if (earlier.length > 0) this.stored.forgetEarlierParts()
  }

  /** Deletes all vectors. */
  clear(): void {
    isolateMemory.giveUp(this.key)
    this.stored.clear()
  }

  /** Changes storage and memory together: after a failure in between, the memory is dropped and loaded again. */
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

  /** Returns the most similar vectors, best first. */
  search(
    dimensions: number,
    query: Int8Array,
    limit: number,
    region: Region | null = null,
  ): Promise<Answered<FoundNearest>> {
    return this.looking(dimensions, (scan) => {
      const { of, ...found } = scan.nearest(query, limit, region === null ? undefined : isInRegion(region))
      return { ...found, cut: of > found.ids.length }
    })
  }

  /** Returns the most similar entries in some places, and the given ones. */
  nearby(dimensions: number, query: Int8Array, asked: Nearby): Promise<Answered<FoundNearby>> {
    return this.looking(dimensions, (scan) => ({
      named: scan.named(query, asked.beside),
      nearest: scan.nearestEntries(query, isInPlaces(asked), asked.most, asked.least),
    }))
  }

  /** Loads the vectors and searches them; they may be dropped while another object runs, and are then loaded again. */
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

  /** Loads the vectors; concurrent searches share the load. */
  private load(dimensions: number): Promise<void> {
    this.loading ??= this.read(dimensions).finally(() => {
      this.loading = null
    })
    return this.loading
  }

  /**
   * Reads the vectors in portions, with yields in between. Changes applied meanwhile are applied to the loaded vectors too.
   */
  private async read(dimensions: number): Promise<void> {
    const free = () => {
      this.scan?.release()
      this.partial?.release()
      this.scan = null
      this.partial = null
    }
    const reserve = () =>
      isolateMemory.reserve(this.key, this.stored.progress().held * bytesOf(dimensions), free, Date.now())
    while (!reserve()) await rest(RETRY_MS)
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
