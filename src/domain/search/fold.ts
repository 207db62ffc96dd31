/** Accents of Latin, Greek and Cyrillic. Marks of other scripts have a meaning and remain. */
const ACCENTS = /[\u0300-\u036f]+/g
/** Decomposed й, a letter of its own, which Slavic stemmers depend on. */
const SHORT_I = '\u0438\u0306'
const IS_ASCII_WORD = /^[a-zA-Z0-9]+$/

/** Invisible characters inside words: soft hyphens, zero-width spaces and word joiners. */
export const INVISIBLE = '\\u00ad\\u200b\\u2060\\ufeff'
/** Marks that Arabic and Hebrew usually omit: vowel marks, tatweel, points. */
const ARABIC = '\\u0610-\\u061a\\u0640\\u064b-\\u0652\\u0656-\\u065f\\u0670\\u06d6-\\u06dc'
const HEBREW = '\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7'
const LEFT_OUT = new RegExp(`[${INVISIBLE}${ARABIC}${HEBREW}]+`, 'g')
/** Letters with a stroke, which normalization does not decompose. */
const STROKES: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', đ: 'd' }

/** Folds a word: without case, accents, strokes, width and optional marks. */
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
