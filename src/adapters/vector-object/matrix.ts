import { cosineOf, dot } from '../../domain/meaning/vector'
import { BLOCK, paddedSize } from './capacity'
import kernel from './dots.wasm'

/** Vectors of one size side by side in the memory of a WebAssembly module, which compares four at a time (`dots.wat`). */

/** The first page of that memory holds a query, and a stretch of places with their products. */
const PAGE = 65_536
const TOGETHER = 4_096
const SLOTS = PAGE - 8 * TOGETHER
const PRODUCTS = SLOTS + 4 * TOGETHER

interface Kernel {
  readonly memory: WebAssembly.Memory
  readonly dots: (query: number, rows: number, size: number, slots: number, count: number, out: number) => void
}

/**
 * The memory that all matrices of one size share in an isolate. Such memory never shrinks, and one that nobody needs goes when the engine
 * looks for garbage: so what a matrix gives back the next one takes.
 */
class Arena {
  readonly kernel = new WebAssembly.Instance(kernel).exports as unknown as Kernel
  private readonly free: number[] = []
  private blocks = 0

  constructor(readonly size: number) {}

  /** @throws RangeError when there is no memory left */
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

/** How far from there slots lie within `TOGETHER` of the first; what is dense is compared with the gaps in it, which takes half as long. */
function endOfStretch(slots: Uint32Array, from: number): number {
  const first = slots[from] as number
  let to = from + 1
  while (to < slots.length && (slots[to] as number) > first && (slots[to] as number) - first < TOGETHER) to++
  return to
}

/** What all comparisons of the isolate write to, one after the other, so that none leaves 800 KB behind for 100,000 vectors. */
let scratch = new Float64Array(BLOCK)

function scratchFor(count: number): Float64Array {
  if (count > scratch.length) scratch = new Float64Array(Math.ceil(count / BLOCK) * BLOCK)
  return scratch.subarray(0, count)
}

export class VectorMatrix {
  private readonly size: number
  private arena: Arena | null = null
  private blocks: number[] = []
  /** Of each slot the dot product of its vector with itself. */
  private squares = new Float64Array(BLOCK)

  /** @param dimensions at most 32,768 */
  constructor(private readonly dimensions: number) {
    this.size = paddedSize(dimensions)
  }

  /** Gives its memory back; it is of no use afterwards but as an empty one. */
  release(): void {
    this.arena?.giveBack(this.blocks)
    this.arena = null
    this.blocks = []
  }

  /** Its place among all vectors of the memory. */
  private placeOf(slot: number): number {
    return (this.blocks[(slot / BLOCK) | 0] as number) * BLOCK + (slot % BLOCK)
  }

  private at(slot: number): number {
    return PAGE + this.placeOf(slot) * this.size
  }

  /** @param slot one that is taken, or the next @throws RangeError when there is no memory left */
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

  /** Gives back what lies behind so many vectors. */
  shrink(count: number): void {
    this.arena?.giveBack(this.blocks.splice(Math.ceil(count / BLOCK)))
  }

  /** Cosines of a query with the vectors at these places, in their order; they stand until the next are asked for. */
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
