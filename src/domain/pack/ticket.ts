// What of a goal is left without the key of a ticket, or the address of one, with which it begins?
import type { Analyzer } from '../search/analysis'
import { namesSubject } from './plain-words'

/** What may stand before a ticket. White space of a pack's query is one space each. */
const BEFORE = /^(?:[Ff]ix|[Cc]lose|[Tt]icket|[Ii]ssue|PR) /
const TICKET = /^(?:[[(]?(?:[A-Z][A-Z0-9]{1,9}-|#)\d{1,6}[\])]?[:,;]?|https?:\/\/\S{1,300}) (?:[–—-] )?/

/** A goal without the ticket that it begins with ("LAMP-1423: oil the lamp"), which has no meaning: words find what holds it. */
export function withoutTicket(goal: string, analyzer: Analyzer): string {
  const named = goal.replace(BEFORE, '')
  const rest = named.replace(TICKET, '')
  return rest !== named && namesSubject(rest, analyzer) ? rest : goal
}
