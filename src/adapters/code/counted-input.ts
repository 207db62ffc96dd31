import type { Input } from '@lezer/common'

/** Characters of the text handed out at once; what is read within one piece is not seen from here. */
const PIECE = 128

/** The text in pieces, and how much of it was handed out. */
export class CountedInput implements Input {
  readonly lineChunks = false
  given = 0

  constructor(private readonly text: string) {}

  get length(): number {
    return this.text.length
  }

  chunk(from: number): string {
    const piece = this.text.slice(from, from + PIECE)
    this.given += piece.length
    return piece
  }

  read(from: number, to: number): string {
    return this.text.slice(from, to)
  }
}
