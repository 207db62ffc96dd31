import { fold } from './fold'
import { type FunctionWords, WORDS } from './function-word-lists'

const inWords = (text: string | undefined): readonly string[] => text?.trim().split(/\s+/) ?? []

const folded = new Map<string, ReadonlySet<string>>()

function read({ listed, without, with: more }: FunctionWords): ReadonlySet<string> {
  const words = new Set(listed.map(fold))
  const content = inWords(without)
  for (const word of content) words.delete(word)
  const beginnings = content.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1))
  if (beginnings.length > 0)
    for (const word of words) if (beginnings.some((beginning) => word.startsWith(beginning))) words.delete(word)
  for (const word of inWords(more)) words.add(fold(word))
  return words
}

/** Folded, as texts are; null for a language without a list. Read when they are first asked for. */
export function functionWords(language: string): ReadonlySet<string> | null {
  const words = WORDS[language]
  if (words === undefined) return null
  const made = folded.get(language) ?? read(words)
  folded.set(language, made)
  return made
}

/** Languages that a text may be guessed to be written in. Basque, Catalan and Irish have too many words of others. */
const GUESSED = Object.keys(WORDS).filter((language) => !['english', 'basque', 'catalan', 'irish'].includes(language))

/** Words whose languages are remembered. Bounded, because an isolate lives long and queries are other people's. */
const REMEMBERED = 5_000
const remembered = new Map<string, readonly string[]>()
let lacking: ReadonlyMap<string, readonly string[]> | null = null

/**
 * Languages other than English whose list has a word as it is spelled there, in the order in which they are guessed. Asked of the words of
 * every query, so that the lists are gone through as they are: to fold them takes longer than all else that a first query needs.
 */
export function languagesOf(word: string): readonly string[] {
  const known = remembered.get(word)
  if (known !== undefined) return known
  lacking ??= new Map(GUESSED.map((language) => [language, inWords(WORDS[language]?.with)]))
  const languages = GUESSED.filter(
    (language) => WORDS[language]?.listed.includes(word) || lacking?.get(language)?.includes(word),
  )
  if (remembered.size >= REMEMBERED) remembered.clear()
  remembered.set(word, languages)
  return languages
}
