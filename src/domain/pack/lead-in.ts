// What of a goal is left without the words by which somebody only begins to ask?
import type { Analyzer } from '../search/analysis'
import { namesSubject } from './plain-words'
import { LEAD_INS, OF_LEAD_INS } from './sayings'

/** Characters before a colon that may lead in. */
const LEAD = /^([^:\n]{2,160}):\s+(?=\S)/

const within = (lead: string): string => OF_LEAD_INS.reduce((text, word) => text.replace(word, ' '), lead)

/**
 * A goal without its lead-in: what stands before a colon and names no subject ("I am about to start on this, give me all we know:"), and
 * what people begin a request with ("could you please help me to"). Searched with the goal, such words lead away from it. As it is where
 * nothing else is left.
 */
export function withoutLeadIn(goal: string, analyzer: Analyzer): string {
  const [led, lead] = LEAD.exec(goal) ?? []
  const said = led === undefined || namesSubject(within(lead as string), analyzer) ? goal : goal.slice(led.length)
  let rest = said.trimStart()
  for (let begun = ''; begun !== rest; ) {
    begun = rest
    for (const words of LEAD_INS) rest = rest.replace(words, '').trimStart()
  }
  return rest !== goal && namesSubject(rest, analyzer) ? rest : goal
}
