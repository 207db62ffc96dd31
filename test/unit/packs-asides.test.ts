import { expect, it } from 'vitest'
import type { HookEvent } from '../../src/domain/capture/request'
import { withoutAsides } from '../../src/domain/pack/asides'
import { plainTerms } from '../../src/domain/pack/plain-words'
import { withoutTicket } from '../../src/domain/pack/ticket'
import { wordEvidence } from '../../src/domain/pack/word-evidence'
import { goalWords } from '../../src/domain/pack/words'
import { createAnalyzer } from '../../src/domain/search/analysis'
import { counting } from '../../src/domain/search/counting'
import type { CaptureStore } from '../../src/ports/capture'
import { createRecallForHooks } from '../../src/services/capture/recall-for-hooks'
import type { Recall } from '../../src/services/searching/memories/recall'

const analyzer = createAnalyzer('english')

it.each([
  'Rotate the signing keys. Think step by step, check the code and write tests.',
  'Rotate the signing keys. Return only the relevant items. Please be thorough!',
  "Rotate the signing keys. Use the existing patterns and don't break anything.",
  'Hi team, hope you are well! Rotate the signing keys. Let me know if you need more. Thank you!',
  'Rotate the signing keys.\nMake sure to update the docs.',
  'Rotate the signing keys. Bitte denke Schritt für Schritt und schreibe Tests. Danke!',
  'Rotate the signing keys. Réfléchis étape par étape et écris des tests. Merci !',
  'Rotate the signing keys. Piensa paso a paso y escribe pruebas. ¡Gracias!',
  'Rotate the signing keys. Rotate the signing keys.',
])('searches "%s" for what it is about', (goal) => {
  expect(withoutAsides(goal, analyzer)).toBe('Rotate the signing keys.')
})

it.each([
  'Write tests for the tide table',
  'Write tests for the tide table. Update the docs of the lighthouse.',
  'The tide table is late. What is next?',
  'The tide table is late. Which conventions do we have?',
  'Write tests. Update the docs.',
  'think step by step',
])('leaves "%s" as it is', (goal) => {
  expect(withoutAsides(goal, analyzer)).toBe(goal)
})

it.each([
  ['LAMP-1423: oil the lamp', 'oil the lamp'],
  ['[OPS-77] oil the lamp', 'oil the lamp'],
  ['Fix #1423: oil the lamp', 'oil the lamp'],
  ['#1423 oil the lamp', 'oil the lamp'],
  ['https://example.org/harbour/issues/1423 oil the lamp', 'oil the lamp'],
  ['LAMP-1423', 'LAMP-1423'],
  ['oil the lamp of LAMP-1423', 'oil the lamp of LAMP-1423'],
])('asks for the meaning of "%s" as of "%s"', (goal, rest) => {
  expect(withoutTicket(goal, analyzer)).toBe(rest)
})

it('counts the words of a key only where every one of them stands in some entry, or nothing else is asked for', () => {
  const weightsOf = (goal: string, held: Record<string, number>) => {
    const tokens = [...analyzer.tokens(goal)]
    const terms = [...new Set(tokens.map(({ term }) => term))].map((term) => ({ term, by: 'stem' as const }))
    const statistics = { entries: 90, averageLength: 9, entriesWithTerm: terms.map(({ term }) => held[term] ?? 0) }
    const { weights, familiar } = goalWords(terms, { statistics, inScope: 90 }, tokens, plainTerms(goal, analyzer))
    return { counts: terms.filter((_, i) => (weights[i] ?? 0) > 0).map(({ term }) => term), familiar }
  }
  expect(weightsOf('ABC-1423 oil', { oil: 4, abc: 2 })).toEqual({ counts: ['oil'], familiar: 1 })
  expect(weightsOf('ABC-1423 oil', { oil: 4, abc: 2, '1423': 1 }).counts).toEqual(['abc', '1423', 'oil'])
  expect(weightsOf('ABC-1423', { abc: 2 }).counts).toEqual(['abc', '1423'])
  expect(weightsOf('oil src/quay/main.ts', { oil: 4, src: 9 }).counts).toEqual(['oil'])
})

it('weighs a text by the sentence of a goal that it has to do with, and less where that says little of the goal', () => {
  const shareOf = (goal: string, text: string, apart = true) => {
    const tokens = [...analyzer.tokens(goal)]
    const terms = [...new Set(tokens.map(({ term }) => term))].map((term) => ({ term, by: 'stem' as const }))
    const statistics = { entries: 90, averageLength: 9, entriesWithTerm: terms.map(() => 2) }
    const plain = plainTerms(goal, analyzer)
    const words = goalWords(terms, { statistics, inScope: 90 }, tokens, apart ? plain : { ...plain, sentences: [] })
    const { counts } = counting(analyzer, terms)(text)
    return wordEvidence(words, counting(analyzer, terms)('').counts, counts, 9).share
  }
  const [oil, paint] = ['Oil the lamp of the lighthouse.', 'Paint the hull of the ferry green.']
  const alone = shareOf(oil, 'lamp oil')
  for (const both of [`${oil} ${paint}`, `${paint}\n${oil}`]) {
    expect(shareOf(both, 'lamp oil', false)).toBeLessThan(0.5 * alone)
    expect(shareOf(both, 'lamp oil')).toBeGreaterThan(0.8 * alone)
  }
  const sentences = (goal: string, domain: string | null) => plainTerms(goal, analyzer, domain).sentences.length
  expect([
    sentences(`${oil} harbour`, null),
    sentences(`${oil} harbour`, 'harbour'),
    sentences(`${oil} ${paint} harbour`, 'harbour'),
  ]).toEqual([2, 0, 2])
  const long = 'Paint the hull, funnel, railing, gangway, bridge, anchor and propeller of the ferry green.'
  expect(shareOf(`Oil lamps. ${long}`, 'lamp oil')).toBeLessThan(0.8 * shareOf('Oil lamps.', 'lamp oil'))
})

it('takes out of a prompt for which hooks recall what only says how to go about it', async () => {
  const asked: string[] = []
  const recall = {
    page: (_: unknown, { query }: { query: string }) => {
      asked.push(query)
      return Promise.resolve({ results: [] })
    },
  } as unknown as Pick<Recall, 'page'>
  const { atPrompt } = createRecallForHooks({ store: {} as CaptureStore, recall, analyzer })
  const event = { place: { project: 'lantern' } } as HookEvent
  await atPrompt(
    { org: 'pots', projects: null, owner: null },
    'Hello! Rotate the keys.\n\nThink step by step.',
    event,
    null,
  )
  expect(asked).toEqual(['Rotate the keys.'])
})
