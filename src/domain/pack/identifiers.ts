/** Names in a goal that mean one thing exactly: error codes, paths, functions, versions. */

import { WEIGHTS } from './weights'

/** A run of characters that names are made of. */
const RUN = /[\p{L}\p{N}_$#@.:/\\-]{2,200}/gu
const EDGES = '.:,;/\\-#@$'

const CODE = /^[A-Z]{1,12}[-_]?\d{2,}$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^#\d+$|^[A-Z]{2,}-\d+$/
/** `BOOK-410-HOLD`, where one part has a digit. */
const CODE_OF_PARTS = /^[A-Z]{2,}(?:-[A-Z0-9]+)+$/
const DIGIT = /\d/
const VERSION = /^v?\d+(?:\.\d+){1,3}(?:-[\w.]+)?$/
const CAMEL = /\p{Ll}\p{Lu}|^\p{Lu}\p{Ll}+\p{Lu}/u
const SNAKE = /[\p{L}\p{N}]_[\p{L}\p{N}]/u
const PATH = /[\p{L}\p{N}_-]{2}\.\p{L}[\p{L}\p{N}]{0,7}$|[\p{L}\p{N}_.-]\/[\p{L}\p{N}_.-]+\//u
const MEMBER = /^[\p{L}_$][\p{L}\p{N}_$]+(?:(?:\.|::)[\p{L}_$][\p{L}\p{N}_$]+)+$/u

/** Identifiers of capitals and digits, whose parts are words: `AUTH-4017`, `BOOK-410-HOLD`. */
const OF_CAPITALS = /^[A-Z0-9]+(?:[-_][A-Z0-9]+)*$/

export const isCode = (identifier: string): boolean => OF_CAPITALS.test(identifier)

function trimmed(run: string): string {
  let [from, to] = [0, run.length]
  while (from < to && EDGES.includes(run[from] as string) && run[from] !== '#') from++
  while (to > from && EDGES.includes(run[to - 1] as string)) to--
  return run.slice(from, to)
}

const isIdentifier = (run: string): boolean =>
  run.length >= 3 &&
  (CODE.test(run) ||
    (CODE_OF_PARTS.test(run) && DIGIT.test(run)) ||
    VERSION.test(run) ||
    CAMEL.test(run) ||
    SNAKE.test(run) ||
    PATH.test(run) ||
    MEMBER.test(run))

/** Identifiers in a text, each once, in order of appearance; at most 16. Linear in the length of the text. */
export function identifiersIn(text: string): string[] {
  const found = new Set<string>()
  for (const [run] of text.matchAll(RUN)) {
    const name = trimmed(run)
    if (isIdentifier(name)) found.add(name)
    if (found.size === WEIGHTS.gathering.identifiers) break
  }
  return [...found]
}

const isNameCharacter = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_]/u.test(char)

/** Whether a text holds an identifier as a whole, in any case. Both in lower case. */
export function holds(text: string, identifier: string): boolean {
  for (let at = text.indexOf(identifier); at >= 0; at = text.indexOf(identifier, at + 1))
    if (!isNameCharacter(text[at - 1]) && !isNameCharacter(text[at + identifier.length])) return true
  return false
}
