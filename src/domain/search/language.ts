import { fold } from './fold'
import { functionWords, languagesOf } from './function-words'
import { stopWords } from './stop-words'

/** Words of other languages (`function-word-lists.ts`) that are English, or of those who write software, too: they tell of no language. */
export const ALSO_ENGLISH = new Set(
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
/** Words of three letters that say as little as those of two, for their being names, terms and abbreviations as well. */
export const ALSO_NAMES = new Set('con das del den des det las los mit por pour som van von'.split(' '))

/** Names and sayings that English texts have whole. */
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

/** Words of a language from which on a query counts as written in it: `die` and `man` are English too. */
const ENOUGH = 2
const LATIN = /^[a-z]+$/

/** What may stand around a word of a sentence; around a code stand other signs too. */
const BEFORE = '("\'«„“‚‘¿¡['
const AFTER = ')"\'»“”’‘],.;:!?…'
/** A word, or several that an apostrophe or a hyphen joins. */
const IS_WORD = /^\p{L}[\p{L}\p{M}'’-]*$/u
const ENDS_SENTENCE = /[.:!?…]/
/** No word that holds a sentence together is as long. */
const LONGEST = 40
const APOSTROPHE = /['’]/
const JOINED = /['’-]/
const SPACES = /\s+/
const ACCENTED = /[\u00c0-\u024f]/
/** Words of a query by which its language is guessed. */
const GUESSED_BY = 200

const isCapital = (written: string): boolean => written.charAt(0) !== written.charAt(0).toLowerCase()

/** A token of a query without the signs of a sentence: empty where it is no word of one. */
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

/** How much words of a query, as they are spelled, tell for a language that has these. */
function pointsFor(list: ReadonlySet<string>, spelled: readonly string[]): number {
  let sum = 0
  for (const one of spelled) if (list.has(fold(one))) sum += tellsLittle(one) ? 1 : 2
  return sum
}

let english: ReadonlySet<string> | null = null
/** Of the index's list and the published one, which has words that say a little. */
function englishWords(): ReadonlySet<string> {
  english ??= new Set([...stopWords('english'), ...(functionWords('english') ?? [])])
  return english
}

/** The words that hold sentences together in the language of a query; null where that is the index's own, or none is told. */
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

/** Whether a word at a place among the tokens of a query, as it is written, holds a sentence of another language together. */
export type OfAnother = (place: number, written: string) => boolean
export const NO_OTHER: OfAnother = () => false

/**
 * The words of a query that hold its sentence together in another language than the index is written for. A language is guessed by the
 * words of its list that stand in the query in small letters, are part of no name and no English word: it needs one of three letters, two
 * shorter ones, or one beside a word with an accent, and more of them than English and the index's own language have. Then all words
 * of that list are meant, those that are English words too; not those in capitals, unless they begin a sentence.
 *
 * @param tokens what stands between spaces
 * @param language a value of FTS_LANGUAGE; `simple` knows none, and takes every word as it is
 */
export function wordsOfAnother(tokens: readonly string[], language: string): OfAnother {
  if (language === 'simple') return NO_OTHER
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
  if (list === null) return NO_OTHER
  return (place, written) => {
    if (words[place] === '' || !list.has(fold(written))) return false
    return !isCapital(written) || place === 0 || parts[place - 1]?.endsSentence === true
  }
}

/** The words of a text, folded, that hold its sentences together in another language than the index is written for. */
export function emptyWordsOf(text: string, language: string): ReadonlySet<string> {
  const tokens = text.split(SPACES)
  const isOfAnother = wordsOfAnother(tokens, language)
  if (isOfAnother === NO_OTHER) return new Set()
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

/** Whether a text is in another language than English: by its letters, or by the words that hold its sentences together. */
export function isOtherThanEnglish(text: string): boolean {
  if (countOf(text, NOT_LATIN) * 2 > countOf(text, LETTERS)) return true
  return wordsOfAnother(text.split(WHITESPACE), 'english') !== NO_OTHER
}
