/** Accents of Latin, Greek and Cyrillic. Marks of other scripts carry meaning and stay. */
const ACCENTS = /[\u0300-\u036f]+/g
/** й taken apart: a letter of its own, by which Slavic endings are known. */
const SHORT_I = '\u0438\u0306'
const IS_ASCII_WORD = /^[a-zA-Z0-9]+$/

/** A word without what spellings of it differ by: case, accents, width. */
export function fold(word: string): string {
  if (IS_ASCII_WORD.test(word)) return word.toLowerCase()
  return word.normalize('NFKD').toLowerCase().replaceAll(SHORT_I, 'й').replace(ACCENTS, '').normalize('NFKC')
}
