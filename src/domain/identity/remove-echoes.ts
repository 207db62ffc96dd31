/** Removes texts of callers from log messages: errors of engines and providers often quote their input. */

/** Minimum length of a common substring that counts as an echo and not as a coincidence. */
const WINDOW = 12
const SHORTEST = 4
/** Characters of the arguments that are compared; the rest is ignored. */
const MAX_SPOKEN = 2_000_000

function* strings(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* strings(item)
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* strings(item)
}

/** Size of the hash table, which rejects most substrings without a comparison. */
const HASHES = 1 << 16
const FACTOR = 31
/** Factor of the character that leaves the rolling hash. */
const OUTGOING = Array.from({ length: WINDOW - 1 }).reduce<number>((power) => Math.imul(power, FACTOR), 1)

/** Calls `each` with every substring of `WINDOW` characters and its rolling hash. */
function eachWindow(text: string, each: (at: number, hash: number) => void): void {
  let hash = 0
  for (let i = 0; i < text.length; i++) {
    if (i >= WINDOW) hash = (hash - Math.imul(text.charCodeAt(i - WINDOW), OUTGOING)) | 0
    hash = (Math.imul(hash, FACTOR) + text.charCodeAt(i)) | 0
    if (i >= WINDOW - 1) each(i - WINDOW + 1, (hash ^ (hash >>> 16)) & (HASHES - 1))
  }
}

/** The substrings of a message with their places. */
class Windows {
  private readonly places = new Map<string, number[]>()
  private readonly hashes = new Uint8Array(HASHES)

  constructor(
    message: string,
    private readonly mark: (from: number, to: number) => void,
  ) {
    eachWindow(message, (at, hash) => {
      const window = message.slice(at, at + WINDOW)
      const known = this.places.get(window)
      if (known === undefined) this.places.set(window, [at])
      else known.push(at)
      this.hashes[hash] = 1
    })
  }

  /** Marks every place of the message that contains a substring of `spoken`. Each place is marked once. */
  markEchoes(spoken: string): void {
    eachWindow(spoken, (at, hash) => {
      if (this.hashes[hash] === 0) return
      const window = spoken.slice(at, at + WINDOW)
      for (const place of this.places.get(window) ?? []) this.mark(place, place + WINDOW)
      this.places.delete(window)
    })
  }
}

/** Marks every place of the message that equals one of the short strings. */
function markShort(message: string, spoken: ReadonlySet<string>, mark: (from: number, to: number) => void): void {
  for (const length of new Set([...spoken].map((one) => one.length)))
    for (let at = 0; at + length <= message.length; at++)
      if (spoken.has(message.slice(at, at + length))) mark(at, at + length)
}

/**
 * Replaces everything that the message quotes from the caller's arguments with `…`. Linear in the length of both.
 * @param args the arguments as they arrived; all strings in them are compared
 */
export function withoutEchoes(message: string, args: unknown): string {
  const marked = new Uint8Array(message.length)
  const mark = (from: number, to: number) => marked.fill(1, from, to)
  const windows = new Windows(message, mark)
  const short = new Set<string>()
  let looked = 0
  for (const spoken of strings(args)) {
    if (looked > MAX_SPOKEN) break
    looked += spoken.length
    if (spoken.length >= WINDOW) windows.markEchoes(spoken.slice(0, MAX_SPOKEN))
    else if (spoken.length >= SHORTEST) short.add(spoken)
  }
  markShort(message, short, mark)
  let text = ''
  for (let at = 0; at < message.length; at++) {
    if (!marked[at]) text += message[at]
    else if (!marked[at - 1]) text += '…'
  }
  return text
}
