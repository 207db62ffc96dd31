import { fold } from '../analysis'
import type { Kind } from '../kind'

/** Words that ask for several things, in English, German, French and Spanish, folded. */
const ASKS = new Set(
  (
    'which what all list show welche welchen alle zeig zeige quels quelles tous toutes que cuales todos todas ' +
    'liste lista'
  ).split(' '),
)
/** Words between such a word and the name of a sort, at most: `which of our`, `quelles sont les`. */
const BETWEEN = 2

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
  let since = BETWEEN + 1
  for (const [word] of goal.matchAll(WORD)) {
    const name = fold(word)
    if (ASKS.has(name)) since = 0
    else if (since++ <= BETWEEN) for (const kind of KINDS_BY_NAME.get(name) ?? []) asked.add(kind)
  }
  return [...asked]
}
