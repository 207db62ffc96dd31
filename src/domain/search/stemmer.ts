import { stemmer as arabic } from '@orama/stemmers/arabic'
import { stemmer as armenian } from '@orama/stemmers/armenian'
import { stemmer as danish } from '@orama/stemmers/danish'
import { stemmer as dutch } from '@orama/stemmers/dutch'
import { stemmer as finnish } from '@orama/stemmers/finnish'
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as greek } from '@orama/stemmers/greek'
import { stemmer as hungarian } from '@orama/stemmers/hungarian'
import { stemmer as hindi } from '@orama/stemmers/indian'
import { stemmer as indonesian } from '@orama/stemmers/indonesian'
import { stemmer as irish } from '@orama/stemmers/irish'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian'
import { stemmer as nepali } from '@orama/stemmers/nepali'
import { stemmer as norwegian } from '@orama/stemmers/norwegian'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as romanian } from '@orama/stemmers/romanian'
import { stemmer as russian } from '@orama/stemmers/russian'
import { stemmer as serbian } from '@orama/stemmers/serbian'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as swedish } from '@orama/stemmers/swedish'
import { stemmer as tamil } from '@orama/stemmers/tamil'
import { stemmer as turkish } from '@orama/stemmers/turkish'
import { stem as english } from 'porter2'

type Stem = (word: string) => string

/**
 * The Snowball stemmer of each language, the same on every backend. A language stands here when its stemmer agrees with
 * PostgreSQL's dictionary on at least 99 % of a word list (bench/README.md, Stemmers). Two libraries: the English of
 * @orama/stemmers is another algorithm, which agrees on 95.5 %. Basque, Catalan and Yiddish have none there, so they are
 * compared unstemmed; revisit when they do.
 */
const STEMMERS: Readonly<Record<string, Stem>> = {
  ...{ arabic, armenian, danish, dutch, english, finnish, french, german, greek, hindi, hungarian, indonesian, irish },
  ...{
    italian,
    lithuanian,
    nepali,
    norwegian,
    portuguese,
    romanian,
    russian,
    serbian,
    spanish,
    swedish,
    tamil,
    turkish,
  },
}

/** Longer words are encoded data, and what a stemmer does with them is only dear. */
const MAX_STEMMED = 64

/**
 * @param language a value of FTS_LANGUAGE
 * @returns what makes the stem of a folded word, never empty; null for a language without a stemmer
 */
export function stemmerOf(language: string): Stem | null {
  const stem = STEMMERS[language]
  return stem === undefined ? null : (word) => (word.length > MAX_STEMMED ? word : stem(word) || word)
}
