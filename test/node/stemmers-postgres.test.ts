// Compares each stemmer with the dictionary of the same language in PostgreSQL. The languages in domain/search/stemmer.ts
// were chosen on complete word lists (bench/README.md); this notices when a library or a server comes to stem otherwise.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FTS_LANGUAGES } from '../../src/config'
import { createAnalyzer, stemmerOf } from '../../src/domain/search/analysis'
import { postgresUrl } from '../support/postgres'
import { seeded } from '../support/seeded'
import '../support/languages'

const WORDS = 600
/** Letters to make roots of, and endings that words of the language really have; folded, as the stemmer gets them. */
const LANGUAGES: Record<string, readonly [letters: string, endings: string]> = {
  arabic: ['ابتثجحخدرسشصضطعغفقكلمنهوي', 'ون ين ات ة ها كما نا وا تم ان ه ي'],
  armenian: ['աբգդեզթիլկհմնոպռստրց', 'ներ ների ություն ում ելու ված ական ին ով'],
  danish: ['abdefghiklmnoprstuv', 'erne ende eren heden else ig isk s t er ens erede'],
  dutch: ['abdefghijklmnoprstuvw', 'en heden lijk ing s baar ene end ig isch tjes'],
  english: ['abcdefghijklmnoprstuvwy', 'ing ed s ies ness fully ational ization ement ly y eedly ously ied er ability'],
  finnish: ['aehijklmnoprstuvy', 'ssa sta lla ista jen kin kaan nsa mme iin itse na t'],
  french: ['abcdefgijlmnoprstuv', 'ation ements eraient issions euse ences ive ables ait er ee ment aux eux'],
  german: ['abdefghiklmnoprstuwz', 'en ern ung heit keiten lich isch end ig es st er ungen'],
  greek: ['αβγδεζηθικλμνξοπρστυφχψω', 'ος ους οι ων ματα ικος ηση ουσα ησει ακια ουν αμε'],
  hindi: ['कखगचजटडतदनपबमरलवसह', 'ों ियों ें ी ा ाएं ता ते ना ने कर'],
  hungarian: ['abcdefghijklmnoprstuvz', 'ban ben nak nek ok ek aim eim kal ert unk tok ok it'],
  indonesian: ['abdeghijklmnoprstuwy', 'kan an i nya ku lah kah pun'],
  irish: ['abcdefghilmnoprstu', 'acht aithe eanna oiri adh ire ach amh'],
  italian: ['abcdefgilmnoprstuvz', 'zione mente ando eranno ivamente ita osi abile ano ato ere'],
  lithuanian: ['abdegijklmnoprstuvz', 'iuose oms ais uje ieji esnis damas imas iau os'],
  nepali: ['कखगचजटडतदनपबमरलवसह', 'हरू लाई बाट को मा ले छन् एको'],
  norwegian: ['abdefghijklmnoprstuv', 'ene hetene ende elig ers erte s et es lov'],
  portuguese: ['abcdefghijlmnoprstuvz', 'mente ancia idades avam issemos oes eza ivas ado ir'],
  romanian: ['abcdefghijlmnoprstuvz', 'ului elor atiune abila este eaza iilor uri ati'],
  russian: ['абвгдежзийклмнопрстуф', 'ями ого ость ейшая ывать ешь ать ении ых ую ившись'],
  serbian: ['abcdefghijklmnoprstuvz', 'ama ovi nost ijama ovanje ima og skog ujemo'],
  spanish: ['abcdefghijlmnoprstuvz', 'amiento aciones mente abamos ieron idades anza oso ar eria'],
  swedish: ['abdefghijklmnoprstuv', 'arnas heterna ande ligt ast ens orna s et fullt'],
  tamil: ['கசடதபறனணநமயரலவ', 'கள் ில் ை ுக்கு ான் ாக ும்'],
  turkish: ['abcdefghijklmnoprstuvyz', 'lar lerden imiz da in ki dir casina ler e'],
}

let client: Client
beforeAll(async () => {
  client = new Client({ connectionString: postgresUrl() })
  await client.connect()
})
afterAll(() => client.end())

function wordsOf(letters: readonly string[], endings: readonly string[]): string[] {
  const random = seeded(20261122)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const root = () => Array.from({ length: 2 + Math.floor(random() * 7) }, () => pick(letters)).join('')
  return Array.from({ length: WORDS }, () => `${root()}${pick(endings)}`)
}

it.each(Object.entries(LANGUAGES))('stems %s as PostgreSQL does', async (language, [letters, endings]) => {
  const stem = stemmerOf(language) as (word: string) => string
  const words = wordsOf([...letters], endings.split(' '))
  const { rows } = await client.query<{ word: string; stem: string | null }>(
    'SELECT word, (ts_lexize($1::regdictionary, word))[1] AS stem FROM unnest($2::text[]) AS given (word)',
    [`pg_catalog.${language}_stem`, words],
  )
  // A stop word has no stem there.
  const stemmed = rows.filter((row) => row.stem !== null)
  const otherwise = stemmed.filter((row) => stem(row.word) !== row.stem).map((row) => [row, stem(row.word)])
  expect(stemmed.length).toBeGreaterThan(WORDS * 0.9)
  expect([otherwise.slice(0, 5), otherwise.length <= stemmed.length * 0.01]).toEqual([expect.anything(), true])
})

it('compares every language that is stemmed, and stems no other', () => {
  const stemmed = FTS_LANGUAGES.filter((language) => createAnalyzer(language).stemming)
  expect(stemmed).toEqual(Object.keys(LANGUAGES))
})

it('makes a stem of any word in a moment, and never an empty one', () => {
  for (const [language, [, endings]] of Object.entries(LANGUAGES)) {
    const analyzer = createAnalyzer(language)
    for (const ending of endings.split(' '))
      for (const word of [ending, ending.repeat(60), 'a', 'ing'])
        for (const { term } of analyzer.tokenize(word))
          expect([language, word, term.length > 0]).toEqual([language, word, true])
  }
})
