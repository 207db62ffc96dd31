/** Keeps what callers said out of logs: error messages of engines and providers like to quote their input. */

/** Stretches of this many characters that stand in both are an echo, not a coincidence. */
const WINDOW = 12
const SHORTEST = 4
/** Beyond this the rest is not looked at: an error is logged, not studied. */
const MAX_SPOKEN = 2_000_000

function* strings(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* strings(item)
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* strings(item)
}

/** Marks every place of `message` where a stretch of `spoken` stands. */
function markWindows(message: string, spoken: string, marked: boolean[]): void {
  const places = new Map<string, number[]>()
  for (let at = 0; at + WINDOW <= message.length; at++) {
    const window = message.slice(at, at + WINDOW)
    places.set(window, [...(places.get(window) ?? []), at])
  }
  for (let at = 0; at + WINDOW <= spoken.length; at++)
    for (const place of places.get(spoken.slice(at, at + WINDOW)) ?? []) marked.fill(true, place, place + WINDOW)
}

/**
 * A message with everything that the caller's arguments hold replaced by `…`.
 *
 * @param args as they arrived; every string in them counts
 */
export function withoutEchoes(message: string, args: unknown): string {
  const marked = Array.from({ length: message.length }, () => false)
  let looked = 0
  for (const spoken of strings(args)) {
    if (looked > MAX_SPOKEN) break
    looked += spoken.length
    if (spoken.length < SHORTEST) continue
    if (spoken.length >= WINDOW) markWindows(message, spoken.slice(0, MAX_SPOKEN), marked)
    else
      for (let at = message.indexOf(spoken); at >= 0; at = message.indexOf(spoken, at + 1))
        marked.fill(true, at, at + spoken.length)
  }
  let text = ''
  for (let at = 0; at < message.length; at++) {
    if (!marked[at]) text += message[at]
    else if (!marked[at - 1]) text += '…'
  }
  return text
}
