import { fold } from './fold'
import { functionWords, languagesOf } from './function-words'
import { stopWords } from './stop-words'

/**
 * Words of other languages (`function-word-lists.ts`) that are also English or technical terms. They are ignored for
 * detecting a language.
 */
const ALSO_ENGLISH = new Set(
  `a ab ad ale alea all allen also alt am ami an and ani any are as at ate aura aux az bad bald ban bar bare be ben beside bile bin bio
  biz both but by ca can care case cat ci co col com come comment cos data date deg did die dies dig dim din dir do dock dog dom dont
  door dos dove e ed ego ele elem em end era et etc even every face far fare fi fii fin fine fire foil for fore fosse fur fut gab gar
  gross had ham has hast hat have he hem her here hit hoe how hun i ide if ill im in ind ins io is it jak jen jest just kim kin kit lad
  lag lang lat lav les let li lie line lo m mag man mas me med meg men mere mes met mi min mind mine mod mon more most mot mu multi my n
  nad nan nas nasa ned net nine nn no noll non nor nos not note num o of ok on one op or ota our out over own pan par pas peer per pet pic
  pod pot prim prin pro proc proto rad ram rank re s sade sale sam same sea see sen sent ser set si side sig sin sine sit size so sob solo
  son store sub sur t tag tale tam tan tar tat tau tel ten tes that the these this those tie tied til till tills tin tine to todo tom ton
  too top tot trough tun tune u uber ud under up ut v val var vars vas vase vec vi vice vid vil volt want war ware wart was we wel who why
  wie will x y ya ye yes you`.split(/\s+/),
)
/**
 * Words of three letters that count as little as those of two, because they are also names, terms and abbreviations.
 */
const ALSO_NAMES = new Set('con das del den des det las los mit por pour som van von'.split(' '))

/** Names and expressions that occur in English texts. */
export const NAMES = new Set([
  ...['los angeles', 'los alamos', 'los gatos', 'los cabos', 'las vegas', 'la paz', 'la jolla', 'la liga', 'la land'],
  ...[
    'el paso',
    'el salvador',
    'el nino',
    'el capitan',
    'le mans',
    'le havre',
    'le monde',
    'den haag',
    'des moines',
    'del rey',
  ],
  ...['die hard', 'das boot', 'der spiegel', 'van gogh', 'van der', 'van dyke', 'van halen', 'de morgan', 'de bruijn'],
  ...['de facto', 'de jure', 'de novo', 'et al', 'per se'],
])

/** Minimum points for a language, because single words such as `die` and `man` are English too. */
const ENOUGH = 2
const LATIN = /^[a-z]+$/

/** Characters around a word of a sentence; around code there are others too. */
const BEFORE = '("\'«„“‚‘¿¡['
const AFTER = ')"\'»“”’‘],.;:!?…'
/** A word, or several joined by apostrophes or hyphens. */
const IS_WORD = /^\p{L}[\p{L}\p{M}'’-]*$/u
const ENDS_SENTENCE = /[.:!?…]/
/** Maximum length of a function word. */
const LONGEST = 40
const APOSTROPHE = /['’]/
const JOINED = /['’-]/
const SPACES = /\s+/
const ACCENTED = /[\u00c0-\u024f]/
/** Maximum number of words by which the language of a query is detected. */
const GUESSED_BY = 200

const isCapital = (written: string): boolean => written.charAt(0) !== written.charAt(0).toLowerCase()

/** A token of a query without punctuation; empty where it is not a word. */
interface Part {
  readonly word: string
  readonly endsSentence: boolean
}

function partOf(token: string): Part {
  let [start, end] = [0, token.length]
  while (start < end && BEFORE.includes(token.charAt(start))) start++
  while (end > start && AFTER.includes(token.charAt(end - 1))) end--
  const word = token.slice(start, end)
  const isWord = word.length <= LONGEST && IS_WORD.test(word)
  return { word: isWord ? word : '', endsSentence: ENDS_SENTENCE.test(token.slice(end)) }
}

function placesOfNames(parts: readonly Part[]): ReadonlySet<number> {
  const bare = parts.map(({ word }) => fold(word))
  return new Set(bare.flatMap((word, i) => (NAMES.has(`${word} ${bare[i + 1]}`) ? [i, i + 1] : [])))
}

const tellsLittle = (spelled: string): boolean => (LATIN.test(spelled) && spelled.length < 3) || ALSO_NAMES.has(spelled)

/** Points of a language for the words of a query. */
function pointsFor(list: ReadonlySet<string>, spelled: readonly string[]): number {
  let sum = 0
  for (const one of spelled) if (list.has(fold(one))) sum += tellsLittle(one) ? 1 : 2
  return sum
}

let english: ReadonlySet<string> | null = null
/** English function words, from the index's list and the published one, which also has less common words. */
function englishWords(): ReadonlySet<string> {
  english ??= new Set([...stopWords('english'), ...(functionWords('english') ?? [])])
  return english
}

/** The function words of a query's language; null where that is the index's own language, or none is detected. */
function listOf(spelled: readonly string[], isAccented: boolean, language: string): ReadonlySet<string> | null {
  const own = language === 'english' ? englishWords() : stopWords(language)
  const ofEnglish = pointsFor(englishWords(), spelled)
  const telling = spelled.filter((one) => !ALSO_ENGLISH.has(one))
  let best: ReadonlySet<string> | null = null
  let most = Math.max(ENOUGH - 1, pointsFor(own, spelled))
  if (language !== 'english' && ofEnglish > most) [best, most] = [englishWords(), ofEnglish]
  else most = Math.max(most, ofEnglish)
  const beyondEnglish = telling.filter((one) => !englishWords().has(fold(one)))
  for (const other of new Set(beyondEnglish.flatMap(languagesOf))) {
    const list = functionWords(other) as ReadonlySet<string>
    const points = pointsFor(list, telling)
    const all = points > 0 && isAccented ? points + 1 : points
    if (other !== language && all > most) [best, most] = [list, all]
  }
  return best
}

/** Whether a word at a token index, as written, is a function word of another language. */
export type FunctionWordTest = (place: number, written: string) => boolean
export const NO_FUNCTION_WORDS: FunctionWordTest = () => false

/**
 * Detects the function words of a query in another language than the index. A language is detected by its function
 * words in lower case that are neither part of a name nor English: one with at least three letters, two shorter ones,
 * or one next to a word with an accent, and more than English and the index's own language have. Then all words of its
 * list count, including those that are also English, but not capitalized ones inside a sentence.
 * @param tokens the query, split at spaces
 * @param language a value of FTS_LANGUAGE; `simple` detects no language
 */
export function functionWordTest(tokens: readonly string[], language: string): FunctionWordTest {
  if (language === 'simple') return NO_FUNCTION_WORDS
  const parts = tokens.map(partOf)
  const inName = placesOfNames(parts)
  const words = parts.map(({ word }, place) => (inName.has(place) ? '' : word))
  const told = words.slice(0, GUESSED_BY)
  const spelled = new Set(told.flatMap((word) => word.split(APOSTROPHE)).filter((one) => one !== '' && !isCapital(one)))
  const list = listOf(
    [...spelled],
    told.some((word) => ACCENTED.test(word)),
    language,
  )
  if (list === null) return NO_FUNCTION_WORDS
  return (place, written) => {
    if (words[place] === '' || !list.has(fold(written))) return false
    return !isCapital(written) || place === 0 || parts[place - 1]?.endsSentence === true
  }
}

/** The folded function words of a text in another language than the index. */
export function foreignFunctionWords(text: string, language: string): ReadonlySet<string> {
  const tokens = text.split(SPACES)
  const isOfAnother = functionWordTest(tokens, language)
  if (isOfAnother === NO_FUNCTION_WORDS) return new Set()
  return new Set(
    tokens.flatMap((token, place) =>
      partOf(token)
        .word.split(JOINED)
        .filter((written) => isOfAnother(place, written))
        .map(fold),
    ),
  )
}

const LETTERS = /\p{L}/gu
const NOT_LATIN = /[^\P{L}\p{Script=Latin}]/gu
const WHITESPACE = /\s+/

const countOf = (text: string, letters: RegExp): number => text.match(letters)?.length ?? 0

/** Whether a text is not English, by its letters or its function words. */
export function isOtherThanEnglish(text: string): boolean {
  if (countOf(text, NOT_LATIN) * 2 > countOf(text, LETTERS)) return true
  return functionWordTest(text.split(WHITESPACE), 'english') !== NO_FUNCTION_WORDS
}
