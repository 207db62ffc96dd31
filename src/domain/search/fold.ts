/** Accents of Latin, Greek and Cyrillic. Marks of other scripts carry meaning and stay. */
const ACCENTS = /[\u0300-\u036f]+/g
/** й taken apart: a letter of its own, by which Slavic endings are known. */
const SHORT_I = '\u0438\u0306'
const IS_ASCII_WORD = /^[a-zA-Z0-9]+$/

/** Characters that may stand within a word and belong to no spelling: soft hyphens, zero-width spaces and joiners of words. */
export const INVISIBLE = '\\u00ad\\u200b\\u2060\\ufeff'
/** The same, and what Arabic and Hebrew leave out as a rule: vowel marks, tatweel, points. */
const ARABIC = '\\u0610-\\u061a\\u0640\\u064b-\\u0652\\u0656-\\u065f\\u0670\\u06d6-\\u06dc'
const HEBREW = '\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7'
const LEFT_OUT = new RegExp(`[${INVISIBLE}${ARABIC}${HEBREW}]+`, 'g')
/** Letters with a stroke, which normalization leaves whole. */
const STROKES: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', đ: 'd' }

/** A word without what spellings of it differ by: case, accents, strokes, width, marks that are left out as a rule. */
export function fold(word: string): string {
  if (IS_ASCII_WORD.test(word)) return word.toLowerCase()
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(SHORT_I, 'й')
    .replace(ACCENTS, '')
    .replace(LEFT_OUT, '')
    .replace(/[łøđ]/g, (letter) => STROKES[letter] as string)
    .normalize('NFKC')
}
