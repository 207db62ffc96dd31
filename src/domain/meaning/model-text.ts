import { hash32 } from '../text'

/** Prompts with untrusted text, and parsing of the answers of chat models. */

/**
 * A delimiter line that does not occur in the text, in any case, so that the text cannot end its own quotation. It
 * depends on the text only: equal texts give equal requests.
 */
export function fenceFor(text: string): string {
  const folded = text.toLowerCase()
  let mark = hash32(text)
  while (folded.includes(mark)) mark = hash32(`${mark} `)
  return `==== text ${mark} ====`
}

/** Names of the tags that models put around their reasoning. A tag in quotes or backticks is ordinary text. */
const REASONING_TAG = /(?<![`'"])<(\/?)(think|thinking|thought|reasoning|reflection)>/gi

/**
 * Removes reasoning. An unclosed block extends to the end; a closing tag alone (some templates write the opening one)
 * to the start.
 */
export function withoutReasoning(text: string): string {
  let kept = ''
  let at = 0
  let inside: string | null = null
  for (const { 0: tag, 1: slash, 2: name = '', index } of text.matchAll(REASONING_TAG)) {
    const isOpening = slash === ''
    if (inside === null) {
      kept = isOpening ? kept + text.slice(at, index) : ''
      inside = isOpening ? name.toLowerCase() : null
    } else if (!isOpening && name.toLowerCase() === inside) inside = null
    at = index + tag.length
  }
  return inside === null ? kept + text.slice(at) : kept
}

/**
 * The JSON object in the answer of a model, which may be surrounded by reasoning, a code fence or text; null without
 * one.
 * @param answer untrusted
 */
export function objectIn(answer: unknown): Readonly<Record<string, unknown>> | null {
  const text = typeof answer === 'string' ? withoutReasoning(answer) : ''
  const [start, end] = [text.indexOf('{'), text.lastIndexOf('}')]
  if (start < 0 || end < start || end - start > LONGEST_ANSWER) return null
  try {
    return JSON.parse(text.slice(start, end + 1)) as Record<string, unknown>
  } catch {
    return null
  }
}

/** Characters of an answer that are read. */
const LONGEST_ANSWER = 100_000
