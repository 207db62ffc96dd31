import type { PartialParse, Tree } from '@lezer/common'
import type { LRParser } from '@lezer/lr'
import type { Pace } from '../../domain/pace'

/** Parses in steps, and with a bound: text that is no program makes the parser try many readings, each with a stack of its own. */

/** Steps of the parser, and the reading of characters that they are worth. */
const STEP = 1024
const STEP_UNITS = 6000
/** Levels of nesting; the parser's stack holds three numbers a level. Programs that people write have fewer than 100. */
const MAX_DEPTH = 3 * 2000
/** What trying several readings may cost at first, and for each character; measured, see bench/code. */
const FREE_TRIES = 1_000_000
const TRIES_PER_CHARACTER = 60

/** What the parser shows of itself while it works. */
interface Working extends PartialParse {
  readonly recovering?: number
  readonly stacks?: readonly { readonly stack: { readonly length: number } }[]
}

/** Which of the readings that are tried costs what: the depth of all their stacks. */
function depths({ stacks = [] }: Working): { sum: number; deepest: number } {
  let [sum, deepest] = [0, 0]
  for (const { stack } of stacks) {
    sum += stack.length
    if (stack.length > deepest) deepest = stack.length
  }
  return { sum, deepest }
}

/** The tree of a text; of its first part only when the rest would cost too much. */
export async function parseInSteps(parser: LRParser, text: string, pace: Pace): Promise<Tree> {
  const parse: Working = parser.startParse(text)
  const allowed = FREE_TRIES + TRIES_PER_CHARACTER * text.length
  let spent = 0
  let since = 0
  for (;;) {
    const tree = parse.advance()
    if (tree !== null) return tree
    if ((parse.recovering ?? 0) > 0 || (parse.stacks?.length ?? 0) > 1) {
      const { sum, deepest } = depths(parse)
      spent += sum + 30
      since += 1 + (sum >> 5)
      if (parse.stoppedAt === null && (spent > allowed || deepest > MAX_DEPTH)) parse.stopAt(parse.parsedPos)
    } else if (parse.stoppedAt === null && (since & 63) === 0 && depths(parse).deepest > MAX_DEPTH)
      parse.stopAt(parse.parsedPos)
    if (++since >= STEP) {
      since = 0
      await pace.spend(STEP_UNITS)
    }
  }
}
