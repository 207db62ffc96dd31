import { cosineOf, dot } from '../../domain/meaning/vector'
import kernel from './dots.wasm'

/** Vectors of one size side by side in the memory of a WebAssembly module, which compares sixteen numbers at a time (`dots.wat`). */

/** The first page of that memory holds a query, and a stretch of places with their products. */
const PAGE = 65_536
const TOGETHER = 4_096
const SLOTS = PAGE - 8 * TOGETHER
const PRODUCTS = SLOTS + 4 * TOGETHER
const LANES = 16

interface Kernel {
  readonly memory: WebAssembly.Memory
  readonly dots: (query: number, rows: number, size: number, slots: number, count: number, out: number) => void
}

export class VectorMatrix {
  private readonly kernel = new WebAssembly.Instance(kernel).exports as unknown as Kernel
  /** Bytes of a vector, with the zeros that fill it up. */
  private readonly size: number
  /** Of each slot the dot product of its vector with itself. */
  private squares = new Float64Array(TOGETHER)

  /** @param dimensions at most 32,768 */
  constructor(private readonly dimensions: number) {
    this.size = Math.ceil(dimensions / LANES) * LANES
  }

  private at(slot: number): number {
    return PAGE + slot * this.size
  }

  /** @throws RangeError when there is no memory left */
  set(slot: number, values: Int8Array): void {
    const { memory } = this.kernel
    const missing = this.at(slot + 1) - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE))
    new Int8Array(memory.buffer).set(values, this.at(slot))
    if (slot >= this.squares.length) {
      const before = this.squares
      this.squares = new Float64Array(before.length + Math.max(TOGETHER, before.length >> 1))
      this.squares.set(before)
    }
    this.squares[slot] = dot(values, values)
  }

  move(from: number, to: number): void {
    new Int8Array(this.kernel.memory.buffer).copyWithin(this.at(to), this.at(from), this.at(from + 1))
    this.squares[to] = this.squares[from] as number
  }

  /** Cosines of a query with the vectors at these places, in their order. */
  cosines(query: Int8Array, slots: Uint32Array): Float64Array {
    const { memory, dots } = this.kernel
    const { squares } = this
    const bytes = new Int8Array(memory.buffer)
    bytes.fill(0, 0, this.size)
    bytes.set(query.subarray(0, this.dimensions))
    const square = dot(query, query)
    const cosines = new Float64Array(slots.length)
    for (let from = 0; from < slots.length; from += TOGETHER) {
      const part = slots.subarray(from, from + TOGETHER)
      new Uint32Array(memory.buffer, SLOTS).set(part)
      dots(0, PAGE, this.size, SLOTS, part.length, PRODUCTS)
      const products = new Int32Array(memory.buffer, PRODUCTS)
      for (let i = 0; i < part.length; i++)
        cosines[from + i] = cosineOf(products[i] as number, square, squares[part[i] as number] as number)
    }
    return cosines
  }
}
