import fc from 'fast-check'
import { RE2JS } from 're2js'

/** A reference implementation of grep in simple code, and random texts and patterns to compare with. */

const pieces = fc.constantFrom(
  ...[
    'a',
    'A',
    'b',
    'B',
    'k',
    'K',
    '\u212a',
    's',
    'S',
    'ſ',
    'ß',
    'ẞ',
    'ss',
    'é',
    'É',
    'σ',
    'ς',
    'Σ',
    'İ',
    'ı',
    'i',
    'I',
  ],
  ...['🌍', '𐐀', '𐐨', '0', '7', ' ', '.', '*', '(', '\\', '\u2028', '\u0085', '\t', '日', 'ab', 'Ab', 'aab'],
)
const ends = fc.constantFrom('\n', '\r\n', '\r')

const lines = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))

/** Texts of a few lines with every kind of line end. */
export const texts = fc
  .array(fc.tuple(lines, ends), { minLength: 1, maxLength: 8 })
  .chain((ended) => fc.tuple(fc.constant(ended.flat().join('')), lines))
  .map(([body, last]) => body + last)

export const literals = fc
  .array(fc.oneof({ weight: 9, arbitrary: pieces }, { weight: 1, arbitrary: ends }), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(''))

const atoms = fc.constantFrom(
  ...[
    'a',
    'b',
    'k',
    's',
    'ß',
    'é',
    'σ',
    '🌍',
    '.',
    '\\d',
    '\\w',
    '\\s',
    '[ab]',
    '[^a]',
    '\\pL',
    '^',
    '$',
    '\\b',
    '(a|b)',
  ],
  ...['(?:ab)', '\\.', '[k-s]'],
)
export const regexes = fc
  .array(fc.tuple(atoms, fc.constantFrom('', '', '', '*', '+', '?', '{2}')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map(([atom, times]) => (/[\^$b]$/.test(atom) && atom !== 'b' ? atom : atom + times)).join(''))

export type Wanted = { readonly caseSensitive: boolean } & ({ readonly literal: string } | { readonly regex: string })

/** Each matching line: number, start and end of its first match in code points. */
export function plainScan(text: string, wanted: Wanted): [number, number, number][] {
  const all = text.split(/\r\n|\r|\n/)
  if (all.length > 1 && all.at(-1) === '') all.pop()
  const flags = wanted.caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE
  const compiled = RE2JS.compile('regex' in wanted ? wanted.regex : RE2JS.quote(wanted.literal), flags)
  return all.flatMap((line, i): [number, number, number][] => {
    const match = compiled.matcher(line)
    if (!match.find()) return []
    const before = [...line.slice(0, match.start())].length
    return [[i + 1, before, before + [...(match.group() ?? '')].length]]
  })
}
