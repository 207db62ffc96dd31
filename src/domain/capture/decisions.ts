import { firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'

/** A sentence that tells a decision, and who said it. */
export interface Said {
  readonly who: 'user' | 'agent'
  readonly text: string
}

/** What such a sentence holds, in any case (capture contract §3). */
const SIGNS = [
  ...['decided to', 'decided on', 'we decided', 'decision:', 'going with', 'go with', 'settled on', 'agreed to'],
  ...['agreed on', 'we chose', 'we will use', "we'll use", "let's use", 'from now on', 'instead of'],
]
const SENTENCE = /[^.!?\n]+(?:[.!?]+(?=\s|$)|[.!?](?=\S)[^.!?\n]*)*[.!?]*/g
const LONGEST = 300
const MAX_DECISIONS = 10

/** The sentences of a text that tell a decision, the first ten. */
export function decisionsIn(text: string, who: Said['who']): Said[] {
  const found: Said[] = []
  for (const [sentence] of text.replaceAll('’', "'").matchAll(SENTENCE)) {
    if (found.length === MAX_DECISIONS) break
    const lower = sentence.toLowerCase()
    if (!SIGNS.some((sign) => lower.includes(sign))) continue
    found.push({
      who,
      text: firstCodePoints(trim(sentence.replace(WHITE_SPACE_RUN, ' ')).replace(/^[-*#>\s]+/, ''), LONGEST),
    })
  }
  return found
}
