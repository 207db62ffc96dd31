import { redact } from '../secrets/redact'
import { firstCodePoints } from '../text'
import { isFields } from './fields'
import type { Fields } from './happening'

/**
 * Takes out of an event what is never kept (capture contract §2, §4): what a person marked private, what was recalled, and secrets. The
 * program on the client's side has done so before; whoever sends events without it is no less safe.
 */

/** What recalled text stands between. */
export const FENCE = 'commonplace-memory'
/** Of each text of an event. */
const LONGEST = 4_000
/** Objects in objects, and items of a list, that are looked at; what lies beyond is left out. */
const DEEPEST = 8
const MOST_ITEMS = 1_000

/** The beginnings and ends of what is taken out, with attributes or without; there may be many, and each is looked at once. */
const PRIVATE = /<(\/?)private(?:\s[^<>]{0,100})?>/gi
const RECALLED = /<(\/?)commonplace-memory(?:\s[^<>]{0,100})?>/gi

/** The text without what stands between such marks, also where they stand in each other; what does not end goes to the end of the text. */
function without(text: string, marks: RegExp): string {
  let left = ''
  let [depth, from] = [0, 0]
  for (const { 0: mark, 1: slash, index } of text.matchAll(marks)) {
    if (depth === 0) left += text.slice(from, index)
    depth = slash === '' ? depth + 1 : Math.max(0, depth - 1)
    from = index + mark.length
  }
  return depth === 0 ? left + text.slice(from) : left
}

const UNSTORABLE = /\u0000|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Of a patch, the lines that name its files: contents and differences of files are never kept. */
const withoutHunks = (text: string): string =>
  text.startsWith('*** Begin Patch') ? (text.match(/^\*\*\* .*$/gm) ?? []).join('\n') : text

/** A text without what is never kept. */
export function cleanText(text: string): string {
  const open = withoutHunks(without(without(text, PRIVATE), RECALLED))
  return firstCodePoints(redact(open).replace(UNSTORABLE, '\ufffd'), LONGEST)
}

/** Ends are kept too: commands say there how they ended. */
function cleanOutput(text: string): string {
  const clean = redact(without(without(text, PRIVATE), RECALLED)).replace(UNSTORABLE, '\ufffd')
  return clean.length <= LONGEST ? clean : `${firstCodePoints(clean, LONGEST / 2)}\n${clean.slice(-LONGEST / 2)}`
}

const OUTPUTS = /^(?:tool_response|tool_output|tool_result|toolResult|output|stdout|stderr|error)$/

function clean(value: unknown, name: string, depth: number): unknown {
  if (typeof value === 'string') return OUTPUTS.test(name) ? cleanOutput(value) : cleanText(value)
  if (Array.isArray(value))
    return depth === 0 ? [] : value.slice(0, MOST_ITEMS).map((item) => clean(item, name, depth - 1))
  return isFields(value) ? (depth === 0 ? {} : cleanFields(value, depth - 1)) : value
}

const cleanFields = (fields: Fields, depth: number): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, clean(value, name, depth)]))

/** An event of a client without what is never kept. */
export const cleanEvent = (event: Fields): Fields => cleanFields(event, DEEPEST)
