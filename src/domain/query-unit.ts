import type { Token } from './analysis'

/** Something that an entry contains or not: one word, several next to each other, or a quoted phrase. */
export interface Unit {
  readonly terms: readonly string[]
  /** The last term only needs to begin an indexed term. */
  readonly prefix: boolean
  /** Quoted: looked for in the text only, not in date and agent. */
  readonly phrase: boolean
  /** Which terms are stop words. */
  readonly stops: readonly boolean[]
}

export type Expression =
  | { readonly op: 'unit'; readonly unit: Unit }
  | { readonly op: 'and' | 'or'; readonly of: readonly Expression[] }
  | { readonly op: 'not'; readonly of: Expression }

export function makeUnit(tokens: readonly Token[], options: { prefix?: boolean; phrase?: boolean } = {}): Unit | null {
  if (tokens.length === 0) return null
  const only = tokens.length === 1 ? (tokens[0] as Token) : null
  const loneCharacter = only?.pair === true && [...only.term].length === 1
  return {
    terms: tokens.map((token) => token.term),
    // Text written without spaces is indexed in pairs, so a single character can only begin one.
    prefix: options.prefix === true || loneCharacter,
    phrase: options.phrase === true,
    stops: tokens.map((token) => token.isStopWord),
  }
}
