/** An engine may compare a short part with each place of a text. */
const SHORT = 32

/**
 * Whether a text holds a part, in time linear in both: where engines look for a part of thousands of characters place by place, a text
 * and a part of one letter keep them for as long as the one is times the other (Knuth, Morris and Pratt).
 */
export function holds(text: string, part: string): boolean {
  if (part.length <= SHORT || part.length > text.length) return text.includes(part)
  const borders = bordersOf(part)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number
    if (part.charCodeAt(matched) === unit) matched++
    if (matched === part.length) return true
  }
  return false
}

/** For each beginning of a part, how long the longest of its own beginnings is that it ends with. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length)
  let length = 0
  for (let at = 1; at < part.length; at++) {
    const unit = part.charCodeAt(at)
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] as number
    if (part.charCodeAt(length) === unit) length++
    borders[at] = length
  }
  return borders
}
