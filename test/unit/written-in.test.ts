import { describe, expect, it } from 'vitest'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { functionWords } from '../../src/domain/search/function-words'
import { parseQuery, type SearchMode } from '../../src/domain/search/query'
import { stopWords, stopWordsMark } from '../../src/domain/search/stop-words'
import '../support/languages'

const unitsOf = (query: string, language = 'english', mode: SearchMode = 'match'): string =>
  parseQuery(query, mode, createAnalyzer(language))
    .units.map(({ terms }) => terms.join('+'))
    .join(' ')

describe('words that only hold a sentence together', () => {
  it.each([
    ['Wartung der Bordküche', 'wartung bordkuch'],
    ['Die Wartung der Pumpe. Wie oft?', 'wartung pump'],
    ['was haben wir zur Glasur entschieden', 'glasur entschieden'],
    ["l'entretien de la cuisine", 'entretien cuisin'],
    ["Qu'est-ce qu’on a décidé pour l’eau ?", 'decid eau'],
    ['horario de los turnos', 'horario turno'],
    ['revisión de motores', 'revis motor'],
    ['как мы решили с печью', 'решили печью'],
    ['manutenção da cozinha', 'manutencao cozinha'],
    ['hoe wordt het onderhoud van de oven gedaan', 'onderhoud oven gedaan'],
    ['manutenzione della cucina', 'manutenzion cucina'],
    ['underhåll av köket', 'underhal koket'],
    ['συντήρηση της κουζίνας', 'συντηρηση κουζινας'],
  ])('are not units of %s', (query, units) => {
    expect(unitsOf(query)).toBe(units)
  })

  it.each([
    ['the gist of a war on die casting', 'gist war die cast'],
    ['Los Angeles office', 'los angel offic'],
    ['los angeles la lakers', 'los angel la laker'],
    ['The Hague', 'hagu'],
    ['La Paz', 'la paz'],
    ['Die Hard', 'die hard'],
    ['die hard movie', 'die hard movi'],
    ['van der Waals forces', 'van der waal forc'],
    ['de facto standard', 'de facto standard'],
    ['war crimes die man also', 'war crime die man also'],
    ['mit license', 'mit licens'],
    ['DER encoding of a key, DAS and NAS', 'der encod key das nas'],
    ['do for loop over i, den', 'loop den'],
    ['NIE IST UND', 'nie ist und'],
    ['example.de/und/der', 'exampl+de+und+der'],
    ['--und /der $die user_der', 'und der die user+der'],
  ])('are words like others in English: %s', (query, units) => {
    expect(unitsOf(query)).toBe(units)
  })

  it('are searched if a query has nothing else, and never left out of phrases and other modes', () => {
    expect(unitsOf('wer ist der')).toBe('wer ist der')
    expect(unitsOf('was ist das')).toBe('ist das')
    expect(unitsOf('"die Wartung der" und die Küche')).toBe('die+wartung+der kuch')
    expect(unitsOf('die Wartung der Küche', 'english', 'phrase')).toBe('die+wartung+der+kuch')
    expect(unitsOf('die Wartung der', 'english', 'prefix')).toBe('die wartung der')
    expect(unitsOf('die AND Wartung', 'english', 'boolean')).toBe('die wartung')
  })

  it('begin a sentence in a capital, and are a name elsewhere', () => {
    expect(unitsOf('Wann ist das Treffen? Der Plan')).toBe('treffen plan')
    expect(unitsOf('wer ist Herr Der')).toBe('herr der')
  })

  it('are those of an English query where the index is written for another language, and all words count in none', () => {
    expect(unitsOf('how do we repair the kiln', 'german')).toBe('repair kiln')
    expect(unitsOf('wie wird der Ofen repariert', 'german')).toBe('ofen repariert')
    expect(unitsOf('how do we repair the kiln', 'simple')).toBe('how do we repair the kiln')
  })

  it('carry no content in any list: no numbers, no letters of programming languages, no days', () => {
    const german = stopWords('german')
    expect(['der', 'und', 'fur', 'uber', 'warum'].every((word) => german.has(word))).toBe(true)
    expect(
      ['jahr', 'zwei', 'c', 'r', 'teil', 'suche', 'heute', 'zeit', 'wissen'].filter((word) => german.has(word)),
    ).toEqual([])
    expect(['hundra', 'beslut', 'viktig'].filter((word) => stopWords('swedish').has(word))).toEqual([])
  })

  it('change what is counted in the languages that have a list, and nothing in English', () => {
    const languages = ['english', 'simple', 'nepali', 'german', 'indonesian']
    expect(languages.map(stopWordsMark)).toEqual(['', '', '', '.w1', '.w1'])
    expect(functionWords('klingon')).toBeNull()
  })
})
