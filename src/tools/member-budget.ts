import { limitExceeded, type Problem } from '../domain/errors'
import { JsonParser, TooManyValues } from '../domain/json/parser'
import { isRecord } from './record'
import { MAX_MEMBERS } from './request-strings'

/** Refuses arguments with more members and items, at all depths, than one request may have (platform contract §6). */
export const tooManyMembers = (): Problem =>
  limitExceeded(
    `The arguments have more than ${MAX_MEMBERS} members and items, counted at every depth; send less, or split it into several calls`,
  )

function countMembers(value: unknown): number {
  let count = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const at = open.pop()
    const members = Array.isArray(at) ? at : isRecord(at) ? Object.values(at) : []
    count += members.length
    for (const member of members) if (typeof member === 'object') open.push(member)
  }
  return count
}

/** The limit of members in the arguments of one call; JSON and values parsed from strings count alike. */
export class MemberBudget {
  private used: number | null = null

  constructor(private readonly args: unknown) {}

  /**
   * The value of JSON in a string.
   *
   * @throws Problem limit_exceeded where the arguments have too many members with it
   * @throws SyntaxError, JsonTooLarge
   */
  parse(text: string): unknown {
    const used = this.used ?? countMembers(this.args)
    const parser = new JsonParser({ maxValues: MAX_MEMBERS - used + 1 })
    try {
      parser.feed(text)
      return parser.end()
    } catch (error) {
      throw error instanceof TooManyValues ? tooManyMembers() : error
    } finally {
      // Members before a mistake in the JSON count too, since reading them took the same time.
      this.used = used + Math.max(0, parser.count - 1)
    }
  }
}
