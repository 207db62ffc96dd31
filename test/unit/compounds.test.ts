import { describe, expect, it } from 'vitest'
import { atOnce } from '../../src/domain/scheduler'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { compoundExpression, createPartCounter, hasCompounds } from '../../src/domain/search/compounds'
import { indexText } from '../../src/domain/search/indexed-text'
import { parseQuery } from '../../src/domain/search/query'
import { scoredTerms } from '../../src/domain/search/score'

const analyzer = createAnalyzer('english')
const termsOf = (query: string) => scoredTerms(parseQuery(query, 'match', analyzer).units)

describe('compound words', () => {
  it('distinguishes languages with compound words from others by letters and function words', () => {
    for (const text of [
      'In der Küche',
      'Das Boot liegt nicht vor dem Hafen, sondern auch danach.',
      'De kapitein beslist ook bij storm over het vertrek.',
      'Vi har inte någon reservation',
    ])
      expect([text, hasCompounds(text)]).toEqual([text, true])
    for (const text of [
      'The dock is not where the ferry was when the storm began.',
      'Le capitaine décide des départs, et les passagers sont avec lui dans la salle.',
      'El capitán decide cuando hay tormenta y también con los pasajeros.',
      'O capitão decide quando há tempestade, mas também com os passageiros.',
      'const set = new Map(); for (const item of list) set.add(item)',
    ])
      expect([text, hasCompounds(text)]).toEqual([text, false])
  })

  it('adds nothing to the index of a text in another language', () => {
    const indexed = atOnce(indexText(analyzer, { text: 'The firewall and the framework restart', metadata: null }))
    expect(indexed.ends).toBe('')
  })

  it('asks for each word of a query, of however many parts the others are', () => {
    const asked = JSON.stringify(compoundExpression(termsOf('Versicherungsbeitrag Krankenversicherung Rechnung Küche')))
    for (const word of ['versicherungsbeitrag', 'krankenversicherung', 'rechnung', 'kuche'])
      expect([word, asked.includes(`"${word.slice(0, 4)}`)]).toEqual([word, true])
  })

  it('asks for no compounds of long queries, of code and of short words', () => {
    expect(compoundExpression(termsOf('eins zwei drei vier fünf sechs sieben acht'))).toBeNull()
    expect(compoundExpression(termsOf('v12 ab 2024 日本語'))).toBeNull()
    expect(compoundExpression(termsOf('Küche'))).not.toBeNull()
  })

  it('counts compounds with a word, parts of a compound, and other forms of it', () => {
    const count = (query: string, text: string) => createPartCounter(analyzer, termsOf(query))(text)
    expect(count('Küche', 'Bordküche und Großküchen')).toEqual([2])
    expect(count('Bordküche', 'eine Küche an Bord, die Bordküchen')).toEqual([3])
    expect(count('Daten', 'die Stammdaten des Datensatzes')).toEqual([1])
    expect(count('Unterlagen', 'unter der Lage')).toEqual([0])
  })
})
