/** Where a text stops being JSON. */
export interface JsonFlaw {
  /** From 1. */
  readonly line: number
  /** The text that JSON has there. */
  readonly expected: string
}

const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const PLAIN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y
const SPACE = /[ \t\r\n]*/y

type Wanted = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end'

const WORDS: Readonly<Record<Wanted, string>> = {
  value: 'a value: a text in double quotes, a number, true, false, null, [ or {',
  'value or ]': 'a value, or ]',
  name: 'a name in double quotes',
  'name or }': 'a name in double quotes, or }',
  colon: 'a colon after the name',
  'comma or end': 'a comma, or the closing bracket',
}

/**
 * Finds the first error of a JSON text; null for valid JSON.
 *
 * @example
 * jsonFlaw('{\n  "kind": note\n}') // { line: 2, expected: 'a value: a text in double quotes, …' }
 */
export function jsonFlaw(text: string): JsonFlaw | null {
  const open: string[] = []
  let wanted: Wanted = 'value'
  let at = 0
  const reads = (form: RegExp): boolean => {
    form.lastIndex = at
    if (!form.test(text)) return false
    at = form.lastIndex
    return true
  }
  const flaw = (expected: string): JsonFlaw => ({ line: text.slice(0, at).split('\n').length, expected })
  for (;;) {
    reads(SPACE)
    const sign = text[at]
    if (wanted === 'comma or end' && open.length === 0) return sign === undefined ? null : flaw('the end of the JSON')
    const closes = sign !== undefined && sign === open.at(-1)
    if (closes && (wanted === 'comma or end' || wanted === 'value or ]' || wanted === 'name or }')) {
      open.pop()
      at++
      wanted = 'comma or end'
    } else if (wanted === 'comma or end') {
      if (sign !== ',') return flaw(WORDS[wanted])
      at++
      wanted = open.at(-1) === '}' ? 'name' : 'value'
    } else if (wanted === 'colon') {
      if (sign !== ':') return flaw(WORDS[wanted])
      at++
      wanted = 'value'
    } else if (wanted === 'name' || wanted === 'name or }') {
      if (!reads(STRING)) return flaw(WORDS[wanted])
      wanted = 'colon'
    } else if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? '}' : ']')
      at++
      wanted = sign === '{' ? 'name or }' : 'value or ]'
    } else if (reads(STRING) || reads(PLAIN)) wanted = 'comma or end'
    else return flaw(WORDS[wanted])
  }
}
