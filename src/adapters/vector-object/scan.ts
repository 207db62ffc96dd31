import { cosineOf, dot } from '../../domain/meaning/vector'
import type { VectorPlace } from '../../ports/vector-index'
import { BLOCK, bytesOf, paddedSize } from './capacity'
import kernel from './dots.wasm'

/** Compares vectors in memory and selects the largest numbers. */

/**
 * Returns the positions of the largest numbers, in any order, including all that equal the least of these.
 *
 * @param most how many are wanted, at least 1
 */
function placesOfBest(values: Float64Array, most: number): Uint32Array {
  if (values.length <= most) return Uint32Array.from(values, (_, place) => place)
  const least = leastOfBest(values, most)
  const places: number[] = []
  for (let place = 0; place < values.length; place++) if ((values[place] as number) >= least) places.push(place)
  return Uint32Array.from(places)
}

/** Returns the `most`-th largest number, with a heap of the largest so far, whose root is the least of them. */
function leastOfBest(values: Float64Array, most: number): number {
  const heap = values.slice(0, most).sort()
  for (let place = most; place < values.length; place++) {
    const value = values[place] as number
    if (value <= (heap[0] as number)) continue
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child + 1 < most && (heap[child + 1] as number) < (heap[child] as number)) child++
      if (child >= most || (heap[child] as number) >= value) break
      heap[at] = heap[child] as number
      at = child
    }
    heap[at] = value
  }
  return heap[0] as number
}

/** Vectors of one size in the memory of a WebAssembly module, which compares four at a time (`dots.wat`). */

/** The first page of that memory contains the query, and a range of positions with their products. */
const PAGE = 65_536
const TOGETHER = 4_096
const SLOTS = PAGE - 8 * TOGETHER
const PRODUCTS = SLOTS + 4 * TOGETHER

interface Kernel {
  readonly memory: WebAssembly.Memory
  readonly dots: (query: number, rows: number, size: number, slots: number, count: number, out: number) => void
}

/**
 * Memory that all matrices of one size share in an isolate. WebAssembly memory never shrinks and is only freed by garbage collection, so
 * the next matrix reuses what another one has released.
 */
class Arena {
  readonly kernel = new WebAssembly.Instance(kernel).exports as unknown as Kernel
  private readonly free: number[] = []
  private blocks = 0

  constructor(readonly size: number) {}

  /** @throws RangeError when memory is exhausted */
  take(): number {
    const given = this.free.pop()
    if (given !== undefined) return given
    const { memory } = this.kernel
    const missing = PAGE + (this.blocks + 1) * BLOCK * this.size - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE))
    return this.blocks++
  }

  giveBack(blocks: readonly number[]): void {
    this.free.push(...blocks)
    if (this.free.length === this.blocks && arenas.get(this.size) === this) arenas.delete(this.size)
  }
}

const arenas = new Map<number, Arena>()

function arenaOf(size: number): Arena {
  const arena = arenas.get(size) ?? new Arena(size)
  arenas.set(size, arena)
  return arena
}

/**
 * Returns the end of the slots within `TOGETHER` of the first: a dense range is compared including its gaps, which is faster.
 */
function endOfStretch(slots: Uint32Array, from: number): number {
  const first = slots[from] as number
  let to = from + 1
  while (to < slots.length && (slots[to] as number) > first && (slots[to] as number) - first < TOGETHER) to++
  return to
}

/** Result buffer that all comparisons of the isolate share, so that none leaves a large array behind. */
let scratch = new Float64Array(BLOCK)

function scratchFor(count: number): Float64Array {
  if (count > scratch.length) scratch = new Float64Array(Math.ceil(count / BLOCK) * BLOCK)
  return scratch.subarray(0, count)
}

class VectorMatrix {
  private readonly size: number
  private arena: Arena | null = null
  private blocks: number[] = []
  /** The dot product of each vector with itself, by slot. */
  private squares = new Float64Array(BLOCK)

  /** @param dimensions at most 32,768 */
  constructor(private readonly dimensions: number) {
    this.size = paddedSize(dimensions)
  }

  /** Releases its memory; afterwards it is an empty matrix. */
  release(): void {
    this.arena?.giveBack(this.blocks)
    this.arena = null
    this.blocks = []
  }

  /** Returns the position of a slot in the shared memory. */
  private placeOf(slot: number): number {
    return (this.blocks[(slot / BLOCK) | 0] as number) * BLOCK + (slot % BLOCK)
  }

  private at(slot: number): number {
    return PAGE + this.placeOf(slot) * this.size
  }

  /** Writes a vector. @param slot an existing one, or the next @throws RangeError when memory is exhausted */
  set(slot: number, values: Int8Array): void {
    this.arena ??= arenaOf(this.size)
    if (slot >= this.blocks.length * BLOCK) this.blocks.push(this.arena.take())
    new Int8Array(this.arena.kernel.memory.buffer).set(values, this.at(slot))
    if (slot >= this.squares.length) {
      const before = this.squares
      this.squares = new Float64Array(before.length + Math.max(BLOCK, before.length >> 1))
      this.squares.set(before)
    }
    this.squares[slot] = dot(values, values)
  }

  move(from: number, to: number): void {
    if (this.arena === null) return
    const bytes = new Int8Array(this.arena.kernel.memory.buffer)
    bytes.copyWithin(this.at(to), this.at(from), this.at(from) + this.size)
    this.squares[to] = this.squares[from] as number
  }

  /** Releases the memory after this many vectors. */
  shrink(count: number): void {
    this.arena?.giveBack(this.blocks.splice(Math.ceil(count / BLOCK)))
  }

  /** Returns the cosines of a query with the vectors in these slots, in their order; valid until the next call. */
  cosines(query: Int8Array, slots: Uint32Array): Float64Array {
    const cosines = scratchFor(slots.length)
    if (this.arena === null) return cosines.fill(0)
    const { memory, dots } = this.arena.kernel
    const { squares } = this
    const bytes = new Int8Array(memory.buffer)
    bytes.fill(0, 0, this.size)
    bytes.set(query.subarray(0, this.dimensions))
    const square = dot(query, query)
    const places = new Uint32Array(memory.buffer, SLOTS, TOGETHER)
    const products = new Int32Array(memory.buffer, PRODUCTS, TOGETHER)
    for (let from = 0, to = 0; from < slots.length; from = to) {
      const first = slots[from] as number
      to = endOfStretch(slots, from)
      const isDense = 2 * (to - from) > TOGETHER
      if (!isDense) to = Math.min(from + TOGETHER, slots.length)
      const count = isDense ? Math.min(TOGETHER, this.blocks.length * BLOCK - first) : to - from
      for (let i = 0; i < count; i++) places[i] = this.placeOf(isDense ? first + i : (slots[from + i] as number))
      dots(0, PAGE, this.size, SLOTS, count, PRODUCTS)
      for (let i = from; i < to; i++) {
        const slot = slots[i] as number
        cosines[i] = cosineOf(products[isDense ? slot - first : i - from] as number, square, squares[slot] as number)
      }
    }
    return cosines
  }
}

/** A block of vectors in memory. All relevant vectors are compared for each query, which is exact. */

interface Block {
  readonly ids: Float64Array
  readonly entries: Float64Array
  readonly groups: Uint32Array
  /** Index of each slot in its group. */
  readonly ranks: Uint32Array
}

/** Initial number of slots of a group. */
const FIRST_SLOTS = 16

/** Vectors whose entries are in one place. */
interface Group {
  /** Null for entries that are not listed. */
  readonly place: VectorPlace | null
  /** Slots in any order; there is spare capacity beyond `count`. */
  slots: Uint32Array
  count: number
}

/** Vectors by id, each with its cosine. */
export interface Scored {
  readonly ids: Float64Array
  readonly cosines: Float64Array
}

/** IDs of vectors with the entry of each. */
export interface ScoredEntries extends Scored {
  readonly entries: Float64Array
}

/** A vector with its entry and place. */
export interface PlacedVector {
  readonly id: number
  readonly entryId: number
  readonly place: VectorPlace | null
  readonly values: Int8Array
}

const keyOf = (place: VectorPlace | null): string =>
  place === null ? '' : JSON.stringify([place.layer, place.reader, place.project])

export class VectorScan {
  private readonly matrix: VectorMatrix
  private readonly blocks: Block[] = []
  private readonly slots = new Map<number, number>()
  private readonly groups: Group[] = []
  private readonly groupOf = new Map<string, number>()
  private count = 0

  constructor(private readonly dimensions: number) {
    this.matrix = new VectorMatrix(dimensions)
  }

  get size(): number {
    return this.count
  }

  /** Bytes of memory in use. */
  get bytes(): number {
    return this.blocks.length * BLOCK * bytesOf(this.dimensions)
  }

  /** Releases the memory; call it when no search uses the object any more. */
  release(): void {
    this.matrix.release()
  }

  /** @throws RangeError when memory is exhausted */
  set({ id, entryId, place, values }: PlacedVector): void {
    const known = this.slots.get(id)
    if (known !== undefined) this.leave(known)
    const slot = known ?? this.grow()
    const [block, at] = this.blockAt(slot)
    this.matrix.set(slot, values)
    block.ids[at] = id
    block.entries[at] = entryId
    block.groups[at] = this.groupFor(place)
    this.join(slot)
    this.slots.set(id, slot)
  }

  private grow(): number {
    const slot = this.count++
    if (slot % BLOCK === 0)
      this.blocks.push({
        ids: new Float64Array(BLOCK),
        entries: new Float64Array(BLOCK),
        groups: new Uint32Array(BLOCK),
        ranks: new Uint32Array(BLOCK),
      })
    return slot
  }

  private groupFor(place: VectorPlace | null): number {
    const key = keyOf(place)
    const known = this.groupOf.get(key)
    if (known !== undefined) return known
    this.groupOf.set(key, this.groups.length)
    return this.groups.push({ place, slots: new Uint32Array(FIRST_SLOTS), count: 0 }) - 1
  }

  private join(slot: number): void {
    const group = this.groupAt(slot)
    const [block, at] = this.blockAt(slot)
    if (group.count === group.slots.length) {
      const before = group.slots
      group.slots = new Uint32Array(2 * before.length)
      group.slots.set(before)
    }
    block.ranks[at] = group.count
    group.slots[group.count++] = slot
  }

  /** Removes a slot from its group; the last slot of the group takes its position. */
  private leave(slot: number): void {
    const group = this.groupAt(slot)
    const [block, at] = this.blockAt(slot)
    const rank = block.ranks[at] as number
    const last = group.slots[--group.count] as number
    const [of, there] = this.blockAt(last)
    group.slots[rank] = last
    of.ranks[there] = rank
  }

  /** Deletes a vector; the last vector is moved to its slot. */
  delete(id: number): void {
    const slot = this.slots.get(id)
    if (slot === undefined) return
    this.leave(slot)
    this.slots.delete(id)
    const last = --this.count
    if (slot !== last) {
      const [to, b] = this.blockAt(slot)
      const [from, a] = this.blockAt(last)
      const { slots } = this.groupAt(last)
      this.matrix.move(last, slot)
      for (const name of ['ids', 'entries', 'groups', 'ranks'] as const) to[name][b] = from[name][a] as number
      slots[to.ranks[b] as number] = slot
      this.slots.set(to.ids[b] as number, slot)
    }
    if (last % BLOCK > 0) return
    this.blocks.pop()
    this.matrix.shrink(last)
  }

  /**
   * Returns the most similar vectors, best first; of equal ones the smaller ID first.
   *
   * @param stands condition on their place
   * @returns them, and the number of compared vectors
   */
  nearest(
    query: Int8Array,
    limit: number,
    stands?: (place: VectorPlace) => boolean,
  ): ScoredEntries & { readonly of: number } {
    const slots = stands ? this.slotsWhere(stands) : this.allSlots()
    const cosines = this.compare(query, slots)
    const idOf = (place: number): number => this.idAt(slots[place] as number)
    const best = placesOfBest(cosines, limit)
      .sort((a, b) => (cosines[b] as number) - (cosines[a] as number) || idOf(a) - idOf(b))
      .subarray(0, limit)
    return {
      ids: Float64Array.from(best, idOf),
      cosines: Float64Array.from(best, (place) => cosines[place] as number),
      entries: Float64Array.from(best, (place) => this.entryAt(slots[place] as number)),
      of: slots.length,
    }
  }

  /**
   * Returns the most similar entries in some places, each by its most similar vector, best first; of equal ones the newer entry first.
   *
   * @param most maximum number of entries @param least minimum cosine
   */
  nearestEntries(
    query: Int8Array,
    stands: (place: VectorPlace) => boolean,
    most: number,
    least: number,
  ): ScoredEntries {
    const slots = this.slotsWhere(stands)
    const cosines = this.compare(query, slots)
    // Several vectors may belong to one entry, so more are selected until there are enough.
    for (let taken = 2 * most; ; taken *= 8) {
      const best = placesOfBest(cosines, taken).sort(
        (a, b) =>
          (cosines[b] as number) - (cosines[a] as number) ||
          this.entryAt(slots[b] as number) - this.entryAt(slots[a] as number),
      )
      const byEntry = new Map<number, number>()
      for (const place of best) {
        const entry = this.entryAt(slots[place] as number)
        if (!byEntry.has(entry) && (cosines[place] as number) >= least) byEntry.set(entry, place)
      }
      if (byEntry.size < most && taken < slots.length && (cosines[best.at(-1) as number] as number) >= least) continue
      const nearest = [...byEntry].slice(0, most)
      return {
        ids: Float64Array.from(nearest, ([, place]) => this.idAt(slots[place] as number)),
        cosines: Float64Array.from(nearest, ([, place]) => cosines[place] as number),
        entries: Float64Array.from(nearest, ([entry]) => entry),
      }
    }
  }

  /** Returns those of the vectors that are in memory, with their cosines. */
  named(query: Int8Array, ids: Iterable<number>): Scored {
    const slots = Uint32Array.from([...ids].flatMap((id) => this.slots.get(id) ?? []))
    const cosines = this.compare(query, slots)
    return { ids: Float64Array.from(slots, (slot) => this.idAt(slot)), cosines: cosines.slice() }
  }

  private allSlots(): Uint32Array {
    const slots = new Uint32Array(this.count)
    for (let slot = 0; slot < slots.length; slot++) slots[slot] = slot
    return slots
  }

  private slotsWhere(stands: (place: VectorPlace) => boolean): Uint32Array {
    const admitted = this.groups.filter(({ place }) => place !== null && stands(place))
    const parts = admitted.map(({ slots, count }) => slots.subarray(0, count))
    const [first] = parts
    if (first !== undefined && parts.length === 1) return first
    const total = parts.reduce((sum, { length }) => sum + length, 0)
    if (2 * total > this.count) return this.slotsInOrder(new Set(admitted), total)
    const all = new Uint32Array(total)
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }

  /** Returns the slots of some groups in memory order; compared as one range if almost all vectors are included. */
  private slotsInOrder(admitted: ReadonlySet<Group>, total: number): Uint32Array {
    const isIn = this.groups.map((group) => admitted.has(group))
    const all = new Uint32Array(total)
    let at = 0
    for (const [b, { groups }] of this.blocks.entries()) {
      const taken = Math.min(BLOCK, this.count - b * BLOCK)
      for (let i = 0; i < taken; i++) if (isIn[groups[i] as number]) all[at++] = b * BLOCK + i
    }
    return all
  }

  private compare(query: Int8Array, slots: Uint32Array): Float64Array {
    return this.matrix.cosines(query, slots)
  }

  private blockAt(slot: number): [Block, number] {
    return [this.blocks[Math.floor(slot / BLOCK)] as Block, slot % BLOCK]
  }

  private groupAt(slot: number): Group {
    const [block, at] = this.blockAt(slot)
    return this.groups[block.groups[at] as number] as Group
  }

  private idAt(slot: number): number {
    return (this.blocks[Math.floor(slot / BLOCK)] as Block).ids[slot % BLOCK] as number
  }

  private entryAt(slot: number): number {
    return (this.blocks[Math.floor(slot / BLOCK)] as Block).entries[slot % BLOCK] as number
  }
}
