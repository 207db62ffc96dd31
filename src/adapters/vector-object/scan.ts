import { Problem } from '../../domain/errors'
import { cosineOf, dot } from '../../domain/vector'

/** Vectors in memory, scanned whole for each query: exact, and fast enough for what one isolate can hold. */
const BLOCK = 4096

/** An isolate has 128 MB; this is what vectors may take of it (100,000 of 768 dimensions fit). */
const MAX_BYTES = 90_000_000

/** Bytes beside the numbers: square, id, and the entry in the map. */
const PER_VECTOR = 56

interface Block {
  readonly values: Int8Array
  /** Dot product of each vector with itself. */
  readonly squares: Float64Array
  readonly ids: Float64Array
}

/** Vectors by id, each with its cosine. */
export interface Scored {
  readonly ids: Float64Array
  readonly cosines: Float64Array
}

export class VectorScan {
  private readonly blocks: Block[] = []
  private readonly slots = new Map<number, number>()
  private count = 0

  constructor(private readonly dimensions: number) {}

  get size(): number {
    return this.count
  }

  /** @throws Problem limit_exceeded when the vectors would not fit into the memory of an isolate */
  set(id: number, values: Int8Array): void {
    const slot = this.slots.get(id) ?? this.grow()
    const block = this.blocks[Math.floor(slot / BLOCK)] as Block
    const at = slot % BLOCK
    block.values.set(values, at * this.dimensions)
    block.squares[at] = dot(values, values)
    block.ids[at] = id
    this.slots.set(id, slot)
  }

  private grow(): number {
    const slot = this.count++
    if (slot % BLOCK === 0) {
      if (slot * (this.dimensions + PER_VECTOR) > MAX_BYTES)
        throw new Problem(
          'limit_exceeded',
          'This org has more vectors than one Durable Object can hold; set VECTOR_BACKEND=vectorize, or use PostgreSQL',
        )
      this.blocks.push({
        values: new Int8Array(BLOCK * this.dimensions),
        squares: new Float64Array(BLOCK),
        ids: new Float64Array(BLOCK),
      })
    }
    return slot
  }

  /** The last vector takes the place of the one that goes. */
  delete(id: number): void {
    const slot = this.slots.get(id)
    if (slot === undefined) return
    const last = --this.count
    const to = this.blocks[Math.floor(slot / BLOCK)] as Block
    const from = this.blocks[Math.floor(last / BLOCK)] as Block
    const [a, b] = [slot % BLOCK, last % BLOCK]
    const moved = from.ids[b] as number
    to.values.set(from.values.subarray(b * this.dimensions, (b + 1) * this.dimensions), a * this.dimensions)
    to.squares[a] = from.squares[b] as number
    to.ids[a] = moved
    this.slots.set(moved, slot)
    this.slots.delete(id)
    if (last % BLOCK === 0) this.blocks.pop()
  }

  /** The nearest vectors, best first; ties go to the smaller id. */
  nearest(query: Int8Array, limit: number): Scored {
    const cosines = new Float64Array(this.count)
    const length = dot(query, query)
    for (let slot = 0; slot < this.count; ) {
      const block = this.blocks[Math.floor(slot / BLOCK)] as Block
      const inBlock = Math.min(BLOCK, this.count - slot)
      for (let i = 0; i < inBlock; i++)
        cosines[slot + i] = cosineOf(dot(query, block.values, i * this.dimensions), length, block.squares[i] as number)
      slot += inBlock
    }
    const slots = this.count <= limit ? Uint32Array.from(cosines, (_, slot) => slot) : topSlots(cosines, limit)
    slots.sort((a, b) => (cosines[b] as number) - (cosines[a] as number) || this.idAt(a) - this.idAt(b))
    const best = slots.subarray(0, limit)
    return {
      ids: Float64Array.from(best, (slot) => this.idAt(slot)),
      cosines: Float64Array.from(best, (slot) => cosines[slot] as number),
    }
  }

  private idAt(slot: number): number {
    return (this.blocks[Math.floor(slot / BLOCK)] as Block).ids[slot % BLOCK] as number
  }
}

/** Slots whose cosine is at least the `limit`-th best, found by a threshold over a sorted copy of the scores. */
function topSlots(cosines: Float64Array, limit: number): Uint32Array {
  const sorted = Float64Array.from(cosines).sort()
  const threshold = sorted[sorted.length - limit] as number
  const slots = new Uint32Array(cosines.length)
  let found = 0
  for (let slot = 0; slot < cosines.length; slot++) if ((cosines[slot] as number) >= threshold) slots[found++] = slot
  return slots.subarray(0, found)
}
