import { BACKSLASH, QUOTE } from './grammar'
import { tooLong, type Unkept } from './unkept'

/** The longest string that means anything: a list or an object that is sent as JSON in a string. */
export const MAX_STRING = 10_000_000

/** Longer pieces of a larger string keep all of it in memory. */
const SHORT = 12

/** A string of JSON that arrives in pieces; what is longer than it may be is counted and not held. */
export class StringReader {
  private parts: string[] = []
  /** It holds an escape or a control character so far, so `JSON.parse` has to judge it. */
  private special = false
  /** The last piece ended behind a backslash. */
  private escaped = false
  /** UTF-16 units so far. */
  private units = 0
  private most = MAX_STRING

  /** @param most UTF-16 units that the string may have */
  begin(most: number): void {
    this.parts = []
    this.special = false
    this.escaped = false
    this.units = 0
    this.most = most
  }

  /** Reads on. @returns the place of the closing quote; the length of the piece when that is not in it */
  read(piece: string, from: number): number {
    let at = from
    if (this.escaped) this.escape(piece[at++])
    for (; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (code === QUOTE) {
        this.hold(piece.slice(from, at))
        return at
      }
      if (code < 0x20) this.special = true
      if (code === BACKSLASH) {
        this.special = true
        this.units--
        at++
        if (at < piece.length) this.escape(piece[at])
      }
    }
    this.escaped = at > piece.length
    this.hold(piece.slice(from))
    return piece.length
  }

  /** Four digits follow `\u`, and all of it is one unit. */
  private escape(char: string | undefined): void {
    this.escaped = false
    if (char === 'u') this.units -= 4
  }

  private hold(part: string): void {
    this.units += part.length
    if (this.units > this.most) this.parts = []
    else this.parts.push(part)
  }

  /** What was read. @throws SyntaxError when it is no string of JSON */
  end(): string | Unkept {
    const { parts, special, units, most } = this
    this.parts = []
    if (units > most) return tooLong(most)
    const raw = parts.length === 1 ? (parts[0] as string) : parts.join('')
    // What is one piece of a larger string is copied; what is joined is a copy.
    return special || (parts.length === 1 && raw.length > SHORT) ? (JSON.parse(`"${raw}"`) as string) : raw
  }
}
