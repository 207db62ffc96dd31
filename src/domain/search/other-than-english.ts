import { NO_OTHER, wordsOfAnother } from './written-in'

const LETTERS = /\p{L}/gu
const NOT_LATIN = /[^\P{L}\p{Script=Latin}]/gu
const SPACES = /\s+/

const countOf = (text: string, letters: RegExp): number => text.match(letters)?.length ?? 0

/** Whether a text is in another language than English: by its letters, or by the words that hold its sentences together. */
export function isOtherThanEnglish(text: string): boolean {
  if (countOf(text, NOT_LATIN) * 2 > countOf(text, LETTERS)) return true
  return wordsOfAnother(text.split(SPACES), 'english') !== NO_OTHER
}
