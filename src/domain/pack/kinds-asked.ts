import type { Kind } from '../entry/kind'
import { fold } from '../search/fold'
import { emptyWords } from '../search/written-in'
import { ASKS, SORTS } from './sayings'
import { WEIGHTS, type Weights } from './weights'

const KINDS_BY_NAME = new Map(SORTS.flatMap(([names, kinds]) => names.split(' ').map((name) => [name, kinds] as const)))

const WORD = /[\p{L}\p{N}]+/gu

/**
 * The kinds of which a goal wants to know what there is; none when it does not ask. A goal that only mentions a sort
 * (`follow the conventions`) asks for none: between the question and the sort stand few words, `which of our naming conventions`, and
 * not `which kilns follow rules`.
 */
export function kindsAsked(goal: string, { asked: by }: Weights = WEIGHTS): readonly Kind[] {
  const asked = new Set<Kind>()
  const names = (goal.match(WORD) ?? []).map(fold)
  const empty = emptyWords(names)
  let between: { words: number; others: number } | null = null
  for (const name of names) {
    if (ASKS.has(name)) between = { words: 0, others: 0 }
    else if (between !== null && between.words <= by.wordsBetween && between.others <= by.othersBetween) {
      for (const kind of KINDS_BY_NAME.get(name) ?? []) asked.add(kind)
      between.words++
      if (!empty.has(name)) between.others++
    }
  }
  return [...asked]
}
