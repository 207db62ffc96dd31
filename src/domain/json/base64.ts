/** Decodes base64 that arrives in pieces, so that its text is never complete in memory (threads contract §2.4). */

/** ASCII white space, which is ignored. */
const SPACE = /[\t\n\v\f\r ]/
const SPACES = /[\t\n\v\f\r ]+/g
/** Maximum length of a `data:` prefix up to its comma. */
const MAX_PREFIX = 4096
/** Size of the blocks of decoded bytes, a multiple of three. */
const BLOCK = 262_143

/** The result of decoding a base64 string. */
export interface DecodedBase64 {
  /** Null for invalid base64, or more bytes than allowed. */
  readonly bytes: Uint8Array | null
  /** Whether it has more bytes than allowed; its validity is then unknown. */
  readonly tooLarge: boolean
  /** Whether the string is empty. */
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
  /** Bytes in each block except the last. */
  private lengths: number[] = []
  private filled = BLOCK

  /**
   * @param maxBytes limit of decoded bytes; a larger string is dropped
   * @param spare free blocks, shared by the decoders of one request
   */
  constructor(
    private readonly maxBytes: number,
    private readonly spare: Uint8Array[] = [],
  ) {}

  /** @param piece the next characters of the string */
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
        // Four characters decode to three bytes, so a block with less than three free bytes is full.
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

/** Decodes a complete base64 string. */
export function decodeBase64(text: string, maxBytes: number): DecodedBase64 {
  const decoder = new Base64Decoder(maxBytes)
  for (let at = 0; at < text.length; at += PIECE) decoder.push(text.slice(at, at + PIECE))
  return decoder.end()
}
