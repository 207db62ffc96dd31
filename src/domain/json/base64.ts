/** Base64 that arrives in pieces, decoded as it comes, so that its text is never held whole (threads contract §2.4). */

/** Whitespace of ASCII, which is dropped. */
const SPACE = /[\t\n\v\f\r ]/
const SPACES = /[\t\n\v\f\r ]+/g
/** A prefix that has found no comma within so many characters is none. */
const MAX_PREFIX = 4096
/** Decoded bytes are gathered in blocks of this size, a multiple of three. */
const BLOCK = 262_143

/** What was sent as base64, decoded. */
export interface DecodedBase64 {
  /** Null where it is not base64, or larger than was asked for. */
  readonly bytes: Uint8Array | null
  /** Whether it decodes to more bytes than were asked for; then nobody has looked whether it is base64. */
  readonly tooLarge: boolean
  /** Whether there was no character at all. */
  readonly empty: boolean
}

export class Base64Decoder {
  private head: string | null = ''
  private carry = ''
  private padded = false
  private valid = true
  private letters = 0
  private sent = 0
  private blocks: Uint8Array[] = []
  /** Bytes in each block but the last, and in that. */
  private lengths: number[] = []
  private filled = BLOCK

  /**
   * @param maxBytes what decodes to more is not kept
   * @param spare blocks that nobody uses, which decoders of one request share: what is decoded is held once
   */
  constructor(
    private readonly maxBytes: number,
    private readonly spare: Uint8Array[] = [],
  ) {}

  /** @param piece characters of the string, as JSON stands for them */
  push(piece: string): void {
    this.sent += piece.length
    if (this.head === null) this.take(piece)
    else this.lookForPrefix(this.head + piece)
  }

  private lookForPrefix(head: string): void {
    this.head = head
    const known = head.length >= 5 && !/^data:/i.test(head)
    if (known || head.includes(',') || head.length > MAX_PREFIX) this.takeHead()
  }

  end(): DecodedBase64 {
    this.takeHead()
    const rest = this.carry.length
    const tooLarge = Math.floor((this.letters * 3) / 4) > this.maxBytes
    if (!tooLarge && this.valid && rest > 0) this.decode(this.carry + '='.repeat(4 - rest))
    const bytes = this.valid && !tooLarge ? this.joined() : null
    this.drop()
    return { bytes, tooLarge, empty: this.sent === 0 }
  }

  private takeHead(): void {
    const { head } = this
    this.head = null
    if (head !== null) this.take(head.replace(/^data:[^,]*;base64,/i, ''))
  }

  private take(piece: string): void {
    let text = SPACE.test(piece) ? piece.replace(SPACES, '') : piece
    const end = text.indexOf('=')
    if (this.padded && /[^=]/.test(text)) this.valid = false
    if (end >= 0) {
      if (/[^=]/.test(text.slice(end))) this.valid = false
      this.padded = true
      text = text.slice(0, end)
    }
    this.letters += text.length
    if (!this.valid || this.letters > (this.maxBytes / 3 + 2) * 4) {
      this.drop()
      this.carry = ''
      return
    }
    const all = this.carry + text
    const whole = all.length - (all.length % 4)
    this.carry = all.slice(whole)
    if (whole > 0) this.decode(all.slice(0, whole))
  }

  private decode(text: string): void {
    let rest = /[-_]/.test(text) ? text.replace(/-/g, '+').replace(/_/g, '/') : text
    try {
      while (rest !== '') {
        // Three bytes stand in four letters, so a block that has no room for three more is full.
        if (BLOCK - this.filled < 3) this.nextBlock()
        const free = (this.blocks.at(-1) as Uint8Array).subarray(this.filled)
        const { read, written } = free.setFromBase64(rest, { lastChunkHandling: 'strict' })
        this.filled += written
        rest = rest.slice(read)
      }
    } catch {
      this.valid = false
      this.drop()
    }
  }

  private nextBlock(): void {
    if (this.blocks.length > 0) this.lengths.push(this.filled)
    this.blocks.push(this.spare.pop() ?? new Uint8Array(BLOCK))
    this.filled = 0
  }

  private drop(): void {
    this.spare.push(...this.blocks)
    this.blocks = []
    this.lengths = []
    this.filled = BLOCK
  }

  private joined(): Uint8Array {
    const lengths = this.blocks.length > 0 ? [...this.lengths, this.filled] : []
    const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
    let at = 0
    for (const [i, length] of lengths.entries()) {
      bytes.set((this.blocks[i] as Uint8Array).subarray(0, length), at)
      at += length
    }
    return bytes
  }
}

const PIECE = 65_536

/** Decodes a string that is there as a whole. */
export function decodeBase64(text: string, maxBytes: number): DecodedBase64 {
  const decoder = new Base64Decoder(maxBytes)
  for (let at = 0; at < text.length; at += PIECE) decoder.push(text.slice(at, at + PIECE))
  return decoder.end()
}
