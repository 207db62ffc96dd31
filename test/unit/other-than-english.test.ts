import { expect, it } from 'vitest'
import { isOtherThanEnglish } from '../../src/domain/search/language'
import { createSuggestModel } from '../../src/services/suggest-model'
import { freshPrincipal } from '../support/scope'

/** Entries that an English-only model does not find semantically, and when another model is suggested. */
const ENGLISH = ['The deploy waits for the migration.', 'const die = roll(6)', 'RFC 9110, §15', '42', '']
const OTHERS = [
  'Die Freigabe wartet auf die Migration und wird nicht abgebrochen.',
  'Le déploiement attend que la migration soit terminée.',
  'デプロイはマイグレーションの完了を待つ。',
  'Развёртывание ждёт миграцию.',
]

it('distinguishes entries in English from those in other languages and letters', () => {
  expect(ENGLISH.filter(isOtherThanEnglish)).toEqual([])
  expect(OTHERS.filter((text) => !isOtherThanEnglish(text))).toEqual([])
})

it('suggests the multilingual model from a fifth of the newest entries on, where the model in use knows English alone', async () => {
  const scope = freshPrincipal()
  const suggest = (others: number, isEnglishOnly = true) => {
    const texts = Array.from({ length: 10 }, (_, i) => (i < others ? OTHERS[0] : ENGLISH[0]) as string)
    const overview = { prefixes: async () => texts }
    return createSuggestModel({ isEnglishOnly, overview })(scope)
  }
  expect(await suggest(1)).toBeNull()
  expect(await suggest(2)).toMatch(
    /^20 % of the newest 10 entries are not in English.*EMBEDDING_MODEL=multilingual-e5-small/,
  )
  expect(await suggest(10, false)).toBeNull()
})
