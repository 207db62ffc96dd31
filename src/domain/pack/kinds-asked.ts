import type { Kind } from '../entry/kind'
import { fold } from '../search/analysis'
import { emptyWords } from './plain-words'

/** Words that ask for several things, in English, German, French and Spanish, folded. */
const ASKS = new Set(
  (
    'which what all list show welche welchen alle zeig zeige quels quelles tous toutes que cuales todos todas ' +
    'liste lista'
  ).split(' '),
)
/**
 * Between such a word and the name of a sort stand words that hold sentences together, and one other at most: `which of our naming
 * conventions`, and not `which kilns follow rules`.
 */
const BETWEEN = { words: 3, others: 1 } as const

const SORTS: readonly (readonly [names: string, kinds: readonly Kind[]])[] = [
  ['conventions konventionen convenciones', ['convention']],
  ['rules regeln regles reglas', ['rule', 'convention']],
  ['guidelines richtlinien directives directrices', ['guide', 'convention']],
  ['ideas ideen idees', ['idea']],
  ['decisions entscheidungen decisiones', ['decision']],
  ['plans plane planes', ['plan']],
  ['gotchas pitfalls fallstricke pieges trampas', ['gotcha', 'error_pattern']],
  ['procedures runbooks ablaufe procedimientos', ['procedure']],
]
const KINDS_BY_NAME = new Map(SORTS.flatMap(([names, kinds]) => names.split(' ').map((name) => [name, kinds] as const)))

const WORD = /[\p{L}\p{N}]+/gu

/**
 * The kinds of which a goal wants to know what there is; none when it does not ask. A goal that only mentions a sort
 * (`follow the conventions`) asks for none.
 */
export function kindsAsked(goal: string): readonly Kind[] {
  const asked = new Set<Kind>()
  const names = (goal.match(WORD) ?? []).map(fold)
  const empty = emptyWords(names)
  let between: { words: number; others: number } | null = null
  for (const name of names) {
    if (ASKS.has(name)) between = { words: 0, others: 0 }
    else if (between !== null && between.words <= BETWEEN.words && between.others <= BETWEEN.others) {
      for (const kind of KINDS_BY_NAME.get(name) ?? []) asked.add(kind)
      between.words++
      if (!empty.has(name)) between.others++
    }
  }
  return [...asked]
}
